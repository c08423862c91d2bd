#!/usr/bin/env bash
# dictionary.sh TARGET: words for libFuzzer, one per line in quotes: those in which the sources of the target's reader have
# their words.
set -euo pipefail
cd "$(dirname "$0")/../.."
case $1 in
ttir) files=(lib/import/{,*/}{ttir,layers,element,ops,type_}*) words='[a-z_]+\.[a-z_]+|[a-z_0-9]{2,24}' ;;
stable) files=(lib/import/{,*/}{stable,ttir,ops}*) words='[a-z_0-9]{2,24}' ;;
hlo) files=(lib/import/{,*/}{hlo,element,ops,type_,window}*) words='[a-z_0-9-]{2,24}' ;;
onnx) files=(lib/import/{,*/}{onnx,layers,ops,type_}*) words='[A-Za-z_]{3,24}' ;;
loops) files=(lib/loops/*.[ch]) words='[a-z_0-9]{1,24}' ;;
results) files=(app/bench/*.[ch]) words='[a-z_]{2,24}' ;;
command | script) files=(app/*.[ch] app/*/*.[ch] lib/plan/options.c lib/search/request.c solvers/*/*.c) words='[a-z-]{2,24}' ;;
team_plan) files=(lib/team/*.[ch]) words='[a-z_ ]{2,24}' ;;
joint) files=(lib/api/joint*) words='[a-z_]{2,24}' ;;
plan_file) files=(lib/planfile/*.[ch]) words='[a-z_]{2,24}' ;;
*) files=(lib/graph/*.[ch] lib/files/*.[ch] lib/graph/kinds.def lib/check/check_xla.c) words='[a-z_0-9]{2,24}' ;;
esac
grep -ohE "\"($words)\"" "${files[@]}" | sort -u
printf '"%s"\n' 0 1 -1 128 9007199254740992 9223372036854775807 1e300
