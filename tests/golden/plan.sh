# Planning one target: the readable summary, and what a program reads.
$LXPLAN plan patterns/targets/simple_fragmentation.json -s bestfit; echo "exit $?"
$LXPLAN plan patterns/targets/simple_fragmentation.json -s greedy --json; echo "exit $?"
$LXPLAN plan patterns/targets/gqattention.json -s firstfit --lx 1000000 -q; echo "exit $?"
# By bytes, divisions that move much in an empty scratchpad are chosen anew, unless --cooptimise says otherwise.
$LXPLAN gen flash --ops 400 -o $scratch/flash.json > /dev/null
$LXPLAN plan $scratch/flash.json --objective bytes | grep ^HBM
$LXPLAN plan $scratch/flash.json --objective bytes --cooptimise none | grep ^HBM
