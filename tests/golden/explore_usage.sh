# What cannot be: no terminal, keys that are none, themes and sizes that are none.
$LXPLAN explore patterns/targets </dev/null; echo "exit $?"
$LXPLAN explore nowhere --script j; echo "exit $?"
$LXPLAN explore patterns/targets --script '<Dwon>'; echo "exit $?"
$LXPLAN explore patterns/targets --script j --theme pink; echo "exit $?"
$LXPLAN explore patterns/targets --script j --size large; echo "exit $?"
$LXPLAN explore patterns/targets --dump-screen "$scratch/s"; echo "exit $?"
$LXPLAN explore patterns/targets -s nobody --script j; echo "exit $?"
# A file or a folder of any format alone is enough; what is neither is no command.
$LXPLAN patterns/targets/staircase.json --script '<wait>' --dump-screen "$scratch/s" --size 100x12; echo "exit $?"; tail -n 2 "$scratch/s"
mkdir "$scratch/lists"; printf 'id,lower,upper,size\na,0,3,512\n' >"$scratch/lists/one.csv"
$LXPLAN "$scratch/lists" --script '<wait>' --dump-screen "$scratch/s" --size 60x12; echo "exit $?"; tail -n 2 "$scratch/s"
cp "$scratch/lists/one.csv" "$scratch/lists/two.csv"
$LXPLAN explore "$scratch/lists" --script '<wait>' --dump-screen "$scratch/s" --size 60x12; echo "exit $?"; head -n 4 "$scratch/s"
$LXPLAN nowhere.json; echo "exit $?"
# What cannot be set is named as it is typed there.
$LXPLAN explore patterns/targets/staircase.json --script '<wait>:cores few<Enter>' --dump-screen "$scratch/s"; tail -n 1 "$scratch/s"
$LXPLAN explore --help; echo "exit $?"
