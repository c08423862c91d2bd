# A plan file lives on its own: written, checked, shown, compared, and refused once it has been tampered with.
$LXPLAN plan patterns/targets/downward_staircase.json -s greedy -o "$scratch/a.json" -q; echo "exit $?"
$LXPLAN plan patterns/targets/downward_staircase.json -s bestfit -o "$scratch/b.json" -q; echo "exit $?"
$LXPLAN check "$scratch/a.json"; echo "exit $?"
$LXPLAN check "$scratch/b.json"; echo "exit $?"
$LXPLAN diff "$scratch/a.json" "$scratch/b.json"; echo "exit $?"
$LXPLAN diff "$scratch/a.json" "$scratch/a.json"; echo "exit $?"
$LXPLAN show "$scratch/b.json" --text; echo "exit $?"
sed 's/"name": "B5", \(.*\)"address": [0-9]*/"name": "B5", \1"address": 0/' "$scratch/b.json" >"$scratch/tampered.json"
$LXPLAN check "$scratch/tampered.json"; echo "exit $?"
# A plan where a pattern is wanted is named as what it is, whatever its version.
$LXPLAN plan "$scratch/a.json"; echo "exit $?"
