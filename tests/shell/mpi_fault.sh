#!/bin/sh
# mpi_fault.sh MPIRUN PROGRAM KIND WHEN WORDS PATTERN: a grid of four, of which device 1 misbehaves. Within 10 s the
# error with the words must be told and every device have ended, with exit code 1 (mpirun itself gives 128 + 9 for
# a process that was killed).
#
# The devices are judged, not mpirun: with all of them gone mpirun of Open MPI 4.1 itself has been seen to hang or
# crash while it cleans up. Three attempts, for machines so busy that devices do not start together.
mpirun=$1 program=$2 kind=$3 when=$4 words=$5 pattern=$6
out=$(mktemp)
trap 'rm -f "$out"' EXIT

device_lives() {
    for process in /proc/[0-9]*; do
        tr '\0' ' ' 2>/dev/null <"$process/cmdline" | grep -q -e "^$program --fault $kind " && return 0
    done 2>/dev/null
    return 1
}

begun() {
    case $kind in
    dies | stops) grep -q 'mpi_team: now' "$out" ;;
    *) [ -s "$out" ] || device_lives ;;
    esac
}

for attempt in 1 2 3; do
    "$mpirun" --allow-run-as-root --oversubscribe -n 4 "$program" --fault "$kind" 1 "$when" --grid 2x2 "$pattern" >"$out" 2>&1 </dev/null &
    runner=$! code=none tenths=0
    # mpirun may take seconds before it starts anybody, and a busy machine until one stops; their time counts from there.
    while [ $tenths -lt 300 ] && kill -0 $runner 2>/dev/null && ! begun; do
        sleep 0.1
        tenths=$((tenths + 1))
    done
    tenths=0
    while [ $tenths -lt 100 ]; do
        if ! kill -0 $runner 2>/dev/null; then
            wait $runner
            code=$?
            break
        fi
        if [ $tenths -gt 20 ] && grep -q -e "$words" "$out" && ! device_lives; then
            sleep 1
            kill -0 $runner 2>/dev/null && code=left # told, and all gone but mpirun
            [ $code = left ] && break
        fi
        sleep 0.1
        tenths=$((tenths + 1))
    done
    if kill -9 $runner 2>/dev/null; then wait $runner 2>/dev/null; fi
    cat "$out"
    printf 'attempt %s: exit code %s\n' "$attempt" "$code"
    said=no
    grep -q -e "$words" "$out" && said=yes
    case "$kind $code $said" in
    *" 1 yes" | "dies 137 yes" | *" left yes") exit 0 ;;
    *" none "* | *" 134 "* | *" 137 "* | *" 139 "*) ;; # no device could be judged: the next attempt
    *) exit 1 ;;
    esac
done
exit 1
