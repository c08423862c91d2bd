# What other scripts show at one size or two only, at the rest of 80x24, 120x40 and 200x60: the list of patterns, the
# welcome, the fullest tick, Compare, the panes of Cores, a command to copy, a team's time line, another compiler's
# placement.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --objective bytes --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
gq=patterns/graphs/gq_attention.json
mkdir "$scratch/patterns"
cp patterns/targets/moe_mlp.json patterns/graphs/rms_norm.json patterns/errors/cycle.json "$scratch/patterns"
printf 'id,lower,upper,size,offset\na,0,3,4,0\nb,2,6,4,8\nc,4,9,4,0\nd,6,9,4,8\n' >"$scratch/their.12.csv"
printf 'id,lower,upper,size\na,0,3,4\nb,2,6,4\nc,4,9,4\nd,6,9,4\n' >"$scratch/list.12.csv"
for size in 80x24 200x60; do see $size "$scratch/patterns" j; done
for size in 120x40 200x60; do see $size "$scratch/patterns" ':welcome<Enter>'; done
see 120x40 patterns/targets/moe_mlp.json '^'
for size in 120x40 200x60; do see $size $gq 5 | sed -E 's/ +[0-9.]+ [mun]?s  /      (time)  /'; done
for size in 80x24 120x40; do see $size $gq '2/exp<Enter>3<wait>dd'; done
see 200x60 $gq '2/p<Enter>3<wait>'
for size in 80x24 120x40; do see $size $gq ':lx 60k<Enter>:solver greedy<Enter><wait>y' | tail -n 3; done
see 120x40 patterns/team/stencil_grid.json ':team 2x2<Enter><wait>tjjl'
for size in 80x24 120x40 200x60; do
    see $size "$scratch/list.12.csv" ":open-plan $scratch/their.12.csv<Enter><wait>dd" |
        sed "s#$scratch##; s# *[0-9.]* [mun]*s  on# (time)  on#"
done
