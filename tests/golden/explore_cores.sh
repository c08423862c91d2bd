# Cores: every label, other divisions, how a cut that differs is resolved; sizes, colours and locales.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
gq=patterns/graphs/gq_attention.json
for size in 80x24 120x40 200x60 40x12; do
    see $size $gq '2gjj3'
    see $size patterns/graphs/moe_mlp.json '2g/e0_gate<Enter>3'
done
for theme in dark eight mono; do
    see 80x24 $gq ":theme $theme<Enter>2gjj3l"
done
(LC_ALL=C && export LC_ALL && see 80x24 $gq '2gj3')
$LXPLAN plan $gq --stage divide --all | sed -n '/quickest/,$p' | head -16
