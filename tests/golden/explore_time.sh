# The time line at three sizes: lanes of engines, syncs, ops; zoomed, in ASCII, and where there are no ops. The fullest
# tick as a table, the map by padding, and the help of the view that it is asked for in.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
gq=patterns/graphs/gq_attention.json
for size in 80x24 120x40 200x60 40x12; do see $size $gq t; done
see 80x24 patterns/graphs/transformer_block.json 't>>jj'
see 80x24 patterns/graphs/moe_mlp.json 'tA>z<lt>'
see 80x24 patterns/targets/staircase.json t
for size in 80x24 200x60; do see $size patterns/graphs/moe_mlp.json '^'; done
for size in 80x24 120x40 200x60; do see $size patterns/showcase/moe_tight.json 'dddd'; done
for size in 80x24 120x40 200x60; do see $size $gq '2?'; done
see 80x24 $gq 't?'
# What makes the bound; the ghost of a buffer that is off chip, and the price of forcing it; a plan as a story.
tight=patterns/targets/moe_mlp.json
for size in 80x24 120x40 200x60; do see $size $tight ':lx 850k<Enter><wait>B'; done
see 80x24 patterns/targets/staircase.json B
see 80x24 $tight ':lx 850k<Enter><wait>BjZ<Enter>'
for size in 80x24 120x40 200x60; do see $size $tight ':lx 850k<Enter><wait>4oF<wait>'; done
see 80x24 $tight ':lx 850k<Enter><wait>4oA'
# The plan that has it on chip, taken; dropped; of a list; and where no hint can ask for it.
see 80x24 $tight ':lx 850k<Enter><wait>4oF<wait><Enter><wait>'
see 80x24 $tight ':lx 850k<Enter><wait>4oF<wait><Esc>'
see 80x24 patterns/targets/simple_fragmentation.json ':solver greedy<Enter><wait>4oF<wait>'
echo "== story"
$LXPLAN show $tight --lx 850k --story
$LXPLAN show patterns/graphs/transformer_block.json --story
# The placement of another compiler beside ours.
printf 'id,lower,upper,size,offset\na,0,3,4,0\nb,2,6,4,8\nc,4,9,4,0\nd,6,9,4,8\n' >"$scratch/their.12.csv"
printf 'id,lower,upper,size\na,0,3,4\nb,2,6,4\nc,4,9,4\nd,6,9,4\n' >"$scratch/list.12.csv"
see 100x20 "$scratch/list.12.csv" ":open-plan $scratch/their.12.csv<Enter><wait>dd" | sed "s#$scratch##; s# *[0-9.]* [mun]*s  on# (time)  on#"
