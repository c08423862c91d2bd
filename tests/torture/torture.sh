#!/usr/bin/env bash
# torture.sh BUILD MINUTES [FIRST]: each torture_X of BUILD for its share of the minutes, and a table of what came of it. Fails when
# something is not zero that must be; what is wrong is told with its seed. FIRST: the first seed, another one for other questions.
set -euo pipefail
build=$1 minutes=$2 first=${3:-1}
programs=("$build"/bin/torture_*)
seconds=$((minutes * 60 / ${#programs[@]}))
[ $seconds -ge 1 ] || seconds=1
fault=0

printf '%-10s %10s %10s %10s %10s %10s %10s %10s\n' torture questions judged best refused false disagree accepted
for program in "${programs[@]}"; do
    "$program" ${seconds}s "$first" || fault=1
done
exit $fault
