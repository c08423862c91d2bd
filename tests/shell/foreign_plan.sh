#!/bin/sh
# foreign_plan.sh PROGRAM LXPLAN NAME: a plan that PROGRAM has written is accepted by check and executed by run; with
# one address of it changed it is neither.
set -e
file=$(mktemp)
trap 'rm -f "$file"' EXIT
"$1" "$3" >"$file"
"$2" check "$file"
"$2" run "$file" >/dev/null
sed 's/"hbm":[[:space:]]*[0-9]*/"hbm": 128/' "$file" >"$file.2"
mv "$file.2" "$file"
if "$2" check "$file"; then echo "foreign_plan.sh: accepted with all tensors on the same bytes"; exit 1; fi
if "$2" run "$file" >/dev/null 2>&1; then echo "foreign_plan.sh: ran with all tensors on the same bytes"; exit 1; fi
