#!/usr/bin/env bash
# try.sh LXPLAN FUZZ_TARGET FOLDER MUTATIONS: collects the seeds of a target in FOLDER, and drives it over them.
set -euo pipefail
lxplan=$1 program=$2 folder=$3 mutations=$4
"$(dirname "$0")/seeds.sh" "$lxplan" "$folder" "$(basename "$program" | sed 's/^fuzz_//')"
exec "$program" "$mutations" "$folder"
