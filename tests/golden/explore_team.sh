# The team view: parts, halos and core of a member, exchanges before the ops that read them, a run, and what it says
# when there is nothing to cut.
see() { # SIZE FILE KEYS
    echo "== $*"
    $LXPLAN explore "$2" --tile none --size "$1" --script "<wait>$3" --dump-screen "$scratch/s" && cat "$scratch/s"
}
stencil=patterns/team/stencil_grid.json
for size in 80x24 120x40 200x60 40x12; do
    see $size $stencil ':team 3<Enter><wait>:goto s1<Enter><Space>lr<wait>'
done
# grids: members in rows and columns, states per axis, who sends whom what; one that the pattern states
for size in 80x24 120x40 200x60 40x12; do
    see $size $stencil ':team 2x3<Enter><wait>:goto s1<Enter><Space>l'
done
# the time line: lanes of members, the selected op below them; a part of it in ASCII; and back
for size in 80x24 200x60 40x12; do
    see $size $stencil ':team 2x2<Enter><wait>tjjl'
done
see 120x40 patterns/team/attention_grid.json ':team 2x2<Enter><wait>tjllA>>>'
see 80x24 $stencil ':team 2x2<Enter><wait>t>tz'
see 80x24 patterns/grids/mlp_of_one_member.json '8<wait>jjjly'
see 80x24 patterns/team/mlp_rows.json ':team 2x2x2<Enter><wait>jlllll+<wait>'
see 80x24 patterns/team/mlp_rows.json ':team 2x<Enter><wait>'
see 80x24 $stencil ':team 3<Enter><wait>:goto x1<Enter>lA'
see 80x24 patterns/graphs/gq_attention.json '8<wait>++++++<wait>gllllll'
see 80x24 patterns/team/slice_misses.json ':team 4<Enter><wait>:goto a<Enter>lr<wait>'
see 80x24 patterns/team/softmax_columns.json '8<wait>jjy'
see 80x24 patterns/targets/moe_mlp.json '8<wait>r'
cat >"$scratch/list.json" <<END
{"lxplan": 1, "kind": "pattern", "name": "list", "capacity": 1024,
 "buffers": [{"name": "a", "size": 128, "start": 0, "end": 2}]}
END
see 80x24 "$scratch/list.json" '8<wait>'
# the plan of a team, as its file has it: cut as it was asked for; another grid; and a grid from the command line
$LXPLAN plan patterns/team/mlp_grid.json --team 2x2 --cut x=-,0 --tile none -o "$scratch/team.plan.json" >"$scratch/said"
see 80x24 "$scratch/team.plan.json" 'jjl'
see 80x24 "$scratch/team.plan.json" ':team 3<Enter><wait>'
echo "== --team"
$LXPLAN explore patterns/team/mlp_grid.json --team 4x2 --script '<wait>' --dump-screen "$scratch/s" && head -8 "$scratch/s"
$LXPLAN explore patterns/team/mlp_grid.json --team 4xx --script '<wait>'; echo "exit $?"
