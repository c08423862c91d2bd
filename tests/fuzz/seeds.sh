#!/usr/bin/env bash
# seeds.sh LXPLAN FOLDER TARGET: fills FOLDER with what the fuzzer's target begins with: files of the repository, and what the
# program makes of them. Nothing of it is kept in the repository.
set -euo pipefail
lxplan=$1 folder=$2 target=$3
tests=$(cd "$(dirname "$0")/.." && pwd)
patterns=$(cd "$tests/../patterns" && pwd)
export ASAN_OPTIONS=detect_leaks=0
rm -rf "$folder"
mkdir -p "$folder"

# Copies of files that are small enough to be tried often, each under a name that says where it is from.
take() {
    local file most=$1
    shift
    for file in "$@"; do
        [ "$(wc -c <"$file")" -gt "$most" ] || cp "$file" "$folder/$(basename "$(dirname "$file")")_$(basename "$file")"
    done
}

# Plans of a pattern by several solvers and passes.
plans() {
    local file name
    for file in "$@"; do
        name=$(basename "$file" .json)
        "$lxplan" plan "$file" -s bestfit -q --tile none -o "$folder/$name.bestfit.json" || true
        "$lxplan" plan "$file" -q --evict --move --work 500 -o "$folder/$name.moved.json" || true
        "$lxplan" plan "$file" -q --lx 30% --work 500 -o "$folder/$name.tight.json" 2>/dev/null || true
    done
}

# The pattern of small_files.h.
small=$(sed -n '/small_pattern/,/;$/p' "$tests/fuzz/small_files.h" | sed -n 's/^ *"\(.*\)";*$/\1/p' | tr -d '\n' | sed 's/\\"/"/g; s/\\n//g')

