#!/bin/sh
# bare.sh PROGRAM ROOT: the program without ncurses, GLPK and MPI (LXPLAN_BARE) plans, runs and checks, and says what
# it cannot.
set -eu
lxplan=$1 root=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "bare.sh: $*"; exit 1; }

"$lxplan" plan "$root/patterns/graphs/gq_attention.json" -o "$folder/a.plan" >"$folder/out" || fail "plan: $(cat "$folder/out")"
grep -q '^HBM' "$folder/out" || fail 'plan says no traffic'
"$lxplan" check "$folder/a.plan" >/dev/null || fail 'check refuses its plan'
"$lxplan" run "$root/patterns/graphs/rms_norm.json" | grep -q '^result *verified' || fail 'run'
"$lxplan" solvers --names | grep -q ilp && fail 'it has ilp'
"$lxplan" explore "$root/patterns/graphs/rms_norm.json" --size 80x24 --script '<wait>' --dump-screen "$folder/s" || fail 'no screen in a file'
grep -q 'HBM' "$folder/s" || fail 'the screen is empty'
refused() { # NEEDS WORDS ...
    needs=$1
    shift
    code=0
    "$lxplan" "$@" >"$folder/out" 2>&1 || code=$?
    [ "$code" = 2 ] && grep -q "without $needs" "$folder/out" || fail "$*: exit $code, $(cat "$folder/out")"
}
"$lxplan" bench "$root/patterns/targets/staircase.json" -s greedy,bestfit -o "$folder/r.jsonl" >/dev/null 2>&1 || fail 'bench'
"$lxplan" report "$folder/r.jsonl" | grep -q bestfit || fail 'report'
refused ncurses explore "$root/patterns/graphs/rms_norm.json"
if command -v ldd >/dev/null; then
    ldd "$lxplan" | grep -E 'curses|tinfo|cjson|glpk|mpi' && fail 'it is linked with more than libc'
fi
exit 0
