# What run_cases does with data that it does not know, with cases that must be refused, and with files that have
# only one section of their form. Cases are named after what must come of them.
$LXPLAN tests/data/strict/solver.json; echo "exit $?"
$LXPLAN tests/data/strict/workdiv.json; echo "exit $?"
one() { echo "$1" >"$scratch/one.json"; $LXPLAN "$scratch/one.json"; echo "exit $?"; }
one '{"topk": [{"k": 8, "cores": 32, "k_split": 2}]}'
one '{"span": {"cases": [{"device_size": [4, 8, 64], "per_core_extent": [2, 8, 64], "bytes": 2048}]}}'
one '{"what": [1, 2]}'
