#!/bin/bash
# mpi_bench.sh MPIRUN LXPLAN ROGUE PATTERNS CASE: bench --transport mpi against the same bench in one process.
# Results are equal when their lines are, but for times, peak memory, and date, load and ranks of the header.
mpirun=$1 lxplan=$2 rogue=$3 patterns=$4 case=$5
folder=$(mktemp -d /tmp/lxplan_mpi_bench_XXXXXX) || exit 1
trap 'cd /; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir set
printf 'id,lower,upper,size\na,0,4,60\nb,1,3,50\nc,2,6,40\nd,5,9,70\ne,3,8,30\n' >set/a.100.csv
printf 'id,lower,upper,size\nx,0,4,32\ny,1,3,16\nz,2,6,48\nv,0,9,8\n' >set/b.64.csv

failed() { echo "FAILED: $*"; cat ./*.out ./*.err 2>/dev/null; exit 1; }

# ranks N PROGRAM ARGUMENTS: under mpirun, which gives rank 0's exit code.
ranks() { local n=$1; shift; timeout -k 1 120 "$mpirun" --allow-run-as-root --oversubscribe -n "$n" "$@" --transport mpi </dev/null; }

essence() { sed -E 's/"(solver_seconds|wall_seconds|cpu_seconds|peak_kb|date|load|ranks)": [^,]*, //g' "$1" | sort; }

assert_same() {
    [ -s "$1" ] && [ -s "$2" ] || failed "no results in $1 or $2"
    diff <(essence "$1") <(essence "$2") >different.out || failed "$1 and $2 differ"
}

assert_says() { grep -q -e "$2" "$1" || failed "$1 does not say: $2"; }

rank_1_of() { # the process number, once there is one
    local child
    for _ in $(seq 500); do
        for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
            tr '\0' '\n' <"/proc/$child/environ" 2>/dev/null | grep -qx OMPI_COMM_WORLD_RANK=1 && echo "$child" && return 0
        done
        sleep 0.02
    done
    return 1
}

wait_for_lines() {
    for _ in $(seq 1000); do
        [ "$(wc -l 2>/dev/null <"$1")" -ge "$2" ] 2>/dev/null && return 0
        sleep 0.02
    done
    return 1
}

# A set on which rank 1 is always at work when a few lines are there.
slow=(bench set -s greedy,bestfit,rogue_hang,rogue_dice --seeds 3 --repeat 2 --time 0.5)

case $case in
same)
    # bad inputs are rows too; a warm-up is not
    printf 'id,lower,upper,size\na,5,2,60\n' >set/broken.10.csv
    set -- bench "$patterns/targets" set -s greedy,bestfit,anneal --seeds 3 --work 2000 --warmup 1
    "$lxplan" "$@" -o local.jsonl >local.out 2>local.err
    [ $? = 1 ] || failed "a bad input must give exit code 1"
    for n in 1 2 4 7; do
        ranks "$n" "$lxplan" "$@" -o "mpi_$n.jsonl" >"mpi_$n.out" 2>"mpi_$n.err"
        [ $? = 1 ] || failed "$n ranks: a bad input must give exit code 1"
        assert_same local.jsonl "mpi_$n.jsonl"
        [ "$(grep -c '^Solvers' "mpi_$n.out")" = 1 ] || failed "$n ranks: not one report"
    done
    grep -q '"ranks": 4' mpi_4.jsonl || failed "the header does not tell how many ranks there were"
    ;;
rogues)
    "$rogue" bench set --time 1 --memory 64 -o local.jsonl -q
    ranks 3 "$rogue" bench set --time 1 --memory 64 -o mpi.jsonl -q >mpi.out 2>mpi.err
    [ $? = 1 ] || failed "rogues must give exit code 1"
    assert_same local.jsonl mpi.jsonl
    ;;
dies)
    # mpirun of Open MPI 4.1 itself has been seen to hang or crash while it cleans up: three attempts.
    "$rogue" "${slow[@]}" -o local.jsonl -q
    for attempt in 1 2 3; do
        rm -f killed.jsonl
        timeout -k 1 60 "$mpirun" --allow-run-as-root --oversubscribe -n 3 "$rogue" "${slow[@]}" --transport mpi \
            -o killed.jsonl </dev/null >killed.out 2>killed.err &
        job=$!
        for _ in $(seq 100); do # timeout's child is mpirun
            launcher=$(cat /proc/$job/task/*/children 2>/dev/null)
            [ -n "$launcher" ] && break
            sleep 0.02
        done
        victim=$(rank_1_of "${launcher%% *}") || failed "rank 1 was not found"
        wait_for_lines killed.jsonl 4 || failed "no lines came"
        kill -9 "$victim"
        start=$SECONDS
        wait $job
        code=$?
        echo "attempt $attempt: exit code $code after $((SECONDS - start)) s"
        assert_says killed.err 'rank 1 '
        [ $((SECONDS - start)) -le 10 ] && [ $code = 137 ] && break
        [ "$attempt" = 3 ] && failed "the end was not as it must be"
    done
    cp killed.jsonl half.jsonl
    # goes on by other ranks, and alone
    ranks 2 "$rogue" "${slow[@]}" -o killed.jsonl --resume >again.out 2>again.err || failed "cannot resume"
    assert_says again.err 'runs were in the file already'
    assert_same local.jsonl killed.jsonl
    "$rogue" "${slow[@]}" -o half.jsonl --resume >half.out 2>half.err || failed "cannot resume in one process"
    assert_says half.err 'begun by 3 ranks, goes on with 1'
    assert_same local.jsonl half.jsonl
    ;;
