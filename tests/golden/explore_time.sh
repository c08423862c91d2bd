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
