#!/bin/sh
# golden.sh PROGRAM CASE.sh: runs a script of commands and compares all that it prints (standard output,
# errors and exit codes) with CASE.out beside it. UPDATE=1 writes CASE.out anew; read the diff before you
# commit it. Times differ from run to run and are blanked.
set -u
LXPLAN=$1 case=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
export XDG_CONFIG_HOME=$scratch/config # nobody's own wishes
trap 'rm -rf "$scratch"' EXIT
cd "$root" || exit 3
export LXPLAN scratch LC_ALL=C.UTF-8 COLUMNS=100 NO_COLOR=1
unset SENCORES DXP_LX_FRAC_AVAIL
expected=${case%.sh}.out
sh "$case" >"$scratch/.got" 2>&1
sed -e 's/ in [0-9.,]* *[mun]*s$/ in (time)/' -e "s|$scratch|SCRATCH|g" "$scratch/.got" >"$scratch/.clean"
if [ "${UPDATE:-}" = 1 ]; then
    cp "$scratch/.clean" "$expected"
    exit 0
fi
diff -u "$expected" "$scratch/.clean" || {
    echo "golden.sh: the output differs; if it is right, run: UPDATE=1 tests/shell/golden.sh build/bin/lxplan $case"
    exit 1
}
