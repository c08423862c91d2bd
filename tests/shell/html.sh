#!/bin/bash
# html.sh LXPLAN CASE: a page in a real browser, opened from disk, light and dark: its own test (#selftest: mouse, slider, tables)
# passes, nothing is asked of the network, the console is empty. 77: there is no Chromium here.
set -u
lxplan=$1 case=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root" || exit 3
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "html.sh: no Chromium here, so that pages are not opened; install the package chromium"
    exit 77
}
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C.UTF-8 HOME=$scratch
page=$scratch/page.html
fail() { echo "html.sh: $case: $*"; exit 1; }

hostile() { # names that would like to be markup, scripts, ends of strings
    cat >"$scratch/hostile.json" <<'JSON'
{"lxplan": 1, "kind": "pattern", "name": "</script><script>document.title=1</script>", "device": "spyre",
 "tensors": [{"name": "<img src=x onerror=alert(1)>", "shape": [256, 256], "dtype": "fp16", "role": "input"},
  {"name": "</script><!-- \" ' \\ ${1}", "shape": [256, 256], "dtype": "fp16", "role": "intermediate"},
  {"name": "\u202e\u2028&amp;", "shape": [256, 256], "dtype": "fp16", "role": "output"}],
 "ops": [{"name": "<b>op</b>", "kind": "exp", "inputs": ["<img src=x onerror=alert(1)>"], "output": "</script><!-- \" ' \\ ${1}"},
  {"name": "`;throw 1//", "kind": "exp", "inputs": ["</script><!-- \" ' \\ ${1}"], "output": "\u202e\u2028&amp;"}]}
JSON
}

case $case in
attention) "$lxplan" show patterns/graphs/attention_small.json --lx 16k --tile none --objective bytes --html --remedies -o "$page" ;;
moe) "$lxplan" show patterns/graphs/moe_mlp.json --lx 100k --objective bytes --html -o "$page" ;;
nests) "$lxplan" show tests/data/graphs/tiled_attention.json --lx 6k --nests 1-7:h/4,s/4 --html -o "$page" &&
    grep -q '"nests": \[{"first"' "$page" || fail "no nest in the page" ;;
pools) "$lxplan" show patterns/lists/two_pools.json --html -o "$page" ;;
hostile) hostile && "$lxplan" show "$scratch/hostile.json" --html -o "$page" ;;
team) hostile && "$lxplan" plan "$scratch/hostile.json" --team 2x2 -q -o "$scratch/team.json" &&
    "$lxplan" show "$scratch/team.json" --html -o "$page" ;;
large) "$lxplan" gen random --buffers 2000 --seed 1 -o "$scratch/large.json" &&
    "$lxplan" show "$scratch/large.json" -s bestfit --html -o "$page" ;;
report) "$lxplan" bench patterns/targets -s greedy,bestfit,exact -q -o "$scratch/r.jsonl" &&
    "$lxplan" report "$scratch/r.jsonl" --html -o "$page" ;;
suite) "$lxplan" bench --suite tight_20 random_16 mha_16k rms_norm -s greedy,exact -q -o "$scratch/r.jsonl" &&
    "$lxplan" report "$scratch/r.jsonl" --html -o "$page" && grep -q '"graphs/rms_norm": {"path"' "$page" ;;
compare) "$lxplan" bench patterns/targets/gqattention.json -s greedy,bestfit -q -o "$scratch/a.jsonl" &&
    "$lxplan" bench patterns/targets/gqattention.json -s greedy,bestfit -q -o "$scratch/b.jsonl" &&
    "$lxplan" report "$scratch/a.jsonl" "$scratch/b.jsonl" --html -o "$page" ;;
sweep) "$lxplan" sweep patterns/graphs/moe_mlp.json --tile none --lx 16k..2m --steps 20 --cores 8,32 --html -o "$page" ;;
*) fail "no such case" ;;
esac
[ -s "$page" ] || fail "no page was made"
# Nothing from elsewhere: the only address is the name of SVG's namespace.
others=$(grep -oE '(https?:)?//[a-zA-Z0-9.-]+\.[a-z]+[^" ]*|(src|href)=["'"'"'][^"'"'"']*' "$page" | grep -v -e '^http://www.w3.org/2000/svg' -e '^href="data:,$')
[ "$case" = hostile ] || [ "$case" = team ] || [ -z "$others" ] || fail "the page names other places: $others"

schemes='light dark'
case $case in attention | moe | nests | pools | large | compare | team | sweep) schemes=light ;; esac # the same styles as others
for scheme in $schemes; do
    number=1
    [ $scheme = dark ] && number=0
    timeout -k 5 200 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-extensions \
        --user-data-dir="$scratch/profile_$scheme" --blink-settings=preferredColorScheme=$number --enable-logging=stderr \
        --virtual-time-budget=4000 --window-size=1400,1000 --dump-dom "file://$page#selftest" >"$scratch/dom" 2>"$scratch/log" ||
        { tail -5 "$scratch/log"; fail "the browser ends with $?"; }
    sed -n '/<pre id="selftest">/,/<\/pre>/p' "$scratch/dom" | sed 's/.*<pre id="selftest">//' >"$scratch/verdict"
    grep -q "selftest: .* all ok; theme $scheme" "$scratch/verdict" || { cat "$scratch/verdict"; grep CONSOLE "$scratch/log"; fail "in $scheme the page's own test fails"; }
    grep 'CONSOLE' "$scratch/log" && fail "in $scheme the console has something to say"
    case $case in
    hostile | team) grep -q '<title>1</title>' "$scratch/dom" && fail "a name was run" ;;
    esac
    [ "$case" != team ] || ! grep -q '<img\|<b>op' "$scratch/dom" || fail "a name is markup"
    [ "$case" != team ] || grep -q 'sharded along 0' "$scratch/dom" || fail "the page does not say how tensors are sharded"
done
# Without scripts, as a reader of mail or a printer has it: all that the plan is.
case $case in
attention | moe | nests | pools | hostile | large)
    sed "0,/script-src 'unsafe-inline'/s//script-src 'none'/" "$page" >"$scratch/still.html"
    timeout -k 5 200 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-extensions \
        --user-data-dir="$scratch/profile_still" --dump-dom "file://$scratch/still.html" >"$scratch/dom" 2>"$scratch/log" ||
        { tail -5 "$scratch/log"; fail "without scripts the browser ends with $?"; }
    sed -i '/<script type="application/,$d' "$scratch/dom"
    for words in '<svg' 'class="buffer"' 'class="curve"' 'hash of the pattern' 'to plan it again' 'lxplan plan PATTERN -s' 'made by' \
        'proven least' '<th scope="col">why</th>'; do
        grep -q -e "$words" "$scratch/dom" || fail "without scripts the page does not have: $words"
    done
    [ "$case" = pools ] || [ "$case" = large ] || grep -q '<th scope="col">splits</th>' "$scratch/dom" || fail "no ops without scripts"
    [ "$case" != large ] || grep -q 'the largest 1,000' "$scratch/dom" || fail "it does not say that some are left out"
    [ "$case" != hostile ] || ! grep -q '<img\|<b>op' "$scratch/dom" || fail "a name is markup"
    [ "$(grep -o '<table' "$scratch/dom" | wc -l)" -ge 2 ] || fail "too few tables without scripts"
    ;;
esac
cat "$scratch/verdict"
exit 0
