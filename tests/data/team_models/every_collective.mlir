module @m attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x4>]>} {
  func.func @main(%arg0: tensor<8x64xf32> {ttcore.argument_type = #ttcore.argument_type<input>}) -> tensor<2x64xf32> {
    %0 = "ttir.reduce_scatter"(%arg0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 0 : si32}> : (tensor<8x64xf32>) -> tensor<2x64xf32>
    %1 = "ttir.all_gather"(%0) <{all_gather_dim = 0 : si32, cluster_axis = 1 : ui32}> : (tensor<2x64xf32>) -> tensor<8x64xf32>
    %2 = "ttir.collective_permute"(%1) <{source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}> : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %3 = "ttir.add"(%1, %2) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %4 = "ttir.all_to_all"(%arg0) <{concat_dim = 1 : si32, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, split_count = 4 : si32, split_dim = 0 : si32}> : (tensor<8x64xf32>) -> tensor<2x256xf32>
    %5 = "ttir.mesh_partition"(%3) <{cluster_axis = 1 : ui32, dim = 0 : si32}> : (tensor<8x64xf32>) -> tensor<2x64xf32>
    %6 = "ttir.sum"(%4) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<2x256xf32>) -> tensor<2x1xf32>
    %7 = "ttir.add"(%5, %6) : (tensor<2x64xf32>, tensor<2x1xf32>) -> tensor<2x64xf32>
    return %7 : tensor<2x64xf32>
  }
}
