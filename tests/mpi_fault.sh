#!/bin/sh
# mpi_fault.sh MPIRUN PROGRAM KIND STEP WORDS PATTERN: three members, of which member 1 misbehaves. The run must
# end within 10 s, with an error that has the words, and with exit code 1 (mpirun itself gives 128 + 9 for a
# process that was killed).
mpirun=$1 program=$2 kind=$3 step=$4 words=$5 pattern=$6
out=$(timeout -k 1 10 "$mpirun" --allow-run-as-root --oversubscribe -n 3 "$program" --fault "$kind" 1 "$step" "$pattern" 2>&1)
code=$?
printf '%s\n' "$out"
echo "exit code $code"
case "$kind $code" in
*" 1" | "dies 137") ;;
*) exit 1 ;;
esac
printf '%s' "$out" | grep -q -e "$words"
