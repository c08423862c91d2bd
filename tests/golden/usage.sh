# Mistakes on the command line are exit code 2, say what is wrong and what would be right.
$LXPLAN plna patterns/targets/staircase.json; echo "exit $?"
$LXPLAN plan; echo "exit $?"
$LXPLAN plan patterns/targets/staircase.json -s gredy; echo "exit $?"
$LXPLAN plan patterns/targets/staircase.json --lx lots; echo "exit $?"
$LXPLAN plan patterns/targets/staircase.json --stage nowhere; echo "exit $?"
$LXPLAN plan patterns/targets/staircase.json --no-such-option; echo "exit $?"
SENCORES=99 $LXPLAN plan patterns/targets/staircase.json -q; echo "exit $?"
$LXPLAN gen spiral; echo "exit $?"
($LXPLAN plan patterns/errors/unknown_kind.json --json; echo "exit $?") 2>&1 | sed 's/known: add, .* extern/known: (all kinds)/'
