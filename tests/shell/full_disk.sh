#!/usr/bin/env bash
# full_disk.sh PROGRAM SOURCES: every command that writes, on a real file system that is full, then on one that is read-only, then with a limit
# of sizes (SIGXFSZ), and into a pipe that nobody reads (SIGPIPE). Exit code 2 with the system's words, the old file as it was, nothing
# beside it. Exit 77: no small file system can be mounted here, and the rest has held.
set -u
if [ "${3:-}" != inside ]; then
    # In a name space of its own, so that the mount goes with it, whatever happens.
    if unshare -m true 2>/dev/null; then exec unshare -m "$0" "$1" "$2" inside; fi
    if unshare -rm true 2>/dev/null; then exec unshare -rm "$0" "$1" "$2" inside; fi
fi
LXPLAN=$1 sources=$2
scratch=$(mktemp -d)
trap 'cd /; umount "$scratch/disk" 2>/dev/null; rm -rf "$scratch"' EXIT
export XDG_CONFIG_HOME=$scratch/config LC_ALL=C.UTF-8 NO_COLOR=1 ASAN_OPTIONS=detect_leaks=0
cd "$scratch" || exit 3
pattern=$sources/patterns/graphs/rms_norm.json
{ "$LXPLAN" gen random --buffers 30 -o list.json && "$LXPLAN" plan "$pattern" -s bestfit --tile none -q -o a.plan &&
    "$LXPLAN" bench list.json -s greedy,firstfit -q -o rows.jsonl; } || exit 3
mkdir disk
bad=0

# Each of them writes disk/out.
commands=(
    "plan list.json -s greedy -o disk/out"
    "plan $sources/patterns/team/uneven_8.json --team 2 -s bestfit --tile none -o disk/out"
    "run a.plan --trace disk/out"
    "show a.plan --svg -o disk/out"
    "show a.plan --html -o disk/out"
    "import $sources/tests/data/models/small.mlir --dim %x:0=128 -o disk/out"
    "import $sources/tests/data/models/small.mlir --dim %x:0=128 -o /dev/null --report disk/out"
    "export a.plan -f perfetto -o disk/out"
    "gen random --buffers 40 -o disk/out"
    "bench list.json -s greedy,firstfit --force -o disk/out"
    "report rows.jsonl --html -o disk/out"
    "sweep list.json -s greedy --steps 2 -j1 -f json -o disk/out"
    "explore a.plan --size 100x30 --script <wait>2 --dump-screen disk/out"
    "help --man $sources/app/lxplan.1.in disk/out"
)

wrong() {
    echo "full_disk.sh: $*"
    bad=1
}

# What each does when the disk is as it is now; the system's words for that.
try_all() {
    local line code said
    for line in "${commands[@]}"; do
        # shellcheck disable=SC2086  # words
        said=$("$LXPLAN" $line 2>&1 </dev/null)
        code=$?
        [ $code = 2 ] || wrong "$1: $line: exit code $code"
        [[ $said == *"$2"* ]] || wrong "$1: $line: it does not say \"$2\": $said"
        [ "$(cat disk/out)" = "as it was" ] || wrong "$1: $line: the old file is gone"
        [ "$(ls disk | grep -vxc 'out\|filler')" = 0 ] || wrong "$1: $line: left is: $(ls disk)"
    done
}

mounted=yes
mount -t tmpfs -o size=16k none disk 2>/dev/null || mounted=no
echo "as it was" >disk/out
if [ $mounted = yes ]; then
    cat /dev/zero >disk/filler 2>/dev/null
    try_all "a full disk" "No space left"
    rm -rf disk/filler
    mount -o remount,ro disk
    try_all "a disk that is read-only" "Read-only file system"
    mount -o remount,rw,size=8m disk
fi
(ulimit -S -f 0; try_all "a limit of sizes" "File too large"; exit $bad) 2>&1 | cat >told
[ ! -s told ] || { cat told; bad=1; }
for line in "${commands[@]}" "help" "solvers" "plan list.json" "report rows.jsonl"; do
    # shellcheck disable=SC2086
    "$LXPLAN" ${line//disk\/out/-} 2>/dev/null </dev/null | :
    code=${PIPESTATUS[0]}
    [ "$code" -lt 126 ] || wrong "a pipe that nobody reads: $line: exit code $code"
done
[ $bad = 0 ] || exit 1
[ $mounted = yes ] || { echo "full_disk.sh: no file system can be mounted here"; exit 77; }
