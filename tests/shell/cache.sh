#!/bin/bash
# cache.sh LXPLAN PATTERNS CASE: plans that --cache keeps, against writers that are killed, several at once, damage and
# folders that nobody may write.
lxplan=$1 patterns=$2 case=$3
folder=$(mktemp -d /tmp/lxplan_cache_XXXXXX) || exit 1
trap 'cd /; chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
graph=$patterns/graphs/gq_attention.json

failed() { echo "FAILED: $*"; cat ./*.out ./*.err 2>/dev/null; exit 1; }

says() { grep -q -e "$2" "$1" || failed "$1 does not say: $2"; }

# plan NAME [options]: into NAME.json, with its words in NAME.err; nothing is said where all is well.
plan() {
    local name=$1
    shift
    "$lxplan" plan "$graph" "$@" -o "$name.json" >"$name.out" 2>"$name.err" || failed "plan $name ends with $?"
}

is_good() { cmp -s "$1.json" without.json || failed "$1.json is another plan"; }

is_quiet() { [ ! -s "$1.err" ] || failed "$1 says something"; }

from_cache() { says "$1.out" 'kept, found and checked'; }

plan without

case $case in
same)
    plan one --cache c; plan two --cache c
    is_good one; is_good two; is_quiet one; is_quiet two; from_cache two
    for solver in greedy bestfit; do
        "$lxplan" show "$graph" -s $solver --cache c >"$solver.1" && "$lxplan" show "$graph" -s $solver --cache c >"$solver.2" &&
            cmp -s "$solver.1" "$solver.2" || failed "show differs"
    done
    "$lxplan" run "$graph" --cache c -q && "$lxplan" check "$graph" --cache c -q || failed "run or check"
    "$lxplan" sweep "$graph" --lx 64k..512k --steps 4 -f csv >sweep.1 && "$lxplan" sweep "$graph" --lx 64k..512k --steps 4 -f csv --cache c >sweep.2 &&
        "$lxplan" sweep "$graph" --lx 64k..512k --steps 4 -f csv --cache c >sweep.3 || failed "sweep"
    cmp -s sweep.1 sweep.2 && cmp -s sweep.2 sweep.3 || failed "sweeps differ"
    ;;
killed)
    # Writers are killed at any moment; whatever they leave, the next plan is right and says nothing.
    for i in $(seq 40); do
        "$lxplan" plan "$patterns/targets/moe_mlp.json" --seed "$i" --cache c -q -o killed.json &
        job=$!
        sleep "0.0$((i % 4))$((i % 10))"
        kill -9 $job 2>/dev/null
        wait $job 2>/dev/null
    done
    for i in $(seq 40); do
        "$lxplan" plan "$patterns/targets/moe_mlp.json" --seed "$i" --cache c -o "k$i.json" >k.out 2>k.err || failed "seed $i"
        [ -s k.err ] && failed "seed $i: $(cat k.err)"
        "$lxplan" plan "$patterns/targets/moe_mlp.json" --seed "$i" -q -o plain.json
        cmp -s "k$i.json" plain.json || failed "seed $i has another plan"
    done
    "$lxplan" cache c --clear -q || failed "clear"
    [ -z "$(ls c)" ] || failed "left: $(ls c)"
    ;;
together)
    jobs=()
    for i in 1 2 3 4 5 6; do
        for k in 1 2 3 4 5; do "$lxplan" plan "$graph" --cache c -q -o "t$i.json" 2>>"t$i.err" || exit 1; done &
        jobs+=($!)
    done
    for _ in 1 2 3; do "$lxplan" cache c --limit 0 -q 2>/dev/null; "$lxplan" cache c --limit 1g -q 2>/dev/null; done
    for job in "${jobs[@]}"; do wait "$job" || failed "one of several"; done
    for i in 1 2 3 4 5 6; do is_good "t$i"; is_quiet "t$i"; done
    ;;
damaged)
    plan one --cache c
    entry=$(ls c/*.plan)
    for harm in ': >"$entry"' 'head -c 300 good >"$entry"' 'head -c -1 good >"$entry"' 'tail -c +2 good >"$entry"' \
        'tr 1 2 <good >"$entry"' 'echo more >>"$entry"' 'head -c 9000 /dev/urandom >"$entry"' 'sed "s/^part plan [0-9]*/part plan 99999999999/" good >"$entry"' \
        'rm "$entry"; mkdir "$entry"'; do
        cp "$entry" good
        eval "$harm"
        plan two --cache c
        is_good two; says two.err 'ignored\|not kept'
        rm -rf "$entry"
        plan three --cache c; plan four --cache c
        is_good four; is_quiet four; from_cache four
    done
    "$lxplan" cache c >list.out && says list.out gq_attention
    head -c -1 "$entry" >cut && mv cut "$entry"
    "$lxplan" cache c >list.out && says list.out '(damaged)'
    # The answer to the question alone: the plan is still there.
    plan five --cache c; plan six --cache c
    asked=$(ls c/*.asked)
    for harm in ': >"$asked"' 'tr a b <good >"$asked"' 'head -c -1 good >"$asked"' 'echo more >>"$asked"'; do
        cp "$asked" good
        eval "$harm"
        plan two --cache c
        is_good two; says two.err 'ignored'; from_cache two
        plan three --cache c
        is_good three; is_quiet three; from_cache three
    done
    ;;
again)
    # What the answer depends on is in the question: other bytes, options, words, and files beside the model.
    cp "$graph" g.json
    graph=g.json
    plan one --cache c; plan two --cache c
    is_quiet two; from_cache two
    diff <(grep -v '^work\|^written' one.out) <(grep -v '^work\|^written' two.out) || failed "other words"
    for more in '--lx 100k' '--seed 3' '-s greedy' '--objective time' '--all' '-q' '--json' '--reorder' '-D cores=8'; do
        "$lxplan" plan g.json $more -o p1.json >p1.out && "$lxplan" plan g.json $more --cache c -o p2.json >p2.out &&
            "$lxplan" plan g.json $more --cache c -o p3.json >p3.out || failed "plan $more"
        cmp -s p1.json p2.json && cmp -s p2.json p3.json || failed "$more: other plans"
        diff <(grep -v '^work\|^written' p2.out) <(grep -v '^work\|^written' p3.out) || failed "$more: other words"
    done
    SENCORES=4 "$lxplan" plan g.json --cache c -o four.json >four.out || failed "four cores"
    says four.out ' 4 cores'
    sed 's/"name": *"gq_attention"/"name": "another"/' "$patterns/graphs/gq_attention.json" >g.json
    plan other --cache c
    says other.out 'another'
    "$lxplan" plan g.json --cache c --cache-check -o checked.json >checked.out && says checked.out 'kept, found and checked'
    "$lxplan" plan - --cache c <g.json >stdin.out && says stdin.out 'another' || failed "standard input"
    # A fault in the file is told every time.
    echo '{' >g.json
    for _ in 1 2; do "$lxplan" plan g.json --cache c >bad.out 2>bad.err; [ $? = 2 ] || failed "a broken file"; done
    ;;
beside)
    # Data of a model in files beside it, one of which has a name that begins another's: each of them is asked about.
    python3 -c '' 2>/dev/null || exit 77
    python3 - >m.onnx <<'PYTHON'
import sys
length = lambda n: bytes([n]) if n < 128 else bytes([n & 127 | 128, n >> 7])
field = lambda number, body: bytes([number << 3 | 2]) + length(len(body)) + body
number = lambda n, value: bytes([n << 3, value])
shape = field(2, field(1, number(1, 1) + field(2, field(1, number(1, 2)))))
def value(name): return field(1, name) + shape
def weight(name, file): return field(5, number(1, 2) + number(2, 1) + field(8, name) + field(13, field(1, b"location") + field(2, file)) + number(14, 1))
def add(a, b, c): return field(1, field(1, a) + field(1, b) + field(2, c) + field(4, b"Add"))
graph = add(b"x", b"v", b"t") + add(b"t", b"w", b"y") + field(2, b"g") + weight(b"v", b"w.bin2") + weight(b"w", b"w.bin") + field(11, value(b"x")) + field(12, value(b"y"))
sys.stdout.buffer.write(number(1, 8) + field(7, graph) + field(8, number(2, 13)))
PYTHON
    graph=m.onnx
    printf 12345678 >w.bin; printf 12345678 >w.bin2
    plan one --cache c; plan two --cache c
    is_quiet two; says two.out 'kept, found'; cmp -s one.json two.json || failed "another plan"
    for file in w.bin w.bin2; do
        before=$(ls c/*.asked | wc -l)
        printf 87654321 >$file
        plan three --cache c
        [ "$(ls c/*.asked | wc -l)" = $((before + 1)) ] || failed "$file is no part of the question"
        rm $file
        plan four --cache c
        [ "$(ls c/*.asked | wc -l)" = $((before + 2)) ] || failed "that $file is gone is no part of the question"
    done
    ;;
readonly)
    [ "$(id -u)" = 0 ] && ! setpriv --version >/dev/null 2>&1 && exit 77
    plan one --cache c
    "$lxplan" plan "$graph" --lx 100k --cache c -q || failed "another"
    chmod 555 c
    as=()
    [ "$(id -u)" = 0 ] && chmod 777 . && as=(setpriv --reuid 65534 --clear-groups)
    "${as[@]}" "$lxplan" check "$graph" >/dev/null 2>&1 || { echo "nobody may not read the program or the patterns where they are"; exit 77; }
    "${as[@]}" "$lxplan" plan "$graph" --cache c -o two.json >two.out 2>two.err || failed "a hit in a folder for reading"
    is_good two; is_quiet two; from_cache two
    "${as[@]}" "$lxplan" plan "$graph" --lx 200k --cache c -o three.json >three.out 2>three.err || failed "a miss there"
    says three.err 'not kept'
    "$lxplan" plan "$graph" --cache /dev/null -o four.json >four.out 2>four.err || failed "a folder that is none"
    is_good four; says four.err 'not kept'
    ;;
limit)
    "$lxplan" cache c --limit 40k -q || failed "limit"
    for seed in 1 2 3 4 5 6 7 8; do "$lxplan" plan "$graph" --seed $seed --cache c -q || failed "plan $seed"; done
    [ "$(cat c/*.plan | wc -c)" -le 40960 ] || failed "more than the limit"
    "$lxplan" cache c --json >list.out && says list.out '"limit": 40960'
    "$lxplan" cache c --clear >clear.out 2>clear.err && says clear.out '0 plans'
    "$lxplan" cache nowhere >nowhere.out 2>nowhere.err
    [ $? = 2 ] || failed "a folder that is not there"
    says nowhere.err 'cannot open the folder'
    ;;
bench)
    "$lxplan" bench "$graph" -s greedy --cache c >bench.out 2>bench.err
    [ $? = 2 ] || failed "bench takes --cache"
    ;;
*) failed "no case $case" ;;
esac
