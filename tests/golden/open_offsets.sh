# Seed 003: "The offsets and sizes [...] can be static as in the example. Alternatively, they can be partially or fully
# dynamic". An offset "?" of a slice or an insert is an argument of a run; with a value it is that static offset.
pattern() {
    cat <<X
{"lxplan": 1, "kind": "pattern", "name": "offsets",
 "tensors": [{"name": "x", "shape": [64, 128], "role": "input"}, {"name": "part", "shape": [16, 128]},
             {"name": "twice", "shape": [16, 128]}, {"name": "y", "shape": [64, 128], "role": "output"}],
 "ops": [{"name": "take", "kind": "slice", "inputs": ["x"], "output": "part", "offset": [$1, 0]},
         {"name": "double", "kind": "mul", "inputs": ["part"], "output": "twice", "value": 2},
         {"name": "keep", "kind": "clone", "inputs": ["x"], "output": "y"},
         {"name": "put", "kind": "insert", "inputs": ["twice"], "output": "y", "offset": [$2, ${3:-0}]}]}
X
}
pattern '"?"' '"?"' >"$scratch/open.json"
$LXPLAN export "$scratch/open.json" --format pattern | grep 'offset0'
$LXPLAN plan "$scratch/open.json" -o "$scratch/plan.json" -q
$LXPLAN check "$scratch/plan.json"
hash() { grep -o '"ok": [a-z]*\|"output_hash": "[^"]*"'; }
for at in "0 0" "5 48" "37 11"; do
    pattern $at >"$scratch/static.json"
    $LXPLAN run "$scratch/static.json" --json | hash >"$scratch/static"
    $LXPLAN run "$scratch/plan.json" --argument take.offset0=${at% *} --argument put.offset0=${at#* } --json | hash >"$scratch/open"
    cmp "$scratch/static" "$scratch/open" && cat "$scratch/open"
done
$LXPLAN run "$scratch/open.json" --team 2 | grep '^result'
# Members of a team and the one device beside them have the same argument; 64: outside, moved to the edge.
for team in 2 2x2; do $LXPLAN run "$scratch/open.json" --team $team --argument take.offset0=37 --argument put.offset0=11 | grep '^result'; done
$LXPLAN run "$scratch/open.json" --team 2 --argument y=1; echo "exit $?"
$LXPLAN run "$scratch/plan.json" --argument take.offset=1; echo "exit $?"
$LXPLAN run "$scratch/plan.json" --argument y=1; echo "exit $?"
$LXPLAN run "$scratch/plan.json" --argument take.offset0=5 --argument put.offset0=48 --on host --launches 0 | grep "^result"; echo "exit $?"
pattern '"?"' '"?"' 1 | $LXPLAN plan - -q; echo "exit $?"
pattern '"?"' '"?"' | sed 's/"einsum".*//; s/"kind": "slice"/"kind": "shift"/' | $LXPLAN plan - -q; echo "exit $?"
pattern '"?"' '"?"' | sed 's/"offset": \["?", 0\]},$/"offset": ["?", 0], "stride": [1, 1]},/' | $LXPLAN plan - -q; echo "exit $?"
pattern '"?"' '"?"' | sed 's/"inputs": \["x"\], "output": "part"/"inputs": [], "output": "part"/' | $LXPLAN plan - -q; echo "exit $?"
pattern '"?"' '"?"' | sed 's/twice/take.offset0/' | $LXPLAN plan - -q; echo "exit $?"
