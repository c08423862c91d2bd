#!/bin/sh
# mpi_fault.sh MPIRUN PROGRAM KIND STEP WORDS PATTERN: three members, of which member 1 misbehaves. The run must
# end within 10 s, with an error that has the words, and with exit code 1 (mpirun itself gives 128 + 9 for a
# process that was killed).
#
# Three attempts: with all members gone and the error told, mpirun of Open MPI 4.1 itself has been seen to hang
# or crash while it cleans up, about once in ten runs.
mpirun=$1 program=$2 kind=$3 step=$4 words=$5 pattern=$6
for attempt in 1 2 3; do
    out=$(timeout -k 1 10 "$mpirun" --allow-run-as-root --oversubscribe -n 3 "$program" --fault "$kind" 1 "$step" "$pattern" 2>&1 </dev/null)
    code=$?
    printf '%s\nattempt %s: exit code %s\n' "$out" "$attempt" "$code"
    said=no
    printf '%s' "$out" | grep -q -e "$words" && said=yes
    case "$kind $code $said" in
    *" 1 yes" | "dies 137 yes") exit 0 ;;
    *" 124 "* | *" 137 "* | *" 139 "*) ;; # killed by us or by itself: the next attempt
    *) exit 1 ;;
    esac
done
exit 1
