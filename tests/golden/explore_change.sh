# Before and after: what a change did in the status line, what moved in the map, a pinned plan beside the present one, a plan
# file beside both, what-if beside the map; at three sizes, in all numbers of colours, in both locales.
moe=patterns/graphs/moe_mlp.json
see() { # SIZE KEYS [OPTIONS]
    echo "== $*"
    size=$1 keys=$2
    shift 2
    $LXPLAN explore $moe --tile none --objective bytes --lx 102400 -s greedy --size "$size" --script "<wait>$keys" --dump-screen "$scratch/s" "$@" &&
        sed -E 's/ +[0-9.]+ [mun]?s  /      (time)  /' "$scratch/s"
}
for size in 80x24 120x40 200x60; do
    see $size 's<wait>'
    see $size 'p<wait>s<wait>5' --theme dark
    see $size 'w<Down><Down><Down><Down><Down>h<wait>'
done
for theme in dark eight mono; do
    see 80x24 'p<wait>s<wait>5d' --theme $theme
done
LC_ALL=C see 80x24 'p<wait>s<wait>5'
echo "== a change that moves no byte says so"
see 80x24 's<wait>s<wait>' | tail -n 2
echo "== taken back, in numbers"
see 120x40 's<wait>u<wait>' | tail -n 2
echo "== a saved plan beside the one that is shown, as a list that adds up"
(
    cd "$scratch" || exit 3
    moe=$OLDPWD/$moe
    $LXPLAN plan "$moe" --tile none --lx 102400 -o saved.plan.json >/dev/null
    see 80x24 ':open-plan saved.plan.json<Enter><wait>ddJ'
)
