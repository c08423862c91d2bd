#!/usr/bin/env bash
# torture.sh BUILD MINUTES [FIRST]: each torture_X of BUILD and commands in which an allocation fails, for their shares of the minutes, on
# every processor with seeds of its own, and a table of what came of it. Fails when something is not zero that must be; what is wrong is
# told with its seed. FIRST: the first seed, another one for other questions. LXPLAN_ALL=1: behind that every allocation of every command
# and of the C interface, however long it takes.
set -euo pipefail
build=$1 minutes=$2 first=${3:-1}
# Shares of the time: those that judge fewest per second get the most.
shares=(problems 3 answers 1 solvers 4 graphs 8 plans 8 syncs 4 prefetch 4 memory 2)
memory=$build/bin/failing_memory
apart=1000000000 # seeds of one processor and the next
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

whole=0
for ((i = 0; i < ${#shares[@]}; i += 2)); do whole=$((whole + shares[i + 1])); done

# All of them on one processor, one after the other, with seeds from the given one on.
ask_all() {
    local i name seconds fault=0
    for ((i = 0; i < ${#shares[@]}; i += 2)); do
        name=${shares[i]} seconds=$((minutes * 60 * shares[i + 1] / whole))
        [ $seconds -ge 1 ] || seconds=1
        if [ "$name" != memory ]; then
            "$build/bin/torture_$name" ${seconds}s "$1" || fault=1
        elif [ -x "$memory" ]; then
            "$memory" --seconds $seconds --first "$1" || fault=1
        fi
    done
    return $fault
}

fault=0 asked=()
for ((core = 0; core < $(nproc); core++)); do
    ask_all $((first + core * apart)) >>"$rows" &
    asked+=($!)
done
for one in "${asked[@]}"; do
    wait "$one" || fault=1
done

printf '%-10s %10s %10s %10s %10s %10s %10s %10s\n' torture questions judged best refused false disagree accepted
awk 'NF != 8 { print; next }
    !($1 in seen) { seen[$1] = 1; name[++names] = $1 }
    { for (i = 2; i <= 8; i++) sum[$1, i] += $i }
    END {
        for (n = 1; n <= names; n++) {
            printf "%-10s", name[n]
            for (i = 2; i <= 8; i++) printf " %10d", sum[name[n], i]
            print ""
        }
    }' "$rows"
if [ -n "${LXPLAN_ALL:-}" ]; then
    "$memory" || fault=1
    "$build/bin/failing_api" || fault=1
fi
exit $fault
