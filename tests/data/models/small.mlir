func.func @forward(%x: tensor<?x256xf32>, %w: tensor<256x64xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<?x64xf32> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<?x256xf32>, tensor<256x64xf32>) -> tensor<?x64xf32> loc("proj")
  %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}> : (tensor<?x64xf32>) -> tensor<?x64xf32> loc("soft")
  return %1 : tensor<?x64xf32>
}
