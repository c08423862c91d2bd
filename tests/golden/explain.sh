# Why a buffer is off chip and what helps, each remedy tried: of a graph, of the plan as a whole, of a list.
$LXPLAN plan patterns/graphs/gq_attention.json --tile none --objective bytes --lx 60k --explain p; echo "exit $?"
$LXPLAN plan patterns/graphs/gq_attention.json --tile none --objective bytes --lx 100k --explain .; echo "exit $?"
$LXPLAN plan patterns/targets/simple_fragmentation.json -s greedy --explain .; echo "exit $?"
$LXPLAN plan patterns/lists/store_once.json --explain .; echo "exit $?"
$LXPLAN plan patterns/graphs/mlp.json --tile none --objective bytes --lx 100k --explain w1 | head -3 # no need is named where nothing is gained
