# A list with pools, lives, musts and reserved bytes: planned, written, checked, compared, drawn; what cannot be said elsewhere is refused.
cat >"$scratch/two.json" <<'END'
{"lxplan": 1, "kind": "pattern", "name": "two", "alignment": 1, "objective": "cost",
 "pools": [{"name": "near", "capacity": 8, "reserved": [[2, 4]]}, {"name": "far", "capacity": 6}],
 "buffers": [
  {"name": "a", "size": 0, "live": [[0, 4]], "off": 5, "pin": ["near", 3]},
  {"name": "b", "size": 4, "live": [[0, 2], [3, 4]], "off": 5},
  {"name": "c", "size": 6, "live": [[0, 4]], "off": 9},
  {"name": "d", "size": 3, "live": [[0, 4]], "off": null},
  {"name": "e", "size": 6, "live": [[0, 4]], "off": 2, "pools": ["far"]}]}
END
$LXPLAN plan "$scratch/two.json" -s exact -o "$scratch/exact.json" | grep -v steps; echo "exit $?"
$LXPLAN plan "$scratch/two.json" -s firstfit -o "$scratch/firstfit.json" -q; echo "exit $?"
$LXPLAN check "$scratch/exact.json"; echo "exit $?"
$LXPLAN check "$scratch/firstfit.json"; echo "exit $?"
$LXPLAN diff "$scratch/firstfit.json" "$scratch/exact.json"; echo "exit $?"
$LXPLAN diff "$scratch/exact.json" "$scratch/exact.json"; echo "exit $?"
$LXPLAN show "$scratch/exact.json" --text; echo "exit $?"
$LXPLAN export "$scratch/two.json"; echo "exit $?"
$LXPLAN export "$scratch/exact.json"; echo "exit $?"
# No answer: what is written of it is legal as that, and says so.
sed 's/"size": 3,/"size": 9,/' "$scratch/two.json" >"$scratch/none.json"
$LXPLAN plan "$scratch/none.json" -o "$scratch/none.plan.json" | grep -v steps; echo "exit $?"
$LXPLAN check "$scratch/none.plan.json"; echo "exit $?"
# Errors have their place.
sed 's/\[2, 4\]/[2, 14]/' "$scratch/two.json" | $LXPLAN plan -; echo "exit $?"
sed 's/"objective": "cost",/"objective": "cost", "charges": [{"cost": 3}],/' "$scratch/two.json" | $LXPLAN plan -; echo "exit $?"
# Which buffers clash where no answer exists: more on one tick than there is, and two pins on the same bytes.
printf 'id,lower,upper,size\na,0,3,5\nb,2,6,4\nc,2,9,4\nd,6,9,4\n' >"$scratch/tick.12.csv"
printf 'id,lower,upper,size,offset\na,0,3,5,0\nb,2,6,4,3\nc,4,9,4,\n' >"$scratch/pins.12.csv"
for name in tick pins; do $LXPLAN plan "$scratch/$name.12.csv" --objective fit 2>&1 | grep '^status'; done
