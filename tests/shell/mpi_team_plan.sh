#!/bin/sh
# mpi_team_plan.sh MPIRUN LXPLAN PATTERNS: the program under mpirun. A pattern is run by as many devices as there are
# processes, a team's plan by its own number of them and by no other; only member 0 says anything.
mpirun=$1 lxplan=$2 patterns=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "mpi_team_plan.sh: $1"
    cat "$work/out"
    exit 1
}
ranks() {
    n=$1
    shift
    timeout -k 1 100 "$mpirun" --allow-run-as-root --oversubscribe -n "$n" "$@" </dev/null >"$work/out" 2>&1
}
pattern=$patterns/team/uneven_44.json
"$lxplan" plan "$pattern" --team 3 -q -o "$work/team.plan" >"$work/out" 2>&1 || fail "no plan"
ranks 3 "$lxplan" run "$work/team.plan" || fail "a team's plan does not run"
grep -q 'on 3 devices over mpi' "$work/out" || fail "not three devices"
[ "$(grep -c 'result ' "$work/out")" = 1 ] || fail "more than one device reports"
ranks 2 "$lxplan" run "$pattern" || fail "a pattern does not run"
grep -q 'on 2 devices over mpi' "$work/out" || fail "not as many devices as processes"
ranks 2 "$lxplan" run "$pattern" --team 2 --transport mpi || fail "with both options it does not run"
ranks 2 "$lxplan" run "$work/team.plan" && fail "a plan of three runs on two"
grep -q 'the team has 3 devices, but 2 MPI processes run; start with mpirun -n 3' "$work/out" || fail "other words"
head -c 3000 "$work/team.plan" >"$work/cut.plan"
ranks 3 "$lxplan" run "$work/cut.plan" && fail "a damaged plan runs"
grep -q -e 'the text ends inside' -e 'found the end of the text' "$work/out" || fail "other words for a damaged plan"
exit 0
