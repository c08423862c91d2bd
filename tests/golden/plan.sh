# Planning one target: the readable summary, and what a program reads.
$LXPLAN plan patterns/targets/simple_fragmentation.json -s bestfit; echo "exit $?"
$LXPLAN plan patterns/targets/simple_fragmentation.json -s greedy --json; echo "exit $?"
$LXPLAN plan patterns/targets/gqattention.json -s firstfit --lx 1000000 -q; echo "exit $?"
# By bytes, divisions that move much in an empty scratchpad are chosen anew, unless --cooptimise says otherwise.
$LXPLAN gen flash --ops 400 -o $scratch/flash.json > /dev/null
$LXPLAN plan $scratch/flash.json --objective bytes | grep ^HBM
$LXPLAN plan $scratch/flash.json --objective bytes --cooptimise none | grep ^HBM
# A tensor on chip whatever that costs; a buffer of a list; and what time would give beside a plan by bytes.
$LXPLAN plan patterns/targets/moe_mlp.json --lx 850k --hint up_2=lx -o "$scratch/p.json" | grep -E '^(HBM|status)|^  (up_2|selected_tokens_2) '
$LXPLAN check "$scratch/p.json"; echo "exit $?"
$LXPLAN plan patterns/graphs/gq_attention.json --hint y=lx -q; echo "exit $?"
$LXPLAN plan patterns/lists/two_pools.json --hint nothing=lx; echo "exit $?"
$LXPLAN plan patterns/graphs/block_small.json --objective bytes | grep '^by time'
