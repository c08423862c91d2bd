# The three answers of check: yes, no, bad input; and expectations that do not hold.
$LXPLAN check patterns/targets/staircase.json -s firstfit; echo "exit $?"
$LXPLAN check patterns/targets/staircase.json -s greedy; echo "exit $?"
$LXPLAN check patterns/targets/no_such_file.json -s greedy; echo "exit $?"
sed 's/"greedy": "fail"/"greedy": "pass"/; s/"firstfit": "pass"/"firstfit": "fail"/' patterns/targets/staircase.json >"$scratch/changed.json"
$LXPLAN check "$scratch/changed.json" -s greedy; echo "exit $?"
$LXPLAN check "$scratch/changed.json" -s firstfit; echo "exit $?"
$LXPLAN check patterns/errors/cycle.json; echo "exit $?"
# A solver that there is not: wherever the pattern is read, whichever solver it is checked with.
sed 's/"firstfit": "pass"/"firstfitt": "pass"/' patterns/targets/staircase.json >"$scratch/misspelt.json"
$LXPLAN check "$scratch/misspelt.json" -s greedy; echo "exit $?"
$LXPLAN plan "$scratch/misspelt.json" -s bestfit; echo "exit $?"
sed 's/"firstfit": "pass"/"gurobi": "fail"/' patterns/targets/staircase.json | $LXPLAN check - -s greedy; echo "exit $?"
