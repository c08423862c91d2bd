#!/bin/bash
# mpi_sweep.sh MPIRUN LXPLAN PATTERN: a sweep by several ranks says what a sweep by one process says, to the byte.
set -u
mpirun=$1 lxplan=$2 pattern=$3
folder=$(mktemp -d /tmp/lxplan_mpi_sweep_XXXXXX) || exit 1
trap 'rm -rf "$folder"' EXIT
ranks() { local n=$1; shift; timeout -k 1 120 "$mpirun" --allow-run-as-root --oversubscribe -n "$n" "$lxplan" sweep "$@" --transport mpi </dev/null; }
arguments=("$pattern" --tile none --lx 16k..512k --steps 10 -s auto,greedy --cores 8,32 --json)
"$lxplan" sweep "${arguments[@]}" -j 1 >"$folder/one" || exit 1
for n in 1 2 4; do
    ranks $n "${arguments[@]}" >"$folder/ranks" || { echo "mpi_sweep.sh: $n ranks end with $?"; exit 1; }
    cmp "$folder/one" "$folder/ranks" || { echo "mpi_sweep.sh: $n ranks say something else"; exit 1; }
done
ranks 2 "$pattern" --lx 2m..1k >"$folder/out" 2>"$folder/err"
[ $? = 2 ] || { echo "mpi_sweep.sh: a wrong range ends with another code than 2"; exit 1; }
[ "$(grep -c 'the range goes down' "$folder/err")" = 1 ] || { cat "$folder/err"; echo "mpi_sweep.sh: not said once"; exit 1; }
ranks 2 "$pattern" -j 3 2>&1 | grep -q 'does not go with' || { echo "mpi_sweep.sh: -j is taken"; exit 1; }
exit 0
