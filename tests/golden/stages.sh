# What the stages behind the plan say: launches, loop nests, and what they refuse.
$LXPLAN plan patterns/graphs/swiglu.json --stage launch -s greedy; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --stage loops -s greedy; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --stage launch -s greedy --lx 0 --order morton; echo "exit $?"
$LXPLAN plan patterns/targets/simple_fragmentation.json --stage launch -s greedy; echo "exit $?"
$LXPLAN plan patterns/errors/launch_wide_tile.json --stage launch; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --stage launch --order zigzag; echo "exit $?"
# the index recovery of each core's loop
$LXPLAN plan patterns/graphs/swiglu.json --stage launch -s greedy --lx 0 --cores 3 --all; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --stage launch -s greedy --lx 0 --cores 3 --json | grep -o '"device_cores": .*' | head -2
# Orders, tiles and assignments of one's own run as planned; what cannot be is said.
$LXPLAN run patterns/graphs/rms_norm.json --order morton --assign dynamic --tiles 16x256/4x64 | tail -1
$LXPLAN plan patterns/graphs/swiglu.json --tiles 3 -q; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --tiles 64x64 -q; echo "exit $?"
echo 0 1 2 2 >$scratch/list
$LXPLAN plan patterns/graphs/swiglu.json --order @$scratch/list -q; echo "exit $?"
echo 0 1 2 3 >$scratch/list
$LXPLAN plan patterns/graphs/swiglu.json --lx 0 --order @$scratch/list -q; echo "exit $?"
# What the use of the scratchpad saves, and each step of the search for the plan.
$LXPLAN plan patterns/graphs/gq_attention.json --objective bytes --evict --cooptimise full --lx 60k --stages; echo "exit $?"
$LXPLAN plan patterns/graphs/rms_norm.json --objective time --stages --json; echo "exit $?"
# Seed 002 gives a core an intrinsic "different per kernel type", one for "Reader/Writer", one for "Compute": who of the
# three moves or computes what. In loops of launches above, in programs here; of the hand-over unit/handover.
$LXPLAN export patterns/graphs/rms_norm.json -D h200 --format cuda | grep '^ *\* \(reader\|compute\|writer\) '
