# Planning one target: the readable summary, and what a program reads.
$LXPLAN plan patterns/targets/simple_fragmentation.json -s bestfit; echo "exit $?"
$LXPLAN plan patterns/targets/simple_fragmentation.json -s greedy --json; echo "exit $?"
$LXPLAN plan patterns/targets/gqattention.json -s firstfit --lx 1000000 -q; echo "exit $?"
