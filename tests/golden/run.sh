# Executing plans: the table and totals, JSON, a trace, a plan file, and what cannot be run.
$LXPLAN run patterns/graphs/softmax_512x1024.json -s bestfit --cores 4; echo "exit $?"
$LXPLAN run patterns/targets/simple_fragmentation.json -s greedy --verify outputs --json; echo "exit $?"
$LXPLAN plan patterns/graphs/rms_norm.json -s bestfit --cores 2 -o "$scratch/plan.json" -q; echo "exit $?"
$LXPLAN run "$scratch/plan.json" --trace "$scratch/trace.json" -q; echo "exit $?"
grep -c '"ph": "X"' "$scratch/trace.json"
$LXPLAN run patterns/graphs/rms_norm.json --verify some; echo "exit $?"
printf 'id,lower,upper,size\n0,0,2,128\n' >"$scratch/list.csv"
$LXPLAN run "$scratch/list.csv"; echo "exit $?"
# A reshape keeps what is known in fp64; behind a generic op nobody knows.
cat >"$scratch/known.json" <<'END'
{"lxplan": 1, "kind": "pattern", "name": "known", "device": "spyre",
 "tensors": [{"name": "x", "shape": [2, 3], "dtype": "fp32", "role": "input"},
  {"name": "y", "shape": [2, 3], "dtype": "fp32", "role": "intermediate"},
  {"name": "r", "shape": [3, 2], "dtype": "fp32", "role": "intermediate"},
  {"name": "z", "shape": [3, 2], "dtype": "fp32", "role": "output"},
  {"name": "w", "shape": [3, 2], "dtype": "fp32", "role": "output"}],
 "ops": [{"name": "y", "kind": "exp", "inputs": ["x"], "output": "y", "einsum": "ab->ab"},
  {"name": "r", "kind": "reshape", "inputs": ["y"], "output": "r"},
  {"name": "z", "kind": "neg", "inputs": ["r"], "output": "z", "einsum": "ab->ab"},
  {"name": "w", "kind": "generic", "inputs": ["y"], "output": "w"}]}
END
$LXPLAN run "$scratch/known.json" -s greedy | grep '^error'
$LXPLAN run "$scratch/known.json" -s greedy --json | grep '"known"'
