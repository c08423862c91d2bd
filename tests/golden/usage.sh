# Mistakes on the command line are exit code 2, say what is wrong and what would be right.
$LXPLAN plna patterns/targets/staircase.json; echo "exit $?"
$LXPLAN plan; echo "exit $?"
$LXPLAN plan patterns/targets/staircase.json -s gredy; echo "exit $?"
$LXPLAN plan patterns/targets/staircase.json --lx lots; echo "exit $?"
$LXPLAN plan patterns/targets/staircase.json --stage nowhere; echo "exit $?"
$LXPLAN plan patterns/targets/staircase.json --no-such-option; echo "exit $?"
SENCORES=99 $LXPLAN plan patterns/targets/staircase.json -q; echo "exit $?"
SENCORES=abc $LXPLAN plan patterns/targets/staircase.json -q; echo "exit $?"
# Seed 001: usable LX per core is int((2<<20) * (1 - frac_avail)), here in whole sticks, DXP_LX_FRAC_AVAIL the share
# that the backend keeps.
DXP_LX_FRAC_AVAIL=0.4 $LXPLAN plan patterns/graphs/rms_norm.json -D lx_reserved_bytes=0 | grep '^device'
DXP_LX_FRAC_AVAIL=0.4 $LXPLAN plan patterns/graphs/rms_norm.json -D lx_reserved_fraction=0.2 -D lx_reserved_bytes=0 | grep '^device'
DXP_LX_FRAC_AVAIL=2 $LXPLAN plan patterns/graphs/rms_norm.json -q; echo "exit $?"
$LXPLAN gen spiral; echo "exit $?"
($LXPLAN plan patterns/errors/unknown_kind.json --json; echo "exit $?") 2>&1 | sed 's/known: add, .* extern/known: (all kinds)/'
