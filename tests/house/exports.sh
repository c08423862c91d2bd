#!/bin/sh
# exports.sh LIBRARY ROOT: what the shared library offers is what exports.txt lists and lxplan.h declares, no more and no less; and it
# needs no library but those of the C system.
house=$(dirname "$0")
have=$(mktemp) || exit 2
trap 'rm -f "$have"' EXIT
nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort >"$have"
diff "$house/exports.txt" "$have" || { echo "exports.txt (<) and the library (>) differ"; exit 1; }
grep -E '^LX_API ' "$2/lib/lxplan.h" | grep -oE 'lx_[a-z_]+\(' | tr -d '(' | LC_ALL=C sort | diff - "$have" ||
    { echo "lxplan.h (<) and the library (>) differ"; exit 1; }
foreign=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|libpthread|libdl|ld-linux.*|lib[at]san|libubsan)\.so')
[ -z "$foreign" ] || { echo "the library needs $foreign"; exit 1; }
