#!/bin/sh
# exports.sh LIBRARY ROOT [PROGRAM ARCHIVE]: what the shared library offers is what exports.txt lists and lxplan.h declares, no more and no less; and it
# needs no library but those of the C system. The program needs ncurses besides, and the archive has no global name without lx_.
house=$(dirname "$0")
have=$(mktemp) || exit 2
trap 'rm -f "$have"' EXIT
nm -D --defined-only "$1" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort >"$have"
diff "$house/exports.txt" "$have" || { echo "exports.txt (<) and the library (>) differ"; exit 1; }
grep -E '^LX_API ' "$2/lib/lxplan.h" | grep -oE 'lx_[a-z_]+\(' | tr -d '(' | LC_ALL=C sort | diff - "$have" ||
    { echo "lxplan.h (<) and the library (>) differ"; exit 1; }
foreign=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|libpthread|libdl|ld-linux.*|lib[at]san|libubsan)\.so')
[ -z "$foreign" ] || { echo "the library needs $foreign"; exit 1; }
[ $# = 4 ] || exit 0
foreign=$(ldd "$3" | awk '{ print $1 }' | grep -vE '^(/.*/)?(libc|libm|libncursesw|libtinfo|linux-vdso|linux-gate|ld-linux.*)\.so')
[ -z "$foreign" ] || { echo "the program needs $foreign"; exit 1; }
stray=$(nm -g --defined-only "$4" | awk 'NF == 3 && $3 !~ /^lx_/ { print $3 }')
[ -z "$stray" ] || { echo "the archive has global names without lx_: $stray"; exit 1; }
