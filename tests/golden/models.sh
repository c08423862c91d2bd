# Models of other compilers wherever a pattern is taken: the options of import, and names of the file.
cat >"$scratch/m.mlir" <<'END'
func.func @forward(%x: tensor<?x256xf32>, %w: tensor<256x64xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<?x64xf32> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<?x256xf32>, tensor<256x64xf32>) -> tensor<?x64xf32> loc("proj")
  %1 = "ttir.relu"(%0) : (tensor<?x64xf32>) -> tensor<?x64xf32> loc("act")
  return %1 : tensor<?x64xf32>
}
END
$LXPLAN plan "$scratch/m.mlir"; echo "exit $?"
$LXPLAN plan "$scratch/m.mlir" --dim %x:0=128 -o "$scratch/m.plan" | grep -E '^pattern'
$LXPLAN check "$scratch/m.plan"; echo "exit $?"
$LXPLAN check "$scratch/m.mlir" --dim %x:0=128; echo "exit $?"
$LXPLAN run "$scratch/m.mlir" --dim %x:0=128 | grep -E '^ *(proj|act)' | cut -c1-18
$LXPLAN sweep "$scratch/m.mlir" --dim %x:0=128 --value hbm -s greedy --steps 2 --json -j1 | head -3
$LXPLAN bench "$scratch/m.mlir" --dim %x:0=128 -s greedy -q; echo "exit $?"
$LXPLAN export "$scratch/m.mlir" --dim %x:0=128 --format pattern | grep -c '"kind": "relu"'
$LXPLAN explore "$scratch/m.mlir" --dim %x:0=128 --size 80x24 --script '<wait>2' --dump-screen "$scratch/s"; grep -E 'proj|act' "$scratch/s" | sed 's/ *$//'
# Options that have nothing to say.
$LXPLAN plan "$scratch/m.plan" --dim %x:0=128; echo "exit $?"
$LXPLAN run "$scratch/m.plan" --no-fold; echo "exit $?"
$LXPLAN plan patterns/graphs/swiglu.json --func main; echo "exit $?"
$LXPLAN import "$scratch/m.plan" --report "$scratch/r.json"; echo "exit $?"
$LXPLAN plan "$scratch/m.mlir" --dim 128; echo "exit $?"
$LXPLAN plan "$scratch/m.mlir" --dim %x:0=128 --role %w=constant; echo "exit $?"
