#!/bin/sh
# exports.sh LIBRARY ROOT: what the shared library offers is what exports.txt lists, all of it declared by lxplan.h; and it
# needs no library but those of the C system.
house=$(dirname "$0")
have=$(mktemp) || exit 2
trap 'rm -f "$have"' EXIT
nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort >"$have"
diff "$house/exports.txt" "$have" || { echo "exports.txt (<) and the library (>) differ"; exit 1; }
while read -r name; do
    grep -qE "^LX_API .*[ *]$name\(" "$2/lib/lxplan.h" || { echo "$name is not declared in lxplan.h"; exit 1; }
done <"$have"
foreign=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|libpthread|libdl|ld-linux.*|lib[at]san|libubsan)\.so')
[ -z "$foreign" ] || { echo "the library needs $foreign"; exit 1; }
