# Seed 001: "A bundle marked non-terminal guarantees no context switch before the next bundle, preserving LX state across
# the boundary. The compiler emits the annotation based on cross-bundle LX liveness."
plan="$scratch/plan.json" graph=patterns/graphs/mha_4h.json
for survives in 0 1; do
    $LXPLAN plan $graph --tile none --objective bytes -D bundle_tensors=4 -D lx_survives=$survives -o "$plan" | grep '^HBM'
    $LXPLAN check "$plan"; echo "exit $?"
    $LXPLAN run "$plan" --verify ops -q; echo "exit $?"
    $LXPLAN export "$plan" --format handover | grep -o '"first": [0-9]*, "last": [0-9]*, "runs".*true'
done
# Without a mark the scratchpads are wiped; marked in vain, or where the device wipes them all the same.
sed 's/"non_terminal": true, //' "$plan" >"$scratch/wiped.json"
$LXPLAN check "$scratch/wiped.json"; echo "exit $?"
$LXPLAN run "$scratch/wiped.json" --verify ops -q; echo "exit $?"
$LXPLAN plan $graph --tile none --objective bytes -D bundle_tensors=4 -o "$plan" -q
sed 's/{"first": 0, "tensors"/{"first": 0, "non_terminal": true, "tensors"/' "$plan" >"$scratch/marked.json"
$LXPLAN check "$scratch/marked.json"; echo "exit $?"