interrupted)
    # a signal to any one rank ends all of them in good order
    timeout -k 1 60 "$mpirun" --allow-run-as-root --oversubscribe -n 3 "$rogue" bench set -s greedy,rogue_hang --time 60 \
        --transport mpi -o stopped.jsonl </dev/null >stopped.out 2>stopped.err &
    job=$!
    wait_for_lines stopped.jsonl 3 || failed "no lines came"
    launcher=$(cat /proc/$job/task/*/children)
    victim=$(rank_1_of "${launcher%% *}") || failed "rank 1 was not found"
    kill -TERM "$victim"
    wait $job
    code=$?
    [ $code = 130 ] || failed "exit code $code instead of 130"
    assert_says stopped.err 'interrupted: 2 of 4 runs are done; --resume goes on'
    assert_says stopped.out '^Solvers'
    ;;
freezes)
    # a rank that is stopped is named, and the others end
    timeout -k 1 60 "$mpirun" --allow-run-as-root --oversubscribe -n 3 "$rogue" bench set -s greedy,rogue_hang --time 60 \
        --transport mpi -o frozen.jsonl </dev/null >frozen.out 2>frozen.err &
    job=$!
    wait_for_lines frozen.jsonl 3 || failed "no lines came"
    launcher=$(cat /proc/$job/task/*/children)
    victim=$(rank_1_of "${launcher%% *}") || failed "rank 1 was not found"
    kill -STOP "$victim"
    wait $job
    code=$?
    kill -KILL "$victim" 2>/dev/null
    [ $code != 0 ] && [ $code != 124 ] || failed "exit code $code"
    assert_says frozen.err 'rank 1 does not answer: it is stopped'
    ;;
usage)
    ranks 3 "$lxplan" bench set -s greedy -j 2 >j.out 2>j.err
    [ $? = 2 ] || failed "-j must be refused"
    assert_says j.err 'does not go with --transport mpi'
    ranks 3 "$lxplan" bench nowhere >nowhere.out 2>nowhere.err
    [ $? = 2 ] || failed "a folder that is not there must be refused"
    [ "$(grep -c 'no such file or folder' nowhere.err)" = 1 ] || failed "not said once"
    ranks 3 "$lxplan" bench set -s greedy -o r.jsonl -q >one.out 2>one.err || failed "cannot begin"
    cp r.jsonl before.jsonl
    ranks 3 "$lxplan" bench set -s greedy -o r.jsonl >two.out 2>two.err
    [ $? = 2 ] || failed "a file that exists must be refused"
    [ "$(grep -c 'exists already' two.err)" = 1 ] || failed "not said once"
    cmp r.jsonl before.jsonl || failed "the file was changed"
    # ranks that would make other runs than rank 0
    timeout -k 1 60 "$mpirun" --allow-run-as-root --oversubscribe -n 1 "$lxplan" bench set -s greedy --transport mpi \
        -o x.jsonl : -n 1 "$lxplan" bench set -s greedy --seeds 2 --transport mpi -o x.jsonl </dev/null >x.out 2>x.err
    [ $? = 2 ] || failed "other options must be refused"
    assert_says x.err 'rank 1 would make other runs than rank 0: seeds is 2 there and 1 here'
    [ ! -e x.jsonl ] || failed "a file was made all the same"
    # alone, without mpirun
    "$lxplan" bench set -s greedy --transport mpi -o alone.jsonl -q || failed "one process must do"
    ;;
*) failed "there is no case $case" ;;
esac
