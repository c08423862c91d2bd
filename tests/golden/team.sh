# Teams on the command line: a plan written, checked and run; members beside their plans; what is refused.
team=patterns/team/uneven_44.json
show() {
    "$@" 2>&1
    printf 'exit %s\n' $?
}
show $LXPLAN plan $team --team 3 -o "$scratch/team.plan"
show $LXPLAN check "$scratch/team.plan"
show $LXPLAN check "$scratch/team.plan" --json
show $LXPLAN run "$scratch/team.plan"
show $LXPLAN run $team --team 2 --json
# The time line: of a pattern, of a plan as export writes it, and where it cannot be written.
show $LXPLAN run patterns/team/mlp_rows.json --team 2x2 --trace "$scratch/trace.json" -q
sed -n 's/.*"process_name", "args": {"name": \(".*"\)}},/\1/p' "$scratch/trace.json"
show $LXPLAN run "$scratch/team.plan" --trace "$scratch/trace.json" -q
$LXPLAN export "$scratch/team.plan" --format perfetto | cmp - "$scratch/trace.json" && echo the same
show $LXPLAN run "$scratch/team.plan" --trace "$scratch/nowhere/trace.json" -q
show $LXPLAN run "$scratch/team.plan" --team 4
show $LXPLAN run $team --patience 3
show $LXPLAN plan $team --team 3 --stages
show $LXPLAN plan $team --stage divide --team 3
show $LXPLAN plan $team --cut y=0
show $LXPLAN run $team --cut y=0
show $LXPLAN plan $team --team 2 --cut y=0 --cut y=-
sed 's/"step": "wait", "exchange": 0/"step": "wait", "exchange": 1/' "$scratch/team.plan" >"$scratch/late.plan"
show $LXPLAN check "$scratch/late.plan"
sed 's/"bounds": \[0, 14, /"bounds": [0, 13, /' "$scratch/team.plan" >"$scratch/moved.plan"
show $LXPLAN check "$scratch/moved.plan"
head -c 2000 "$scratch/team.plan" >"$scratch/cut.plan"
show $LXPLAN run "$scratch/cut.plan"
# Results of two shapes, which every member computes.
cat >"$scratch/shapes.json" <<END
{"lxplan": 1, "kind": "pattern", "name": "two_shapes", "device": "spyre",
 "tensors": [{"name": "x", "shape": [8, 64], "dtype": "fp16", "role": "input"},
  {"name": "p", "shape": [64, 128], "dtype": "fp16", "role": "intermediate"},
  {"name": "q", "shape": [8, 64], "dtype": "fp16", "role": "intermediate"},
  {"name": "y", "shape": [8, 64], "dtype": "fp16", "role": "output"},
  {"name": "z", "shape": [64, 128], "dtype": "fp16", "role": "output"}],
 "ops": [{"name": "g", "kind": "generic", "inputs": ["x"], "outputs": ["p", "q"]},
  {"name": "y", "kind": "exp", "inputs": ["q"], "output": "y"},
  {"name": "z", "kind": "exp", "inputs": ["p"], "output": "z"}]}
END
show $LXPLAN plan "$scratch/shapes.json" --team 2 -q -o "$scratch/shapes.plan"
show $LXPLAN check "$scratch/shapes.plan"
show $LXPLAN run "$scratch/shapes.plan" -q
echo "by time, where cuts of the least time leave too much to one core:"
"$LXPLAN" plan patterns/errors/two_reductions.json --team 8 --objective time | grep '^exchanged'
echo "no time:"
"$LXPLAN" gen flash --ops 2000 -o "$scratch/flash.json"
"$LXPLAN" plan "$scratch/flash.json" --team 2x4 --objective time --time 0.001 2>&1 | sed "s#$scratch/##" | grep -e '^lxplan' -e '^exchanged'
