# Cores: the picture of a split, other splits planned, the ring and the launch; how a split that differs is resolved;
# one that is taken and undone; sizes, colours and locales.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --tile none --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
gq=patterns/graphs/gq_attention.json
for size in 80x24 120x40 200x60 40x12; do
    see $size $gq '2gjj3<wait>'
    see $size $gq '2/exp<Enter>3<wait>jj<wait><Space>'
done
see 80x24 $gq '2/exp<Enter>3<wait><Space>dl'
see 80x24 $gq '2/exp<Enter>3<wait>dd'
see 80x24 $gq '2/exp<Enter>3<wait>j<Enter><wait>'
see 80x24 $gq '2/exp<Enter>3<wait>j<Enter><wait>u<wait>'
see 120x40 patterns/graphs/moe_mlp.json '2g/e0_gate<Enter>3<wait>'
for theme in dark eight mono; do
    see 80x24 $gq ":theme $theme<Enter>2gjj3l<wait>"
done
(LC_ALL=C && export LC_ALL && see 80x24 $gq '2/exp<Enter>3<wait>d')
$LXPLAN plan $gq --stage divide --all | sed -n '/quickest/,$p' | head -16
