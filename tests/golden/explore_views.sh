# The other views at the sizes that people have, and what lies on top of them.
mkdir "$scratch/patterns"
cp patterns/targets/moe_mlp.json patterns/graphs/gq_attention.json patterns/errors/cycle.json "$scratch/patterns"
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
see 120x40 "$scratch/patterns" 'P<wait>'
see 80x24 "$scratch/patterns" ':welcome<Enter>'
see 40x12 "$scratch/patterns" j
for size in 80x24 120x40 200x60 40x12; do
    see $size patterns/graphs/gq_attention.json '2gj<Space>'
    see $size patterns/graphs/gq_attention.json '2gj3<wait><Space><Space>ll'
    see $size patterns/graphs/gq_attention.json '2gj6'
    see $size patterns/graphs/gq_attention.json '7r<wait>jj'
done
see 80x24 patterns/targets/moe_mlp.json 3
see 80x24 patterns/graphs/gq_attention.json '?'
see 100x30 patterns/graphs/gq_attention.json '?fzoom<Enter>'
see 80x24 patterns/graphs/gq_attention.json w
see 80x24 "$scratch/patterns/cycle.json" ''
see 80x24 "$scratch/patterns" 4
