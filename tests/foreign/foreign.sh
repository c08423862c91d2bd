#!/usr/bin/env bash
# foreign.sh MACHINE NATIVE: tests the library on another machine, emulated, and compares its plans with those of this one.
#   MACHINE: s390x (a preset, a toolchain file beside this, a compiler and an emulator of that name)
#   NATIVE:  plan_hashes of this machine
# Ends with "N tests passed, M plans compared, all equal". Exit: 0; 1 a test failed or a plan differs; 77 cannot be tested here.
set -euo pipefail
machine=$1
native=$(realpath "$2")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$PWD/build-$machine
root=$folder/root
compare=$folder/compare

refuse() {
    echo "foreign: $machine is not tested: $*" >&2
    exit 77
}

# The few libraries that the tests need, of the other machine, by this machine's package sources and keys.
fetch() {
    local apt=$folder/apt log=$folder/apt.log
    local how=(-q -o "APT::Architecture=$machine" -o "APT::Architectures::=$machine" -o APT::Sandbox::User=root
        -o "Dir::State=$apt" -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "Dir::State::status=$apt/status")
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    : >"$apt/status"
    (cd "$apt" && apt-get "${how[@]}" update && apt-get "${how[@]}" download libcmocka0 libcmocka-dev libcjson1 libcjson-dev) \
        >"$log" 2>&1 || { tail -n 5 "$log" >&2; refuse "its packages cannot be had; the lines above say why"; }
    rm -rf "$root"
    local package
    for package in "$apt"/*.deb; do dpkg-deb -x "$package" "$root"; done
    rm -rf "$apt"
}

# Each pattern by itself, so that every core has something to do; lines of one pattern stand in one file.
hash_plans() {
    local out=$1 file
    shift
    rm -rf "$out"
    mkdir -p "$out"
    for file in patterns/*/*.json; do printf '%s\0' "$file" "$out/${file//\//_}"; done |
        xargs -0 -n 2 -P "$(nproc)" bash -c '"${@:1:$#-2}" "${@:$#-1:1}" >"${@:$#}"' plans "$@"
}

for tool in "$machine-linux-gnu-gcc" "qemu-$machine" apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || refuse "there is no $tool"
done
[ -f "$root/usr/include/cmocka.h" ] && [ -f "$root/usr/include/cjson/cJSON.h" ] || fetch
cmake --preset "$machine" -DLXPLAN_WERROR=ON >&2
cmake --build --preset "$machine" >&2
ctest --preset "$machine" -j "$(nproc)" >"$folder/tests.log" 2>&1 || { cat "$folder/tests.log"; exit 1; }
tests=$(sed -n 's/^100% tests passed, 0 tests failed out of //p' "$folder/tests.log")

hash_plans "$compare/native" "$native"
hash_plans "$compare/$machine" "qemu-$machine" -L "/usr/$machine-linux-gnu" "$folder/bin/plan_hashes"
if ! diff -r "$compare/native" "$compare/$machine"; then
    echo "foreign: plans differ (<: of this machine, >: of $machine)" >&2
    exit 1
fi
plans=$(cat "$compare/native"/* | grep -vc '^refused:')
[ "$plans" -ge 200 ] || { echo "foreign: only $plans plans were made" >&2; exit 1; }
echo "$machine: $tests tests passed, $plans plans compared, all equal"
