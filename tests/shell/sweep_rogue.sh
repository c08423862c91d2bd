#!/bin/bash
# sweep_rogue.sh ROGUE CASE: a sweep by solvers that crash, leave and lie (mishaps), and one that is interrupted.
set -u
rogue=$1 case=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 3
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
fail() { echo "sweep_rogue.sh: $case: $*"; cat "$out"; exit 1; }
pattern=patterns/graphs/rms_norm.json
case $case in
mishaps)
    for jobs in 1 3; do
        timeout 100 "$rogue" sweep $pattern --lx 8k,64k -s greedy,rogue_crash,rogue_exit,rogue_liar -f csv -j $jobs >"$out" 2>&1 ||
            fail "ends with $?"
        for line in greedy,planned rogue_crash,lost rogue_exit,lost rogue_liar,refused; do
            [ "$(grep -c ",$line," "$out")" = 2 ] || fail "-j $jobs: not twice $line"
        done
    done
    ;;
interrupted)
    "$rogue" sweep $pattern --lx 8k,64k -s greedy,rogue_hang -f csv -j 2 >"$out" 2>&1 &
    process=$!
    sleep 1
    kill -INT $process
    for _ in $(seq 100); do kill -0 $process 2>/dev/null || break; sleep 0.1; done
    kill -0 $process 2>/dev/null && { kill -9 $process; fail "an interrupt does not end it"; }
    wait $process
    [ $? = 130 ] || fail "the exit code is not 130"
    grep -q ',greedy,planned,' "$out" && grep -q ',rogue_hang,unknown,' "$out" || fail "what was done is not told"
    ;;
esac
