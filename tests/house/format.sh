#!/bin/sh
# format.sh ROOT [CLANG-FORMAT]: fails when a C file is not as .clang-format says, and names file and line.
# Versions of clang-format disagree with each other, so only the one that Debian 12 has counts; without it the
# test is skipped (77).
version=14
root=$1
tool=$2
if [ -z "$tool" ]; then
    tool=$(command -v clang-format-$version || command -v clang-format) || {
        echo "skipped: no clang-format here (apt-get install clang-format)"
        exit 77
    }
fi
"$tool" --version | grep -q "version $version\\." || {
    echo "skipped: $("$tool" --version | head -n 1) is not version $version, by which the sources are formatted"
    exit 77
}
cd "$root" || exit 2
count=$(find app lib solvers tests -name '*.[ch]' | wc -l)
[ "$count" -ge 100 ] || {
    echo "only $count C files below $root"
    exit 1
}
find app lib solvers tests -name '*.[ch]' -print0 | xargs -0 -n 100 "$tool" --dry-run -Werror || {
    echo "repair: clang-format -i FILE"
    exit 1
}