case $target in
pattern)
    take 6000 "$patterns"/*/*.json "$tests"/data/malformed/*.json "$tests"/data/graphs/*.json
    ;;
plan_file)
    take 20000 "$tests"/data/plans/*.json "$tests"/data/old/*.json
    plans "$patterns"/targets/{simple_eviction,needs_moves,staircase}.json "$patterns"/lists/*.json \
        "$patterns"/graphs/{softmax_512x1024,rms_norm,matmul_small,swiglu,stencil_star}.json
    printf '%s' "$small" >"$folder.small.json"
    plans "$folder.small.json"
    rm "$folder.small.json"
    ;;
loops)
    number=0
    grep -o '"input":{[^}]*}' "$tests/data/cases/loops.json" | sort -u | sed 's/"input":{/{"lxplan": 1, "kind": "loops", /' |
        while read -r nest; do
            printf '%s' "$nest" >"$folder/nest_$((number += 1)).json"
        done
    for text in 'ab,bc->ac' '[[0,1],[1,2]->[0,2]],[2,3]->[0,3]' '[0,1]->[1,0]' 'abc,abd->acd'; do
        printf '%s' "$text" >"$folder/tree_$((number += 1))"
    done
    ;;
lists)
    take 3000 "$patterns"/lists/*.json "$patterns"/targets/*.json "$tests"/data/malformed/*.csv
    for name in "$patterns"/targets/*.json; do
        for format in minimalloc xla; do
            "$lxplan" export "$name" -q --format $format -o "$folder/$(basename "$name" .json).$format.csv" || true
        done
    done
    printf '%s' '{"requests": [[0, 0, 2, 64, -1], [0, 2, 2, 4, -1]], "variables": [{"placement": "NA", "bound": false, "domain": {"scratch": [0], "spill": [1]}}]}' >"$folder/d2m.json"
    "$lxplan" gen d2m -o "$folder/d2m_made.json" -q 2>/dev/null || true
    cat >"$folder/dsa.json" <<'END'
{"schema_version": 1, "profile": "standard_dsa", "instance": "three", "problem": {"pools": [{"id": 0, "name": "L1", "capacity": 64},
{"id": 4, "capacity": 32, "reserved_ranges": [{"lower": 0, "upper": 8}]}], "buffers": [
{"id": 1, "size": 16, "alignment": 4, "live_intervals": [{"lower": 0, "upper": 4}, {"lower": 6, "upper": 8}], "allowed_pools": [0, 4]},
{"id": 2, "size": 8, "live_intervals": [{"lower": 2, "upper": 7}], "allowed_pools": [0]},
{"id": 3, "size": 8, "live_intervals": [{"lower": 1, "upper": 3}], "allowed_pools": [4]}]}}
END
    ;;
ttir | hlo | onnx)
    "$(dirname "$lxplan")/model_seeds" $target "$folder"
    # Those that stand in tests as here-documents.
    awk -v folder="$folder" '/<<.END./ {name = folder "/golden_" ++count; next} /^END$/ {name = ""} name {print >name}' "$tests/golden/models.sh"
    for name in "$folder"/golden_*; do
        case $target:$(grep -o -m1 'HloModule\|func.func' "$name" || true) in
        hlo:HloModule | ttir:func.func) ;;
        *) rm "$name" ;;
        esac
    done
    ;;
stable)
    take 20000 "$tests"/data/stable/*.mlir
    ;;
joint)
    cat >"$folder/two" <<'END'
{"lxplan": 1, "kind": "joint", "capacity": 1024, "alignment": 128, "objective": "cost", "buffers": [
{"name": "a", "live": [0, 2], "off": 1000, "menu": [{"bytes": 512, "cores": 2, "squares": 4}, {"bytes": 1024}], "seed": 1,
 "readers": [{"buffer": 1, "pairs": [[0, 0], [1, 1]]}]},
{"name": "b", "live": [1, 4], "off": 700, "menu": [{"bytes": 512, "cores": 2}, {"bytes": 1024}], "parents": [0],
 "readers": [{"buffer": 2, "pairs": [[0, 0]]}]},
{"name": "c", "live": [3, 5], "off": 10, "menu": [{"bytes": 256}], "barred": "an output", "first_use_is_read": true}]}
END
    sed 's/"cost"/"lexicographic"/; s/1024, "alignment": 128/640, "alignment": 96/' "$folder/two" >"$folder/tight"
    cat >"$folder/copy" <<'END'
{"lxplan": 1, "kind": "joint", "capacity": 1024, "objective": "cost", "buffers": [
{"name": "a", "live": [0, 3], "off": 1000, "menu": [{"bytes": 512}, {"bytes": 256}],
 "readers": [{"buffer": 1, "pairs": [[0, 0], [0, 1], [1, 1]]}, {"buffer": 2, "pairs": [[0, 0]]}]},
{"name": "b", "live": [1, 3], "off": 7, "menu": [{"bytes": 512}, {"bytes": 256}], "readers": [{"buffer": 2, "pairs": [[1, 0]]}]},
{"name": "c", "live": [2, 3], "off": 10, "menu": [{"bytes": 256}], "kept": true, "parents": [0]},
{"name": "copy", "live": [1, 3], "off": 0, "menu": [{"bytes": 256}], "copy_of": 0, "prices": [3.5, 70],
 "readers": [{"buffer": 1, "pairs": [[1, 0]]}, {"buffer": 2, "pairs": [[1, 0]]}]}],
"terms": [{"axes": [{"buffer": 0, "on": true}, {"buffer": 1, "classes": [0, 1]}], "values": [100, -2.5, 0, 1e3]}]}
END
    sed 's/-2.5, 0/-92233720368547758072.5, 0/' "$folder/copy" >"$folder/huge"
    ;;
team_plan)
    for name in uneven_8 uneven_33 softmax_rows slice_misses; do
        "$lxplan" plan "$patterns/team/$name.json" --team 2 -s bestfit --tile none -q -o "$folder/$name.json" || true
    done
    ;;
xla_plan)
    for name in simple_eviction staircase simple_fragmentation needs_moves; do
        for format in xla-csv allocinfo; do
            "$lxplan" export "$patterns/targets/$name.json" -q -s firstfit --format $format
            [ $format = allocinfo ] || echo
        done >"$folder/$name"
    done
    ;;
results)
    for name in "$tests"/data/results/*.jsonl; do
        head -n 12 "$name" >"$folder/$(basename "$name")"
    done
    ;;
command)
    number=0
    while read -r line; do
        printf '%s' "$line" >"$folder/line_$((number += 1))"
    done <<'END'
plan p.json -s exact --lx 8k --evict --reorder --move -o out.json
plan p.json --stage launch --order morton --tiles 32x32/16x16 --share chunks --assign dynamic -a
plan p.json --stages --objective time --cooptimise full --by-time
plan p.json --explain e --json
plan p.json --nests exp-div:m/2 --hint mm=m/2 --no-ring
plan l.csv -s ilp --objective height --seed 3 -O time=1
plan l.csv --objective fit --lx 12 -s anneal --work 100
plan m.mlir --dim %x:0=8 --no-fold --role %w=weight
plan p.json --team 2x1 --cut x=0,- -q
plan p.json -9
check plan.json --json
check team.json
run plan.json --trace t.json
run p.json --verify full --seed 4 --cores 2
run team.json
show plan.json --svg map.svg
diff plan.json plan.json --json
solvers exact
import m.hlo --report r.json
import m.mlir --dim %x:0=4 --strict
export plan.json --format perfetto -o x
export p.json -f dsa
gen random --buffers 9 --seed 2
gen flash --heads 2
loops n.json --run
loops -e ab,bc->ac --sizes 4,5,6 --passes fuse,split --rules document
loops p.json --op mm
bench l.csv p.json -s greedy,auto --seeds 2 --repeat 2 -o b.jsonl --time 1
report r.jsonl --format md --by instance
report r.jsonl r.jsonl --compare --fail-on worse
sweep p.json --steps 3 --value hbm -s greedy --json
explore p.json --script jj<Enter><wait>2q --size 80x24 --dump-screen s
help plan
help --names
--version
p.json --script q
END
    ;;
script)
    number=0
    grep -ohE "'[^']*'|\"[^\"\$]*\"" "$tests"/golden/explore_*.sh | tr -d "\"'" | grep -vE '^ *$|/[a-z]+/|\.\.|^patterns|%' | sort -u |
        while read -r keys; do
            printf '%s' "$keys" >"$folder/keys_$((number += 1))"
        done
    ;;
device)
    for name in $("$lxplan" devices --names); do
        "$lxplan" devices "$name" -o "$folder/$name"
        "$lxplan" devices "$name" cores=4 lx_bytes=65536 -o "$folder/$name.small"
    done
    sed 's/"name": "spyre"/"name": "mine"/' "$folder/spyre" >"$folder/mine"
    printf '%s' '{"lxplan": 1, "kind": "device", "name": "mine", "preset": "spyre", "cores": 4, "costs": "roofline"}' >"$folder/short"
    printf '%s' '{"lxplan": 1, "kind": "device", "name": "mine", "preset": "tenstorrent", "costs": {"name": "mine", "launch_us": {"value": 3, "origin": "me"}}}' >"$folder/costs"
    ;;
emit)
    printf 'p */ int i; /*\nx\\\nw/*\ny*\nz//\na??/\nb */ #define b /*\nd' >"$folder/ends"
    printf '%s\n' name in w out result first second device >"$folder/plain"
    printf '/*\n*/\n\\\n*\\/\n"\n%%s\n\342\200\256\n#' >"$folder/short"
    ;;
