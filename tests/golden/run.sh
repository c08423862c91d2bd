# Executing plans: the table and totals, JSON, a trace, a plan file, and what cannot be run.
$LXPLAN run patterns/graphs/softmax_512x1024.json -s bestfit --cores 4; echo "exit $?"
$LXPLAN run patterns/targets/simple_fragmentation.json -s greedy --verify outputs --json; echo "exit $?"
$LXPLAN plan patterns/graphs/rms_norm.json -s bestfit --cores 2 -o "$scratch/plan.json" -q; echo "exit $?"
$LXPLAN run "$scratch/plan.json" --trace "$scratch/trace.json" -q; echo "exit $?"
grep -c '"ph": "X"' "$scratch/trace.json"
$LXPLAN run patterns/graphs/rms_norm.json --verify some; echo "exit $?"
printf 'id,lower,upper,size\n0,0,2,128\n' >"$scratch/list.csv"
$LXPLAN run "$scratch/list.csv"; echo "exit $?"
