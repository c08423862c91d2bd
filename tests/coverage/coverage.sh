#!/usr/bin/env bash
# coverage.sh BUILD [TEXT]: runs the suite in a build for coverage (from nothing: what older runs counted is removed) and prints the
# share of lines that ran, by folder. With KEEP=1 counts go on, with TEXT only tests of such names run; REPORT=1 runs none.
# BUILD/coverage.info is for genhtml; BUILD/uncovered.txt has the files with most lines that did not run, and these lines.
set -euo pipefail
build=$(cd "$1" && pwd) only=${2:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
info=$build/coverage.info
objects=$build/CMakeFiles
# What the processes have to say about their counts must not be in what a test compares.
export GCOV_ERROR_FILE=$build/gcov.log

# All but what looks at sources and pages, what repeats the rest with other passes and solvers, and a test that runs the program as
# somebody who may not write the counts.
run() {
    [ -n "${KEEP:-}" ] || find "$build" -name '*.gcda' -delete
    : >"$GCOV_ERROR_FILE"
    ctest --test-dir "$build" --output-on-failure -j "$(nproc)" ${only:+-R "$only"} \
        -E '^(house|matrix|html|completion)/|^bench/kernels$|^pattern/.*/(greedy|bestfit|firstfit|anneal|exact|ilp)' >&2 || failed=1
}

# Threads count without locks: a count may be negative, which says that the line ran.
capture() {
    rm -f "$info"
    lcov --quiet --capture --directory "$objects" --base-directory "$build" --output-file "$info" \
        --include "$root/lib/*" --include "$root/solvers/*" --include "$root/app/*" 2>&1 | grep -v '^Subroutine .* redefined' >&2 || true
    [ -s "$info" ]
}

# A file of which nothing ran has no counts to be captured; one without functions never has any.
never_ran() {
    find "$objects" -name '*.gcno' -size +99c | grep -E '/(lib|solvers|app)/' | while read -r notes; do
        [ -f "${notes%.gcno}.gcda" ] || echo "${notes#"$objects"/*.dir/}"
    done | sed 's/\.gcno$//' | while read -r file; do
        grep -q "^SF:.*/$file$" "$info" || echo "$file: nothing of it ran" >&2
    done
}

# FILE LINE and whether it ran, for each line once, in whichever objects it is.
lines() {
    awk -v root="$root/" '
        /^SF:/ { file = substr($0, 4 + length(root)) }
        /^DA:/ { split(substr($0, 4), at, ","); ran[file " " at[1]] += at[2] != 0 }
        END { for (line in ran) print line, (ran[line] > 0) }' "$info" | sort -k1,1 -k2,2n
}

table() {
    lines | awk '{ folder = $1; sub(/\/[^\/]*$/, "", folder); top = $1; sub(/\/.*/, "", top)
                   n[folder]++; n["all of " top]++; ran[folder] += $3; ran["all of " top] += $3 }
                 END { for (f in n) printf "%-28s %8d %8d %6.1f%%\n", f, n[f], ran[f], 100 * ran[f] / n[f] }' | sort |
        sed "1i\\$(printf '%-28s %8s %8s %7s' folder lines ran share)"
}

uncovered() {
    lines | awk '{ n[$1]++ } !$3 { left[$1]++; where[$1] = where[$1] " " $2 }
                 END { for (f in left) printf "%d of %d %s:%s\n", left[f], n[f], f, where[f] }' | sort -rn
}

failed=
[ -n "${REPORT:-}" ] || run
capture
never_ran
uncovered >"$build/uncovered.txt"
table
cat "$GCOV_ERROR_FILE" >&2
[ -z "$failed" ]
