#!/usr/bin/env bash
# campaign.sh BUILD MINUTES [TARGET ...]: drives each target of BUILD by libFuzzer for its share of the minutes, as many at once as there are
# processors, and prints a table of what came of it. Fails when there was a crash, a leak or a hang; the inputs stay in
# BUILD/fuzz/TARGET.found, and what was reached in BUILD/fuzz/TARGET.reached, from which the next campaign goes on.
set -euo pipefail
build=$(cd "$1" && pwd) minutes=$2 # some targets change their folder
here=$(cd "$(dirname "$0")" && pwd)
# Seconds for one input, and MiB: a hang, and memory that no small file should need.
slowest=60 memory=3000
targets=("${@:3}")
if [ $# -le 2 ]; then
    targets=("$build"/bin/fuzz_*)
    targets=("${targets[@]##*/fuzz_}")
fi
atonce=$(nproc)
[ "$atonce" -le ${#targets[@]} ] || atonce=${#targets[@]}
rounds=$(((${#targets[@]} + atonce - 1) / atonce))
seconds=$((minutes * 60 / rounds))
[ $seconds -ge 5 ] || seconds=5

# How many of the inputs that were kept begin with a word.
found() {
    find "$folder.found" -name "$1-*" | wc -l
}

# One target, in processes of which one follows the other, so that a fault that was found does not end the rest of its time. Leaks are
# looked for at the end of each: after every input it would take seconds.
drive() {
    local target=$1 folder=$build/fuzz/$1 ends executions=0 edges=0 leaks=0 one
    "$here/seeds.sh" "$build/bin/lxplan" "$folder" "$target"
    "$here/dictionary.sh" "$target" >"$folder.words"
    rm -rf "$folder.found"
    mkdir -p "$folder.found" "$folder.reached"
    ends=$((SECONDS + seconds))
    while [ $((ends - SECONDS)) -gt 1 ]; do
        ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:handle_abort=1 UBSAN_OPTIONS=halt_on_error=1 \
            "$build/bin/fuzz_$target" -max_total_time=$((ends - SECONDS)) -timeout=$slowest -rss_limit_mb=$memory -malloc_limit_mb=$memory \
            -max_len=32768 -dict="$folder.words" -artifact_prefix="$folder.found/" -close_fd_mask=3 -print_final_stats=1 -detect_leaks=0 -report_slow_units=$slowest \
            "$folder.reached" "$folder" >"$folder.log" 2>&1 || true
        one=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder.log" | tail -n 1)
        executions=$((executions + ${one:-0}))
        one=$(grep -o 'cov: [0-9]*' "$folder.log" | tail -n 1 | cut -d' ' -f2 || true)
        [ "${one:-0}" -le $edges ] || edges=$one
        ! grep -q 'LeakSanitizer: detected' "$folder.log" || { leaks=$((leaks + 1)) && cp "$folder.log" "$folder.found/leaks.$leaks"; }
        [ "$(find "$folder.found" -type f | wc -l)" -lt 20 ] || break
    done
    printf '%-12s %12d %10d %8d %8d %6d %6d\n' "$target" "$executions" $((executions / seconds)) "$edges" \
        "$(($(found crash) + $(found oom)))" $leaks "$(found timeout)"
    [ -z "$(ls "$folder.found")" ]
}

# Every `atonce`-th target from the one of that number on.
drive_share() {
    local at fault=0
    for ((at = $1; at < ${#targets[@]}; at += atonce)); do
        drive "${targets[$at]}" || fault=1
    done
    return $fault
}

fault=0 shares=()
printf '%-12s %12s %10s %8s %8s %6s %6s\n' target executions 'per second' edges crashes leaks hangs
for ((core = 0; core < atonce; core++)); do
    drive_share $core &
    shares+=($!)
done
for share in "${shares[@]}"; do
    wait "$share" || fault=1
done
[ $fault = 0 ] || echo "inputs are in $build/fuzz/*.found; BUILD/bin/fuzz_TARGET FILE repeats one, with -detect_leaks=1 a leak"
exit $fault