others)
    printf '%s' "$small" >"$folder.small.json"
    printf P >"$folder/proof" && "$lxplan" plan "$folder.small.json" --cores 1 --lx 4k --objective bytes --tile none -q -o "$folder.plan" --certificate "$folder.proof"
    cat "$folder.proof" >>"$folder/proof"
    rm "$folder".{small.json,plan,proof}
    for name in fit/tight_10 height/cut_15 spill/$(ls "$patterns/suite/spill" | grep -m1 instance | sed 's/.instance//'); do
        { printf Q && cat "$patterns/suite/$name.instance"; } >"$folder/$(basename "$name")"
    done
    printf 'Q{"lxplan": 1, "kind": "instance", "name": "x", "class": "graphs", "origin": ["plan", "p.json", "--certificate", "new"], "sha256": "0", "buffers": 3, "best": null, "status": "open"}' >"$folder/plans"
    printf 'Rid,offset\n0,0\n1,6\n2,-1\n3,0\n' >"$folder/reply"
    number=0
    awk -v folder="$folder/loops_" '/"kind": "lifetimes"/ {name = folder (++count); printf "S" >name} /^END$/ {name = ""} name {print >name}' "$tests/golden/other_makers.sh"
    ;;
settings)
    printf 'theme light\nbind $ graph\nset solver exact\nascii\n' >"$folder/some"
    printf '# mine\nset lx 64k\nset cores 4\nbind <C-g> map\ntheme mono\n' >"$folder/other"
    ;;
*)
    echo "there is no target $target" >&2
    exit 2
    ;;
esac
[ -n "$(ls "$folder")" ] || { echo "no seeds for $target" >&2; exit 2; }
