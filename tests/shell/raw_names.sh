#!/bin/sh
# raw_names.sh PROGRAM: names with escape sequences, as tables for programs: a terminal gets none of them, a pipe gets them as they are.
# Exit 77: script(1), which makes the terminal, is not here.
set -u
LXPLAN=$1
command -v script >/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CONFIG_HOME=$scratch/config LC_ALL=C.UTF-8
escape=$(printf '\033')
list=$scratch/list.csv
printf 'id,lower,upper,size\na\033]0;owned\007,0,9,400\nb,2,5,300\n' >"$list"
for command in "show $list -s greedy --lx 2k --buffers -f csv" "export $list -f minimalloc -q"; do
    $LXPLAN $command | grep -q "$escape" || { echo "raw_names.sh: $command: a pipe does not get the name"; exit 1; }
    script -qec "$LXPLAN $command" /dev/null </dev/null >"$scratch/out"
    grep -q 'a?]0;owned?' "$scratch/out" || { echo "raw_names.sh: $command: the name is not there"; cat -v "$scratch/out"; exit 1; }
    ! grep -q "$escape" "$scratch/out" || { echo "raw_names.sh: $command: an escape gets through"; cat -v "$scratch/out"; exit 1; }
done
