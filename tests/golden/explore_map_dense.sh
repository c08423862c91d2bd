# Maps that are more than buffers side by side: several pools, time of few events, many buffers in a cell, kernels, parts of
# a map; by 256 colours, by 8, by none, in UTF-8 and in the C locale.
see() { # SIZE FILE KEYS [OPTION...]
    echo "== $*"
    size=$1 file=$2 keys=$3
    shift 3
    $LXPLAN explore "$file" "$@" --size "$size" --script "<wait>$keys" --dump-screen "$scratch/s" && cat "$scratch/s"
}
pools=patterns/lists/two_pools.json
see 80x24 $pools ''
see 80x24 $pools 'jjjjjj' --theme dark
see 120x40 $pools v --theme eight
LC_ALL=C see 80x24 $pools ''
echo "== text"
$LXPLAN show $pools --ascii --width 70 --height 14

{
    echo id,lower,upper,size
    i=0
    while [ $i -lt 60 ]; do
        echo "b$i,$((i * 997)),$((i * 997 + 9 + i % 7 * 800)),$((64 + i % 5 * 64))"
        i=$((i + 1))
    done
} >"$scratch/sparse.1024.csv"
see 80x24 "$scratch/sparse.1024.csv" ''
see 80x24 "$scratch/sparse.1024.csv" V --theme dark
see 80x24 "$scratch/sparse.1024.csv" ':goto b30<Enter>>>' --ascii
see 200x60 "$scratch/sparse.1024.csv" '' --theme light

$LXPLAN gen random --buffers 2000 -o "$scratch/many.json" >/dev/null
see 80x24 "$scratch/many.json" '' -s firstfit
see 80x24 "$scratch/many.json" 'ddd' -s firstfit --theme eight
see 80x24 "$scratch/many.json" 'd' -s firstfit --ascii
see 120x40 "$scratch/many.json" 'dd' -s firstfit

cat >"$scratch/kernels.json" <<'J'
{"lxplan": 1, "kind": "pattern", "name": "kernels", 
 "tensors": [{"name": "x", "shape": [128, 512], "dtype": "fp16", "role": "input"},
             {"name": "y", "shape": [128, 512], "dtype": "fp16", "role": "input"},
             {"name": "a", "shape": [128, 512], "dtype": "fp16"},
             {"name": "b", "shape": [128, 512], "dtype": "fp16"},
             {"name": "d", "shape": [128, 512], "dtype": "fp16"},
             {"name": "e", "shape": [128, 512], "dtype": "fp16"},
             {"name": "c", "shape": [128, 512], "dtype": "fp16", "role": "output"}],
 "ops": [{"name": "first", "kind": "exp", "inputs": ["x"], "output": "a"},
         {"name": "second", "kind": "add", "inputs": ["a", "y"], "output": "b"},
         {"name": "call", "kind": "extern", "inputs": ["b"], "output": "d"},
         {"name": "third", "kind": "add", "inputs": ["d", "b"], "output": "e"},
         {"name": "fourth", "kind": "exp", "inputs": ["e"], "output": "c"}]}
J
see 80x24 "$scratch/kernels.json" ''
