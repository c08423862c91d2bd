// One model in three forms: every op that has attributes, or regions, of its own.
module @three attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8x64xf32>, %arg1: tensor<64x128xf32>, %arg2: tensor<2x16x64xf32> {tf.aliasing_output = 1 : i32}, %arg3: tensor<i32>, %arg4: tensor<32x64xf32>, %arg5: tensor<2x8xi32>, %arg6: tensor<3x3x4x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x16x64xf32>, tensor<2x4x4x8xf32>, tensor<32x64xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0 = "stablehlo.gather"(%arg4, %arg5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 64>}> : (tensor<32x64xf32>, tensor<2x8xi32>) -> tensor<2x8x64xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x8x64xf32>
    %2 = stablehlo.dot_general %1, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8x64xf32>, tensor<64x128xf32>) -> tensor<2x8x128xf32>
    %3 = stablehlo.slice %2 [0:2, 0:8, 64:128] : (tensor<2x8x128xf32>) -> tensor<2x8x64xf32>
    %4 = stablehlo.slice %2 [0:2, 0:8, 0:128:2] : (tensor<2x8x128xf32>) -> tensor<2x8x64xf32>
    %5 = stablehlo.dynamic_update_slice %arg2, %3, %c, %arg3, %c : (tensor<2x16x64xf32>, tensor<2x8x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x16x64xf32>
    %6 = stablehlo.dynamic_slice %5, %c, %arg3, %c, sizes = [2, 8, 64] : (tensor<2x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x8x64xf32>
    %7 = stablehlo.transpose %6, dims = [0, 2, 1] : (tensor<2x8x64xf32>) -> tensor<2x64x8xf32>
    %8 = stablehlo.dot_general %4, %7, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x64xf32>, tensor<2x64x8xf32>) -> tensor<2x8x8xf32>
    %9 = stablehlo.iota dim = 0 : tensor<8x8xi32>
    %10 = stablehlo.iota dim = 1 : tensor<8x8xi32>
    %11 = stablehlo.compare  GE, %9, %10,  SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %12 = stablehlo.broadcast_in_dim %11, dims = [1, 2] : (tensor<8x8xi1>) -> tensor<2x8x8xi1>
    %13 = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<2x8x8xf32>
    %14 = stablehlo.select %12, %8, %13 : tensor<2x8x8xi1>, tensor<2x8x8xf32>
    %15 = stablehlo.reduce(%14 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
    %17 = stablehlo.subtract %14, %16 : tensor<2x8x8xf32>
    %18:2 = stablehlo.while(%i = %c, %x = %17) : tensor<i32>, tensor<2x8x8xf32>
     cond {
      %40 = stablehlo.compare  LT, %i, %one,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %40 : tensor<i1>
    } do {
      %40 = stablehlo.exponential %x : tensor<2x8x8xf32>
      %41 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %41, %40 : tensor<i32>, tensor<2x8x8xf32>
    }
    %19 = stablehlo.reshape %1 : (tensor<2x8x64xf32>) -> tensor<2x8x16x4xf32>
    %20 = stablehlo.pad %19, %cst, low = [0, 0, 0, 0], high = [0, 0, -8, 0], interior = [0, 0, 0, 0] : (tensor<2x8x16x4xf32>, tensor<f32>) -> tensor<2x8x8x4xf32>
    %21 = stablehlo.convolution(%20, %arg6) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<2x8x8x8xf32>
    %22 = "stablehlo.reduce_window"(%21, %low) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %40 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %40 : tensor<f32>
    }) : (tensor<2x8x8x8xf32>, tensor<f32>) -> tensor<2x4x4x8xf32>
    %23 = stablehlo.iota dim = 1 : tensor<32x64xi32>
    %24:2 = "stablehlo.sort"(%arg4, %23) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %d: tensor<i32>, %e: tensor<i32>):
      %40 = stablehlo.compare  GT, %a, %b,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %40 : tensor<i1>
    }) : (tensor<32x64xf32>, tensor<32x64xi32>) -> (tensor<32x64xf32>, tensor<32x64xi32>)
    %25 = stablehlo.reshape %arg5 : (tensor<2x8xi32>) -> tensor<16x1xi32>
    %26 = stablehlo.reshape %1 : (tensor<2x8x64xf32>) -> tensor<16x64xf32>
    %27 = "stablehlo.scatter"(%24#0, %25, %26) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %40 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %40 : tensor<f32>
    }) : (tensor<32x64xf32>, tensor<16x1xi32>, tensor<16x64xf32>) -> tensor<32x64xf32>
    %28 = stablehlo.convert %27 : (tensor<32x64xf32>) -> tensor<32x64xbf16>
    %29 = call @back(%28) : (tensor<32x64xbf16>) -> tensor<32x64xf32>
    return %18#1, %5, %22, %29 : tensor<2x8x8xf32>, tensor<2x16x64xf32>, tensor<2x4x4x8xf32>, tensor<32x64xf32>
  }
  func.func private @back(%arg0: tensor<32x64xbf16>) -> tensor<32x64xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<32x64xbf16>) -> tensor<32x64xf32>
    %1 = chlo.erf %0 : tensor<32x64xf32> -> tensor<32x64xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
    %3 = stablehlo.slice %2 [16:48, 0:64] : (tensor<64x64xf32>) -> tensor<32x64xf32>
    return %3 : tensor<32x64xf32>
  }
}
