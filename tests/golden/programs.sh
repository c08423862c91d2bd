# Programs as solvers: cmd:PROGRAM reads the problem from its standard input and writes id,offset.
cd "$scratch" || exit 1
program() { printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"; }
printf 'id,lower,upper,size\na,0,3,4\nb,2,6,4\nc,4,9,4\nd,6,9,4\n' >list.12.csv
bench() {
    "$LXPLAN" bench list.12.csv -s "$1" --time "$2" -o rows --force -q --protocol "$3" >/dev/null 2>&1
    grep -o '"solver": "[^"]*".*' rows | sed 's/"config".*"outcome": /"outcome": /; s/, "status".*"value": /, "value": /; s/, "bound".*"message"/, "message"/'
}
# Each buffer above the one before, as far as there is room; the last column says how a stack of all would end.
program stack 'awk -F, -v most="$LXPLAN_CAPACITY" "NR > 1 && at + \$4 <= most { print \$1 \",\" at + 0; at += \$4 }"'
program json 'sed -n "s/.*\"name\": \"\([0-9]*\)\".*/\1,0/p" | head -n 1'
bench cmd:./stack,firstfit 20 csv
bench cmd:./json,cmd:./none 20 json
# Those that hang, write without end, write something else, crash, fail, and put two buffers on the same bytes.
program hang 'sleep 60'
program flood 'yes 0,0'
program garbage 'echo id,offset; echo 0,zero'
program crash 'kill -SEGV $$'
program fail 'echo 0,0; exit 3'
program both 'echo 0,0; echo 1,2'
bench cmd:./hang 0.3 csv
bench cmd:./flood,cmd:./garbage,cmd:./crash,cmd:./fail,cmd:./both 20 csv
"$LXPLAN" plan list.12.csv -s "cmd:./stack" --objective spill | grep -v '^work'; echo "exit $?"
"$LXPLAN" plan list.12.csv -s cmd:./garbage; echo "exit $?"
# One that closes its output and goes on, one that leaves another running: both end with the time.
program quiet 'exec >&-; exec sleep 61'
program parent 'sleep 62; echo 0,0'
for name in quiet parent; do
    "$LXPLAN" plan list.12.csv -s cmd:./$name --time 0.3 >/dev/null 2>&1
    ps -e -o args | grep '[s]leep 6[12]'
done
echo '== words with commas stand in quotes'
program first 'echo "${1%,*},${1#*,}"'
bench "cmd:./first '0,4',firstfit" 20 csv
