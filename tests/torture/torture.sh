#!/usr/bin/env bash
# torture.sh BUILD MINUTES [FIRST]: each torture_X of BUILD for its share of the minutes, then commands in which an allocation fails, and a
# table of what came of it. Fails when something is not zero that must be; what is wrong is told with its seed. FIRST: the first seed,
# another one for other questions. LXPLAN_ALL=1: behind that every allocation of every command and of the C interface, however long it takes.
set -euo pipefail
build=$1 minutes=$2 first=${3:-1}
programs=("$build"/bin/torture_*)
memory=$build/bin/failing_memory
seconds=$((minutes * 60 / (${#programs[@]} + 1)))
[ $seconds -ge 1 ] || seconds=1
fault=0

printf '%-10s %10s %10s %10s %10s %10s %10s %10s\n' torture questions judged best refused false disagree accepted
for program in "${programs[@]}"; do
    "$program" ${seconds}s "$first" || fault=1
done
[ ! -x "$memory" ] || "$memory" --seconds $seconds --first "$first" || fault=1
if [ -n "${LXPLAN_ALL:-}" ]; then
    "$memory" || fault=1
    "$build/bin/failing_api" || fault=1
fi
exit $fault
