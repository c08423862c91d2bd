#!/bin/bash
# interrupts.sh ROGUE: commands that plan without end are told to stop by Ctrl-C or SIGTERM. They end with the best so far, whole and
# legal, and exit code 130, and show it before the file is written; one whose solver does not listen, too, and has written nothing.
set -u
rogue=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 3
sed 's/"expect": .*/"expect": {}/' "$root/patterns/graphs/rms_norm.json" >graph.json # which names solvers that are not in this program
sed 's/"expect": .*/"expect": {}/' "$root/patterns/team/mlp_rows.json" >team.json
declare -A process signal
fail() { echo "interrupts.sh: $*"; cat ./*.out; kill -9 "${process[@]}" 2>/dev/null; exit 1; }
# NAME SIGNAL COMMAND...: all of them at once, so that the machine is waited for once.
begin() {
    signal[$1]=$2
    "$rogue" "${@:3}" >"$1.out" 2>&1 &
    process[$1]=$!
}
# NAME: waits until the solver of it waits, signals it, and waits for its end, ten seconds each; the exit code is in $code.
stop() {
    for _ in $(seq 200); do grep -q 'rogue: waiting' "$1.out" && break; sleep 0.05; done
    kill -"${signal[$1]}" "${process[$1]}"
    for _ in $(seq 100); do kill -0 "${process[$1]}" 2>/dev/null || break; sleep 0.1; done
    kill -0 "${process[$1]}" 2>/dev/null && fail "$1: ${signal[$1]} does not end it"
    wait "${process[$1]}" 2>/dev/null
    code=$?
}
begin plan_int INT plan graph.json --lx 64k -s rogue_wait -o plan_int.json
begin plan_term TERM plan graph.json --lx 64k -s rogue_wait -o plan_term.json
begin early INT plan graph.json --lx 64k -s rogue_wait -o missing/plan.json
begin early_team INT plan team.json --team 2 -s rogue_wait -o missing/plan.json
begin team TERM plan team.json --team 2 -s rogue_wait -o team_term.json
begin sweep TERM sweep team.json --team 1,2 -s rogue_wait
begin sweep_int INT sweep team.json --team 1,2 -s rogue_wait -f csv
begin run INT run team.json --team 2 -s rogue_wait
begin deaf INT plan graph.json --lx 64k -s rogue_deaf -o deaf.json
begin deaf_term TERM plan graph.json --lx 64k -s rogue_deaf -o deaf_term.json
begin explain INT plan graph.json --lx 64k -s rogue_wait --time 0.3 --explain . -o explained.json
for _ in $(seq 200); do [ -e explained.json ] && break; sleep 0.05; done # the remedies are tried after it
stop explain
{ [ $code = 130 ] && grep -q 'not everything was tried' explain.out; } || fail "explain: exit code $code, or not told"
for name in plan_int plan_term team sweep sweep_int run; do
    stop $name
    [ $code = 130 ] || fail "$name: the exit code is $code"
    [ $name = run ] || grep -q 'interrupted; this is' $name.out || fail "$name: not told"
done
for name in early early_team; do # the answer does not wait for the file
    stop $name
    { [ $code = 2 ] && grep -q 'interrupted; this is' $name.out && grep -q -e '^pattern' -e ': 2 devices' $name.out && grep -q 'cannot write' $name.out; } ||
        fail "$name: exit code $code, or no answer before the file that cannot be written"
done
for plan in plan_int plan_term team_term; do "$rogue" check $plan.json >check.out 2>&1 || fail "$plan.json is not legal"; done
for name in deaf deaf_term; do
    stop $name
    [ $code = 130 ] || fail "$name: the exit code is $code"
done
[ "$(ls ./*.json)" = "$(printf './%s.json\n' explained graph plan_int plan_term team team_term)" ] || fail "other files: $(ls -A)"
[ -z "$(ls -A | grep -v -e '\.json$' -e '\.out$')" ] || fail "other files: $(ls -A)"
