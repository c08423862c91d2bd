# What cannot be: no terminal, keys that are none, themes and sizes that are none.
$LXPLAN explore patterns/targets </dev/null; echo "exit $?"
$LXPLAN explore nowhere --script j; echo "exit $?"
$LXPLAN explore patterns/targets --script '<Dwon>'; echo "exit $?"
$LXPLAN explore patterns/targets --script j --theme pink; echo "exit $?"
$LXPLAN explore patterns/targets --script j --size large; echo "exit $?"
$LXPLAN explore patterns/targets --dump-screen "$scratch/s"; echo "exit $?"
$LXPLAN explore patterns/targets -s nobody --script j; echo "exit $?"
# What cannot be set is named as it is typed there.
$LXPLAN explore patterns/targets/staircase.json --script '<wait>:cores few<Enter>' --dump-screen "$scratch/s"; tail -n 1 "$scratch/s"
$LXPLAN explore --help; echo "exit $?"
