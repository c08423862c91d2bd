#!/bin/sh
# Fails when a function of lib or solvers has no user but the tests (design: on the road, or not there).
# Looks at the sources only, so that it takes a second and needs no build.
#
#     dead_functions.sh ROOT
house=$(dirname "$0")
cd "$1" || exit 2
found=$(find lib solvers app \( -name '*.[ch]' -o -name '*.inc' -o -name '*.def' \) | sort |
        xargs awk -f "$house/dead_functions.awk" | sort) || exit 2
[ -z "$found" ] && exit 0
echo "$found"
exit 1
