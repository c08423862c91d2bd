# lxplan show and export for others: what a drawing says about itself, and tables with names that are no friends.
echo "--- the words of a drawing agree with each other, and its axis has every op"
tight=$(ls patterns/*/attention_tight.json)
$LXPLAN show "$tight" --tile none --svg -o "$scratch/tight.svg"; echo "exit $?"
grep -o 'class="subtitle".*</text>\|[0-9]* buffers* spilled.*</text>' "$scratch/tight.svg"
grep -o 'class="op".*' "$scratch/tight.svg" | sed 's/.*>\(.*\)<.*/\1/' | tr '\n' ' '; echo
$LXPLAN show patterns/lists/two_pools.json --svg | grep -o '[0-9]* buffers* spilled.*</text>'
echo "--- formulas are words"
printf 'id,lower,upper,size\n=1+1,0,9,400\n@b,2,5,300\n-c,4,8,200\nd,1,3,500\n' >"$scratch/formulas.csv"
$LXPLAN show "$scratch/formulas.csv" -s greedy --lx 2k --buffers -f csv | cut -d, -f1
$LXPLAN export "$scratch/formulas.csv" -f minimalloc -q | tee "$scratch/again.csv"
$LXPLAN export "$scratch/again.csv" -f minimalloc -q | cmp - "$scratch/again.csv" && echo "the same again"
echo "--- addresses that would overlap are left out"
$LXPLAN plan "$tight" --tile none -q -o "$scratch/tight.plan"
$LXPLAN export "$scratch/tight.plan" -f minimalloc | head -3; echo "exit $?"
echo "--- a control character in the name of a pattern is not in the page"
sed 's/"name": "rms_norm"/"name": "rms\\u0007norm"/' patterns/graphs/rms_norm.json >"$scratch/bell.json"
$LXPLAN sweep "$scratch/bell.json" --lx 64k -s greedy --html | grep -o '"pattern": "[^"]*"'
$LXPLAN sweep "$scratch/bell.json" --lx 64k -s greedy --json | grep -o '"pattern": "[^"]*"'
echo "--- words that were meant"
sed 's/"device": "spyre"/"device": "spire"/' patterns/graphs/rms_norm.json >"$scratch/device.json"
sed 's/"kind": "pattern"/"kind": "pattrn"/' patterns/graphs/rms_norm.json >"$scratch/kind.json"
for file in device kind; do $LXPLAN plan "$scratch/$file.json"; echo "exit $?"; done
echo "--- a locale of UTF-8 that is not there is UTF-8, any other that is not is ASCII"
for locale in C.UTF-8 xx_XX.UTF-8 xx_XX C; do LC_ALL=$locale $LXPLAN show patterns/graphs/rms_norm.json | sed -n 5p; done
