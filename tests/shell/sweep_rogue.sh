#!/bin/bash
# sweep_rogue.sh ROGUE CASE: a sweep by solvers that crash, leave and lie (mishaps), one that is interrupted, one that is
# told to end or killed while its processes are at work (ended), and other commands that are interrupted (others).
set -u
rogue=$1 case=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 3
out=$(mktemp) || exit 1
plain=$(mktemp) || exit 1
trap 'rm -f "$out" "$plain"' EXIT
fail() { echo "sweep_rogue.sh: $case: $*"; cat "$out"; exit 1; }
pattern=patterns/graphs/rms_norm.json
# Sends a signal to a command that hangs, and waits for its end; the exit code is in $code.
begin() { "$rogue" "$@" >"$out" 2>&1 & process=$!; sleep 1; }
end_by() {
    kill -"$1" $process
    for _ in $(seq 100); do kill -0 $process 2>/dev/null || break; sleep 0.1; done
    kill -0 $process 2>/dev/null && { kill -9 $process; fail "$1 does not end it"; }
    wait $process 2>/dev/null
    code=$?
}
gone() {
    for _ in $(seq 50); do kill -0 "$1" 2>/dev/null || return 0; sleep 0.1; done
    kill -9 "$1"
    return 1
}
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
    begin sweep $pattern --lx 8k,64k -s greedy,rogue_hang -f csv -j 2
    end_by INT
    [ $code = 130 ] || fail "the exit code is not 130"
    grep -q ',greedy,planned,' "$out" && grep -q ',65536,rogue_hang,unknown,' "$out" || fail "what was done is not told"
    begin sweep $pattern --lx 8k,16k,32k,64k -s rogue_hang -j 2
    end_by INT
    grep -q '4 sizes not planned' "$out" || fail "the sizes without a plan are not told"
    ! grep -q 'between equal' "$out" || fail "sizes without a plan are called equal"
    ;;
ended)
    signals="TERM HUP"
    [ "$(uname)" = Linux ] && signals="$signals KILL" # nothing else tells a process that hangs
    for signal in $signals; do
        begin sweep $pattern --lx 8k,64k -s rogue_hang -f csv -j 2
        workers=$(ps -o pid= --ppid $process)
        [ "$(echo $workers | wc -w)" = 2 ] || { kill -9 $process $workers; fail "not two processes"; }
        end_by $signal
        [ $signal = KILL ] || [ $code = 130 ] || fail "$signal: the exit code is $code"
        for worker in $workers; do gone $worker || fail "$signal leaves a process behind"; done
    done
    ;;
others)
    sed 's/"expect": .*/"expect": {}/' $pattern >"$plain" # which names solvers that are not in this program
    for command in "show" "show --buffers" "check"; do
        begin $command "$plain" --lx 64k -s rogue_wait
        end_by INT
        [ $code = 130 ] || fail "$command: the exit code is $code"
        grep -q 'interrupted; this is' "$out" || fail "$command: not told"
    done
    ;;
esac
