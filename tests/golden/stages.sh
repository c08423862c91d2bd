# What the stages behind the plan say: launches, loop nests, and what they refuse.
$LXPLAN plan patterns/graphs/swiglu.json --stage launch -s greedy; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --stage loops -s greedy; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --stage launch -s greedy --lx 0 --order morton; echo "exit $?"
$LXPLAN plan patterns/targets/simple_fragmentation.json --stage launch -s greedy; echo "exit $?"
$LXPLAN plan patterns/errors/launch_fp32_tile.json --stage launch; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --stage launch --order zigzag; echo "exit $?"
# the index recovery of each core's loop
$LXPLAN plan patterns/graphs/swiglu.json --stage launch -s greedy --lx 0 --cores 3 --all; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --stage launch -s greedy --lx 0 --cores 3 --json | grep -o '"device_cores": .*' | head -2
