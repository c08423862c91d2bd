#!/bin/bash
# bench_file.sh ROGUE CASE: the results file of `bench` belongs to one bench, and is not lost without a word.
rogue=$1 case=$2
folder=$(mktemp -d /tmp/lxplan_bench_file_XXXXXX) || exit 1
trap 'cd /; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir set
printf 'id,lower,upper,size\na,0,4,60\nb,1,3,50\nc,2,6,40\nd,5,9,70\ne,3,8,30\n' >set/a.100.csv
printf 'id,lower,upper,size\nx,0,4,32\ny,1,3,16\nz,2,6,48\nv,0,9,8\n' >set/b.64.csv

failed() { echo "FAILED: $*"; cat ./*.out ./*.err 2>/dev/null; exit 1; }

assert_says() { grep -q -e "$2" "$1" || failed "$1 does not say: $2"; }

assert_lines() { [ "$(wc -l <"$1")" = "$2" ] || failed "$1 has $(wc -l <"$1") lines instead of $2"; }

wait_for_lines() {
    for _ in $(seq 1000); do
        [ "$(wc -l 2>/dev/null <"$1")" -ge "$2" ] 2>/dev/null && return 0
        sleep 0.02
    done
    failed "no lines came"
}

# A bench that has written one row and is busy with the next for some seconds; `$job` is its number.
begin_slow() {
    "$rogue" bench set/a.100.csv -s greedy,rogue_hang,bestfit --time "$1" -o r.jsonl >first.out 2>first.err &
    job=$!
    wait_for_lines r.jsonl 2
}

# The slow bench must end with an error that tells of the loss.
assert_loss_is_told() {
    wait $job
    code=$?
    [ $code = 2 ] || failed "$1: exit code $code instead of 2"
    assert_says first.err 'r.jsonl: removed, replaced or changed by somebody else during the bench'
}

# Several of `bench "$@"` at one moment; `codes` holds their exit codes, sorted.
at_once() {
    local jobs=() ends=() n
    for n in 1 2 3 4 5 6; do
        "$rogue" bench set -s greedy,bestfit -o r.jsonl "$@" >"$n.out" 2>"$n.err" &
        jobs+=($!)
    done
    for n in "${jobs[@]}"; do
        wait "$n"
        ends+=($?)
    done
    codes=$(printf '%s\n' "${ends[@]}" | sort | tr '\n' ' ')
}

case $case in
force)
    # a second bench may not take the file of a running one, whatever it asks for
    begin_slow 4
    "$rogue" bench set -s greedy -o r.jsonl -q --force 2>second.err
    [ $? = 2 ] || failed "--force must be refused"
    assert_says second.err 'another bench is writing to this file'
    "$rogue" bench set -s greedy -o r.jsonl -q 2>second.err
    [ $? = 2 ] || failed "a file that exists must be refused"
    assert_says second.err 'exists already'
    wait $job || failed "the first bench was disturbed"
    assert_lines r.jsonl 4
    "$rogue" bench set -s greedy -o r.jsonl -q --force || failed "a finished file must be replaced"
    assert_lines r.jsonl 3
    ;;
create)
    # of those that make the same file at one moment one wins, and it keeps all its rows
    for _ in $(seq 8); do
        rm -f r.jsonl
        at_once
        [ "$codes" = "0 2 2 2 2 2 " ] || failed "exit codes $codes"
        assert_lines r.jsonl 5
    done
    grep -q -e 'exists already' -e 'another bench' ./*.err || failed "no word about it"
    ;;
resume)
    # those that go on with a torn file take turns: no row is lost, none is there twice
    "$rogue" bench set -s greedy,bestfit -o whole.jsonl -q || failed "cannot begin"
    for _ in $(seq 15); do
        head -c -20 whole.jsonl >r.jsonl
        at_once --resume
        [ "$codes" = "0 0 0 0 0 0 " ] || failed "exit codes $codes"
        assert_lines r.jsonl 5
        [ "$(sed -E 's/"(solver_seconds|wall_seconds|cpu_seconds|peak_kb)".*//' r.jsonl | sort -u | wc -l)" = 5 ] ||
            failed "a row is there twice"
    done
    ;;
removed)
    begin_slow 1
    rm r.jsonl
    assert_loss_is_told "rm"
    [ ! -e r.jsonl ] || failed "a file with half of the rows was made"
    ;;
moved)
    begin_slow 1
    mv r.jsonl elsewhere.jsonl
    assert_loss_is_told "mv"
    assert_lines elsewhere.jsonl 3
    ;;
replaced)
    begin_slow 1
    cp r.jsonl other.jsonl
    mv other.jsonl r.jsonl
    assert_loss_is_told "mv over it"
    assert_lines r.jsonl 2
    ;;
emptied)
    begin_slow 1
    : >r.jsonl
    assert_loss_is_told "emptying"
    ;;
interrupted)
    # the loss is told at the end too, when no further row is written
    begin_slow 60
    rm r.jsonl
    kill -INT $job
    assert_loss_is_told "rm and a signal"
    ;;
readers)
    # whoever reads while a file is replaced sees a whole header
    "$rogue" bench set -s greedy -o r.jsonl -q || failed "cannot begin"
    (for _ in $(seq 30); do "$rogue" bench set -s greedy -o r.jsonl -q --force || exit 1; done) &
    job=$!
    reads=0
    while kill -0 $job 2>/dev/null; do
        IFS= read -r line <r.jsonl || failed "half a header after $reads reads"
        [[ $line == '{"lxplan": 1, "kind": "results"'*'}' ]] || failed "not a header: $line"
        reads=$((reads + 1))
    done
    wait $job || failed "a bench failed"
    [ $reads -gt 30 ] || failed "only $reads reads"
    ;;
unwritable)
    # nothing is left behind where nothing can be written, and what was there stays
    "$rogue" bench set -s greedy -o no/such/folder.jsonl 2>a.err
    [ $? = 2 ] || failed "a folder that is not there must be an error"
    "$rogue" bench set -s greedy -o - >b.out 2>b.err
    [ $? = 2 ] && [ ! -e ./- ] || failed "results cannot go to standard output"
    assert_says b.err 'results must go to a regular file'
    full() (trap '' XFSZ; ulimit -S -f 0; "$rogue" bench set -s greedy -o r.jsonl "$@" 2>&1)
    full | grep -q 'r.jsonl: cannot write' || failed "a full disk must be an error"
    [ -z "$(ls r.jsonl* 2>/dev/null)" ] || failed "a file without results was left behind"
    "$rogue" bench set -s greedy -o r.jsonl -q || failed "cannot begin"
    cp r.jsonl before.jsonl
    full --force | grep -q 'r.jsonl: cannot write' || failed "a full disk must be an error with --force"
    cmp r.jsonl before.jsonl || failed "the old results are gone"
    ;;
*) failed "there is no case $case" ;;
esac
exit 0
