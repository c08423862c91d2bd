# The three answers of check: yes, no, bad input; and expectations that do not hold.
$LXPLAN check patterns/targets/staircase.json -s firstfit; echo "exit $?"
$LXPLAN check patterns/targets/staircase.json -s greedy; echo "exit $?"
$LXPLAN check patterns/targets/no_such_file.json -s greedy; echo "exit $?"
sed 's/"greedy": "fail"/"greedy": "pass"/; s/"firstfit": "pass"/"firstfit": "fail"/' patterns/targets/staircase.json >"$scratch/changed.json"
$LXPLAN check "$scratch/changed.json" -s greedy; echo "exit $?"
$LXPLAN check "$scratch/changed.json" -s firstfit; echo "exit $?"
$LXPLAN check patterns/errors/cycle.json; echo "exit $?"
