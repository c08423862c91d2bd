#!/bin/sh
# Predicted beside measured, of plans as programs.
#
#     program_times.sh LXPLAN BENCH_PROGRAMS DEVICE times FILE ...    a row for each graph, then median and worst
#     program_times.sh LXPLAN BENCH_PROGRAMS DEVICE order FILE ...    ten plans of each graph: do both clocks order them alike?
#
# FILE is whatever lxplan plans. DEVICE is that of -D; ON (default gpu) the machine, JOBS (default: all) how many plans are
# made at once. Programs are timed one after the other, and not judged.
set -u
lxplan=$1 bench=$2 device=$3 what=$4
shift 4
folder=$(mktemp -d) && mkdir "$folder/said" || exit 2
trap 'rm -rf "$folder"' EXIT
jobs=${JOBS:-$(nproc)} LC_ALL=C
export lxplan device folder LC_ALL

# Plans the graph $2 by the switches $3 as "NAME.$1".
plan_one='name=$(basename "$2"); "$lxplan" plan "$2" -D "$device" $3 -q -o "$folder/${name%.*}.$1" 2>"$folder/said/$$" ||
    { [ -s "$folder/${name%.*}.$1" ] || echo "$name ($3): $(head -n 1 "$folder/said/$$")"; }'
switches() {
    printf '%s\n' '' '--objective bytes' '--objective time' '--cores 64' '--cores 32' '--cores 16' '--tile none' \
        '-s greedy --tile none --no-ring' '--lx 64k' '--lx 24k --objective bytes'
}

for file in "$@"; do
    if [ "$what" = order ]; then
        switches | awk -v file="$file" '{ printf "%d\n%s\n%s\n", NR, file, $0 }'
    else
        printf '%s\n' 1 "$file" ''
    fi
done | tr '\n' '\0' | xargs -0 -n 3 -P "$jobs" sh -c "$plan_one" plan
"$bench" --on "${ON:-gpu}" --verify none "$folder"/*.[0-9]* >"$folder/rows"
awk -v what="$what" '
function abs(x) { return x < 0 ? -x : x }
# The rank of each of n values, the mean of places among those that are within 1 %.
function ranks(value, n, rank,   i, k, far, less, same) {
    for (i = 1; i <= n; i++) {
        less = same = 0
        for (k = 1; k <= n; k++) {
            far = abs(value[k] - value[i]) > 0.01 * value[i]
            less += far && value[k] < value[i]
            same += !far
        }
        rank[i] = less + (same + 1) / 2
    }
}
function correlation(a, b, n,   i, x, y, z, ma, mb) {
    for (i = 1; i <= n; i++) { ma += a[i] / n; mb += b[i] / n }
    for (i = 1; i <= n; i++) { x += (a[i] - ma) * (b[i] - mb); y += (a[i] - ma) ^ 2; z += (b[i] - mb) ^ 2 }
    return y > 0 && z > 0 ? x / sqrt(y * z) : 0
}
function graph_ends(   i, line) {
    if (n < 2) return
    ranks(p, n, rp)
    ranks(m, n, rm)
    for (i = 1; i <= n; i++) line = line sprintf(" %.1f/%.1f", p[i], m[i])
    printf "%-24s %2d plans, rank correlation %5.2f: predicted/measured us%s\n", graph, n, correlation(rp, rm, n), line
}
!/predicted/ { if (NF) print; next }
{
    for (i = 1; i < NF; i++) {
        if ($i == "predicted") predicted = $(i + 1)
        if ($i == "measured") measured = $(i + 1)
    }
    name = $1
    sub(/\.[0-9]*$/, "", name)
    if (measured <= 0) { print name ": not measured"; next }
    if (what == "order") {
        if (name != graph) { graph_ends(); n = 0; graph = name }
        n++
        p[n] = predicted
        m[n] = measured
    } else {
        off[++n] = abs(predicted / measured - 1)
        printf "%-28s predicted %9.1f measured %9.1f us, off by %+5.0f %%\n", name, predicted, measured, 100 * (predicted / measured - 1)
    }
}
END {
    if (what == "order") { graph_ends(); exit }
    for (i = 1; i <= n; i++)
        for (k = i + 1; k <= n; k++)
            if (off[k] < off[i]) { x = off[i]; off[i] = off[k]; off[k] = x }
    if (n) printf "%d graphs: off by %.0f %% (median), %.0f %% (worst)\n", n, 100 * off[int((n + 1) / 2)], 100 * off[n]
}' "$folder/rows"
