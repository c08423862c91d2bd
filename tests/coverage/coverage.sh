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

# All but what looks at sources and pages, and what repeats the rest with other passes and solvers.
run() {
    [ -n "${KEEP:-}" ] || find "$build" -name '*.gcda' -delete
    : >"$GCOV_ERROR_FILE"
    ctest --test-dir "$build" --output-on-failure -j "$(nproc)" ${only:+-R "$only"} \
        -E '^(house|matrix|html|completion)/|^bench/kernels$|^pattern/.*/(greedy|bestfit|firstfit|anneal|exact|ilp)' >&2 || failed=1
}

capture() {
    lcov --quiet --capture --directory "$objects" --base-directory "$root" --output-file "$info.all" >&2
    lcov --quiet --extract "$info.all" "$root/lib/*" "$root/solvers/*" "$root/app/*" --output-file "$info" >&2
    rm -f "$info.all"
}

# A file of which nothing ran has no counts to be captured.
never_ran() {
    find "$objects" -name '*.gcno' | grep -E '/(lib|solvers|app)/' | while read -r notes; do
        [ -f "${notes%.gcno}.gcda" ] || echo "${notes#"$objects"/*.dir/}"
    done | sed 's/\.c\.gcno$/.c/' | while read -r file; do
        grep -q "^SF:.*/$file$" "$info" || echo "$file: nothing of it ran" >&2
    done
}

table() {
    awk -v root="$root/" '
        /^SF:/ { file = substr($0, 4 + length(root)); folder = file; sub(/\/[^\/]*$/, "", folder)
                 top = file; sub(/\/.*/, "", top) }
        /^DA:/ { split(substr($0, 4), at, ","); n[folder]++; n[top "/*"]++
                 if (at[2] > 0) { hit[folder]++; hit[top "/*"]++ } }
        END { for (f in n) printf "%s %d %d\n", f, n[f], hit[f] }' "$info" | sort |
        awk 'BEGIN { printf "%-28s %8s %8s %7s\n", "folder", "lines", "ran", "share" }
             { printf "%-28s %8d %8d %6.1f%%\n", $1, $2, $3, 100 * $3 / $2 }'
}

uncovered() {
    awk -v root="$root/" '
        /^SF:/ { file = substr($0, 4 + length(root)) }
        /^DA:/ { split(substr($0, 4), at, ","); n[file]++
                 if (at[2] <= 0) { left[file]++; where[file] = where[file] " " at[1] } }
        END { for (f in left) printf "%d of %d %s:%s\n", left[f], n[f], f, where[f] }' "$info" | sort -rn
}

failed=
[ -n "${REPORT:-}" ] || run
capture
never_ran
uncovered >"$build/uncovered.txt"
table
[ ! -s "$GCOV_ERROR_FILE" ] || echo "counts that were not written: $GCOV_ERROR_FILE" >&2
[ -z "$failed" ]
