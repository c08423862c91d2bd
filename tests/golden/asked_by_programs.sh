# What other programs ask: names, options and words for completions, JSON of solvers, nests and refusals.
$LXPLAN solvers --names
$LXPLAN solvers greedy --names
$LXPLAN solvers greedy --json
$LXPLAN solvers --json | grep -o '"name": "[a-z]*", "summary"'
$LXPLAN solvers gredy; echo "exit $?"
$LXPLAN help --names | head -n 3
$LXPLAN help --options gen random | grep -e buffers -e seed
$LXPLAN help --words plan --objective
$LXPLAN help --words plan -D | grep -e preset=spyre -e cores=
$LXPLAN help --words plan --seed; echo "exit $?"
$LXPLAN help --words check; echo "exit $?"
$LXPLAN help --words plan --quiet; echo "exit $?"
$LXPLAN help --words; echo "exit $?"
$LXPLAN help --options; echo "exit $?"
$LXPLAN help --man; echo "exit $?"
$LXPLAN help --man app/lxplan.1.in "$scratch/page" && grep -c -e '^\.SH' "$scratch/page"
$LXPLAN gen random --help | grep -e buffers
$LXPLAN loops --help | grep -A 2 rules:
$LXPLAN loops -e 'ab,bc->ac' --sizes 4,4,4 --json | grep -o '"pass": "[a-z]*", "changed": [a-z]*\|"valid": .*'
$LXPLAN loops -e 'ab,bc->ac' --sizes 4,4,4 --json --run | grep -o '"same_result": [a-z]*\|"steps": [0-9]*, "sampled": [a-z]*'
$LXPLAN loops -e 'ab,bc->ac' patterns/graphs/rms_norm.json; echo "exit $?"
$LXPLAN loops -e 'ab,bc->ac' --op x; echo "exit $?"
$LXPLAN check patterns/errors/unknown_kind.json --json | grep -o '"pass": .*"text"'; echo "exit $?"
