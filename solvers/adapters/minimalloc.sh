#!/bin/sh
# MiniMalloc's program as a solver: lxplan bench FILE -s cmd:solvers/adapters/minimalloc.sh,exact --objective fit
# It places all or nothing, and takes no buffer at a fixed address. Written from its sources, run with it by nobody yet. MINIMALLOC is the program (default: minimalloc, on the path).
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cat >"$folder/in.csv"
"${MINIMALLOC:-minimalloc}" --capacity="$LXPLAN_CAPACITY" --timeout="${LXPLAN_TIME:-3600}s" \
    --input="$folder/in.csv" --output="$folder/out.csv" >&2 || exit 1
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { print $at["id"] "," $at["offset"] }' "$folder/out.csv"
