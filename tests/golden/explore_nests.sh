# A plan with a nest of two levels, read from a file so that no search changes it: every view that names nests, at sizes,
# in colours and locales; stepping through iterations; the map as text. The file is made by
#     lxplan plan tests/data/graphs/tiled_attention.json --lx 6k --tile auto -o tests/data/plans/tiled_attention.plan.json
plan=tests/data/plans/tiled_attention.plan.json
see() { # SIZE KEYS
    echo "== $*"
    $LXPLAN explore $plan --size "$1" --script "<wait>$2" --dump-screen "$scratch/s" && cat "$scratch/s"
}
for size in 80x24 120x40 200x60 40x12; do
    see $size '4;)<Esc>'
    see $size '2;}<Esc>'
done
see 80x24 '2;z'
see 80x24 '4;:iteration 16<Enter>'
see 80x24 '4;('
see 80x24 '4;:iteration 17<Enter>'
see 80x24 '3<wait>;})<Esc>'
see 120x40 '3<wait>;})<Esc>'
see 80x24 '6;)<Esc>'
see 80x24 '7r<wait>'
see 120x40 '7r<wait>'
see 80x24 '9;)<Esc>'
see 120x40 '9;)<Esc>'
see 80x24 '9ftile<Enter>'
see 80x24 '?/iteration<Enter>'
for theme in dark eight mono; do see 80x24 ":theme $theme<Enter>4;))<Esc>"; done
(
    export LC_ALL=C
    see 80x24 '4;)<Esc>'
    see 80x24 '2;)<Esc>'
    $LXPLAN show $plan
)
echo "== show"
$LXPLAN show $plan --width 72
$LXPLAN show $plan --buffers -f csv
$LXPLAN show $plan --svg | grep -E 'class="(nest|tile)"|id="nests"' | head -4
