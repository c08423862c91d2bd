# Buffers: sorted, filtered and followed to the map; at the sizes, colours and locales that people have.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --tile none --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
moe=patterns/graphs/moe_mlp.json
for size in 80x24 120x40 200x60 40x12; do
    see $size $moe ':lx 100k<Enter><wait>9'
done
for theme in dark eight mono; do
    see 80x24 $moe ":lx 100k<Enter><wait>9:theme $theme<Enter>fw_gate<Enter>"
done
(LC_ALL=C && export LC_ALL && see 80x24 $moe '9:sort life<Enter>')
see 80x24 $moe '9:sort buffer<Enter>r/e1_up<Enter>'
see 80x24 $moe '9:sort colour<Enter>'
see 80x24 $moe '9<Click:1,24>'
see 80x24 $moe '9<Click:1,24><Click:1,24>><lt>'
see 80x24 $moe '9foff chip<Enter>'
see 80x24 $moe '9g/e0_silu<Enter><Enter>'
see 80x24 patterns/targets/staircase.json '9jj'
$LXPLAN show $moe --tile none --lx 100k --buffers --format csv | head -5
$LXPLAN show $moe --tile none --lx 100k --buffers --format json | head -4
$LXPLAN show $moe --tile none --lx 100k --buffers --svg
$LXPLAN show $moe --tile none --format csv
