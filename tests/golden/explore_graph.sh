# The graph with rails, what bounds the ops there and in Run, and the roofline: sizes, colours and locales.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --tile none --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
moe=patterns/graphs/moe_mlp.json
for size in 80x24 120x40 200x60 40x12; do
    see $size $moe ':lx 100k<Enter><wait>2/e0_up<Enter>'
    see $size patterns/graphs/transformer_block.json '2gb'
done
for theme in dark eight mono; do
    see 80x24 $moe ":lx 100k<Enter><wait>:theme $theme<Enter>2/e0_up<Enter>"
    see 80x24 $moe ":theme $theme<Enter>7r<wait>"
    see 80x24 patterns/graphs/gq_attention.json ":theme $theme<Enter>2Gb"
done
(
    export LC_ALL=C
    see 80x24 $moe ':lx 100k<Enter><wait>2/e0_up<Enter>'
    see 80x24 patterns/graphs/gq_attention.json '7r<wait>'
    see 80x24 patterns/graphs/gq_attention.json '2Gbjj'
)
see 80x24 $moe '2fmatmul<Enter>'
see 80x24 patterns/targets/staircase.json '2j'
see 80x24 patterns/targets/staircase.json 'b'
