# Models of other compilers wherever a pattern is taken: the options of import, and names of the file.
cat >"$scratch/m.mlir" <<'END'
func.func @forward(%x: tensor<?x256xf32>, %w: tensor<256x64xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<?x64xf32> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<?x256xf32>, tensor<256x64xf32>) -> tensor<?x64xf32> loc("proj")
  %1 = "ttir.relu"(%0) : (tensor<?x64xf32>) -> tensor<?x64xf32> loc("act")
  return %1 : tensor<?x64xf32>
}
END
$LXPLAN plan "$scratch/m.mlir"; echo "exit $?"
$LXPLAN plan "$scratch/m.mlir" --dim %x:0=128 -o "$scratch/m.plan" | grep -E '^(pattern|model)'
$LXPLAN show "$scratch/m.plan" | grep '^model'
$LXPLAN export "$scratch/m.plan" --format html | grep -o 'mapped; the file must[^<]*'
$LXPLAN check "$scratch/m.plan"; echo "exit $?"
$LXPLAN check "$scratch/m.mlir" --dim %x:0=128; echo "exit $?"
$LXPLAN run "$scratch/m.mlir" --dim %x:0=128 | grep -E '^ *(proj|act)' | cut -c1-18
$LXPLAN sweep "$scratch/m.mlir" --dim %x:0=128 --value hbm -s greedy --steps 2 --json -j1 | head -3
$LXPLAN bench "$scratch/m.mlir" --dim %x:0=128 -s greedy -q; echo "exit $?"
$LXPLAN export "$scratch/m.mlir" --dim %x:0=128 --format pattern | grep -c '"kind": "relu"'
$LXPLAN explore "$scratch/m.mlir" --dim %x:0=128 --size 80x24 --script '<wait>2' --dump-screen "$scratch/s"; grep -E 'proj|act' "$scratch/s" | sed 's/ *$//'
$LXPLAN "$scratch/m.mlir" --size 80x24 --script '<wait>' --dump-screen "$scratch/s"; grep ':dim' "$scratch/s"
$LXPLAN "$scratch/m.mlir" --size 80x24 --script '<wait>:dim %x:0=64 %x:0=128<Enter><wait>y2' --dump-screen "$scratch/s"; grep -E 'proj|act' "$scratch/s" | sed 's/ *$//'
$LXPLAN "$scratch/m.mlir" --dim %x:0=128 --no-fold --cores 8 --size 100x24 --script '<wait>y' --dump-screen "$scratch/s"; grep -o 'lxplan plan.*8' "$scratch/s"
# Options that have nothing to say.
$LXPLAN plan "$scratch/m.plan" --dim %x:0=128; echo "exit $?"
$LXPLAN run "$scratch/m.plan" --no-fold; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --func main; echo "exit $?"
$LXPLAN import "$scratch/m.plan" --report "$scratch/r.json"; echo "exit $?"
$LXPLAN plan "$scratch/m.mlir" --dim 128; echo "exit $?"
$LXPLAN plan "$scratch/m.mlir" --dim %x:0=128 --role %w=constant; echo "exit $?"
$LXPLAN plan "$scratch/m.mlir" --dim %x:0=128 --dim %x:0=64; echo "exit $?"
$LXPLAN plan "$scratch/m.mlir" --dim %x:0=128 --partition 5; echo "exit $?"
$LXPLAN import "$scratch/m.mlir" --dim %x:0=128 -o "$scratch"; echo "exit $?"
# Comments before the header, letters of other scripts, several devices.
cat >"$scratch/m.hlo" <<'END'
/* HloModule of
   another dump */ // below
HloModule m, num_partitions=4
ENTRY main {
  größe = f32[8,64] parameter(0)
  ROOT %和 = f32[8,64] negate(größe)
}
END
$LXPLAN import "$scratch/m.hlo" | grep '"neg"'
$LXPLAN plan "$scratch/m.hlo" --partition 4; echo "exit $?"
# Patterns that lie beside models are read as ever.
mkdir "$scratch/mixed"; cp "$scratch/m.hlo" patterns/graphs/swiglu.json "$scratch/mixed"
$LXPLAN bench "$scratch/mixed" --partition 3 -s greedy -q; echo "exit $?"
# Which key is a query's own, where there are more of these than of those.
cat >"$scratch/causal.mlir" <<'END'
func.func @f(%q: tensor<1x2x8x64xf32>, %k: tensor<1x2x16x64xf32>, %v: tensor<1x2x16x64xf32>) -> tensor<1x2x8x64xf32> {
  %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v) <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (tensor<1x2x8x64xf32>, tensor<1x2x16x64xf32>, tensor<1x2x16x64xf32>) -> tensor<1x2x8x64xf32>
  return %0 : tensor<1x2x8x64xf32>
}
END
$LXPLAN import "$scratch/causal.mlir" --report "$scratch/r.json" >"$scratch/causal.json"; grep '"causal' "$scratch/r.json"
# Layers that are repeated, and names of what is expanded.
{
    echo 'func.func @stack(%0: tensor<128x256xf32>, %w: tensor<256x256xf32>) -> tensor<128x256xf32> {'
    for l in 0 1 2 3 4; do
        echo "  %m$l = \"ttir.matmul\"(%$l, %w) : (tensor<128x256xf32>, tensor<256x256xf32>) -> tensor<128x256xf32> loc(\"layer$l/proj\")"
        echo "  %s$l = \"ttir.softmax\"(%m$l) <{dimension = 1 : si32}> : (tensor<128x256xf32>) -> tensor<128x256xf32>"
        echo "  %$((l + 1)) = \"ttir.add\"(%$l, %s$l) : (tensor<128x256xf32>, tensor<128x256xf32>) -> tensor<128x256xf32>"
    done
    echo '  return %5 : tensor<128x256xf32>'
    echo '}'
} >"$scratch/stack.mlir"
$LXPLAN import "$scratch/stack.mlir" --report "$scratch/r.json" -o "$scratch/stack.json"; grep '"layers"' "$scratch/r.json"
$LXPLAN plan "$scratch/stack.mlir" --tile none | grep -E '^(pattern|layers)'
$LXPLAN explore "$scratch/stack.mlir" --tile none --size 80x24 --script '<wait>2jj' --dump-screen "$scratch/s"; sed -n '2,8p;/layer . of/p' "$scratch/s" | sed 's/ *$//'
$LXPLAN explore "$scratch/stack.mlir" --tile none --size 80x24 --script '<wait>2jjZ' --dump-screen "$scratch/s"; sed -n '2,5p' "$scratch/s" | sed 's/ *$//'
