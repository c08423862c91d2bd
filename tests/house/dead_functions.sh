#!/bin/sh
# Fails when a function of lib or solvers has no user but the tests (design: on the road, or not there).
# dead_functions.txt lists those that wait for a part of the plan that will use them; an entry that is no longer needed
# is red, too. Looks at the sources only, so that it takes a second and needs no build.
#
#     dead_functions.sh ROOT
house=$(dirname "$0")
cd "$1" || exit 2
found=$(find lib solvers app \( -name '*.[ch]' -o -name '*.inc' -o -name '*.def' \) | sort |
        xargs awk -f "$house/dead_functions.awk" "$house/dead_functions.txt" | sort) || exit 2
[ -z "$found" ] && exit 0
echo "$found"
exit 1
