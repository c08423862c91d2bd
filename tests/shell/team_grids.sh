#!/bin/sh
# The table of grids: five graphs on five grids, over threads and under mpirun. What is exchanged is what is known to be
# least: one all-reduce of the output, 2 (n - 1) times its bytes, for the axis that cuts weights; the borders of a stencil's
# blocks. Where no sum is cut, not a bit differs from one device's results; where one is, every op is within its bound.
#
#     team_grids.sh LXPLAN PATTERNS [MPIEXEC]
#
# Prints the table; exit 1: a figure is another one.
lxplan=$1
patterns=$2
mpiexec=$3
bad=0

# what of the line "sent A B in N messages of exchanges, C B to combine partial results", both together
bytes_of() {
    sed -n 's/^sent *\([0-9,]*\) B in .* messages of exchanges, \([0-9,]*\) B .*/\1 \2/p' | tr -d , | {
        read -r exchanged combined && echo $((exchanged + combined))
    }
}

# name, grid, least bytes, may sums differ, cuts ...
row() {
    name=$1 grid=$2 least=$3 sums=$4
    shift 4
    a=${grid%x*} b=${grid#*x}
    for how in threads mpi; do
        [ $how = mpi ] && { [ -z "$mpiexec" ] || [ $((a * b)) = 1 ]; } && continue
        run=
        [ $how = mpi ] && run="$mpiexec --allow-run-as-root --oversubscribe -n $((a * b))"
        said=$($run "$lxplan" run "$patterns/team/$name.json" --team "$grid" --solver greedy --transport $how "$@" 2>&1)
        bytes=$(echo "$said" | bytes_of)
        judged=$(echo "$said" | sed -n 's/^judged *\(.* ops\) on devices, 0 wrong; 0 faults; 0 ops .*/\1/p')
        differ=$(echo "$said" | sed -n 's/^result .*: \([0-9,]*\) of [0-9,]* elements differ.*/\1/p')
        verdict=right
        [ "$bytes" = "$least" ] && [ -n "$judged" ] && [ -n "$differ" ] || verdict=WRONG
        [ "$sums" = exact ] && [ "$differ" != 0 ] && verdict=WRONG
        [ $verdict = right ] || { bad=1 && echo "$said"; }
        echo "| $name | $grid | $how | $least | $bytes | $judged | $differ |"
    done
}

echo "| graph | grid | over | least bytes | exchanged | within their bounds | elements that differ in a bit |"
echo "|---|---|---|---|---|---|---|"
for grid in ${LXPLAN_ALL:+1x1 2x1} 1x2 2x2 2x4; do
    a=${grid%x*} b=${grid#*x}
    sums=close
    [ "$b" = 1 ] && sums=exact
    all=$((2 * (b - 1) * 4)) # of an all-reduce, per element of fp32
    row mlp_grid $grid $((all * 16 * 64)) $sums --cut x=0,- --cut w1=-,1 --cut y=0,-
    # one device sums the scores over groups of its cores, a part of it over others
    attention=$sums
    [ $grid = 2x1 ] && attention=close
    row attention_grid $grid $((all * 2 * 16 * 64)) $attention --cut x=0,- --cut wq=-,1 --cut wk=-,1 --cut wv=-,1 \
        --cut wo=-,0 --cut y=0,-
    row gq_decode_grid $grid $((all * 8 * 512)) $sums --cut x=0,- --cut pos=-,- --cut mask=-,- --cut k_cache=0,1 \
        --cut v_cache=0,1 --cut wq=-,1 --cut wo=-,0 --cut y=0,-
    row moe_grid $grid $((all * 16 * 32)) $sums --cut x=0,- --cut w_up=-,0 --cut y=0,-
    # two steps; a border between two blocks is sent both ways
    row stencil_grid $grid $((2 * 2 * 64 * (a - 1 + b - 1) * 4)) exact --cut x0=0,1
done
exit $bad
