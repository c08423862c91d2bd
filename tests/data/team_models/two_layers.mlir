module @two_layers attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x2>]>} {
  func.func @main(%arg0: tensor<2x1xi32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<unsharded>},
                  %arg1: tensor<1xi64> {ttcore.argument_type = #ttcore.argument_type<input>},
                  %arg2: tensor<48x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg3: tensor<32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg4: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg5: tensor<32x16xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg6: tensor<32x16xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg7: tensor<2x2x8x8xf32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<unsharded>},
                  %arg8: tensor<2x2x8x8xf32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<unsharded>},
                  %arg9: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg10: tensor<32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg11: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg12: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg13: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg14: tensor<32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg15: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg16: tensor<32x16xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg17: tensor<32x16xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg18: tensor<2x2x8x8xf32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<unsharded>},
                  %arg19: tensor<2x2x8x8xf32> {ttcore.argument_type = #ttcore.argument_type<input>, ttcore.shard_status = #ttcore.shard_status<unsharded>},
                  %arg20: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg21: tensor<32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg22: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg23: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg24: tensor<32x32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg25: tensor<32xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>},
                  %arg26: tensor<32x48xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> (tensor<2x48xf32>, tensor<2x1xi32>) {
    %0 = "ttir.mesh_shard"(%arg2) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>}> : (tensor<48x32xf32>) -> tensor<48x32xf32>
    %1 = "ttir.embedding"(%arg0, %0) : (tensor<2x1xi32>, tensor<48x32xf32>) -> tensor<2x1x32xf32>
    %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 32 : i32]}> : (tensor<2x1x32xf32>) -> tensor<2x32xf32>
    %3 = "ttir.mesh_shard"(%arg3) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>}> : (tensor<32xf32>) -> tensor<32xf32>
    %4 = "ttir.rms_norm"(%2, %3) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 32>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x32xf32>, tensor<32xf32>) -> tensor<2x32xf32>
    %5 = "ttir.mesh_shard"(%arg4) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<32x16xf32>
    %6 = "ttir.dot_general"(%4, %5) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x16xf32>) -> tensor<2x16xf32>
    %7 = "ttir.mesh_shard"(%arg5) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x16xf32>) -> tensor<32x8xf32>
    %8 = "ttir.dot_general"(%4, %7) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
    %9 = "ttir.mesh_shard"(%arg6) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x16xf32>) -> tensor<32x8xf32>
    %10 = "ttir.dot_general"(%4, %9) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
    %11 = "ttir.mesh_shard"(%arg7) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2, 1, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<2x2x8x8xf32>) -> tensor<2x1x8x8xf32>
    %12 = "ttir.mesh_shard"(%arg8) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2, 1, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<2x2x8x8xf32>) -> tensor<2x1x8x8xf32>
    %13 = "ttir.reshape"(%8) <{shape = [2 : i32, 1 : i32, 1 : i32, 8 : i32]}> : (tensor<2x8xf32>) -> tensor<2x1x1x8xf32>
    %14 = "ttir.permute"(%13) <{permutation = array<i64: 2, 1, 0, 3>}> : (tensor<2x1x1x8xf32>) -> tensor<1x1x2x8xf32>
    "ttir.update_cache"(%11, %14, %arg1) <{batch_offset = 0 : i32}> : (tensor<2x1x8x8xf32>, tensor<1x1x2x8xf32>, tensor<1xi64>) -> ()
    %15 = "ttir.reshape"(%10) <{shape = [2 : i32, 1 : i32, 1 : i32, 8 : i32]}> : (tensor<2x8xf32>) -> tensor<2x1x1x8xf32>
    %16 = "ttir.permute"(%15) <{permutation = array<i64: 2, 1, 0, 3>}> : (tensor<2x1x1x8xf32>) -> tensor<1x1x2x8xf32>
    "ttir.update_cache"(%12, %16, %arg1) <{batch_offset = 0 : i32}> : (tensor<2x1x8x8xf32>, tensor<1x1x2x8xf32>, tensor<1xi64>) -> ()
    %17 = "ttir.reshape"(%6) <{shape = [2 : i32, 2 : i32, 1 : i32, 8 : i32]}> : (tensor<2x16xf32>) -> tensor<2x2x1x8xf32>
    %18 = "ttir.reshape"(%11) <{shape = [2 : i32, 1 : i32, 1 : i32, 8 : i32, 8 : i32]}> : (tensor<2x1x8x8xf32>) -> tensor<2x1x1x8x8xf32>
    %19 = "ttir.broadcast"(%18) <{broadcast_dimensions = array<i64: 1, 1, 2, 1, 1>}> : (tensor<2x1x1x8x8xf32>) -> tensor<2x1x2x8x8xf32>
    %20 = "ttir.reshape"(%19) <{shape = [2 : i32, 2 : i32, 8 : i32, 8 : i32]}> : (tensor<2x1x2x8x8xf32>) -> tensor<2x2x8x8xf32>
    %21 = "ttir.reshape"(%12) <{shape = [2 : i32, 1 : i32, 1 : i32, 8 : i32, 8 : i32]}> : (tensor<2x1x8x8xf32>) -> tensor<2x1x1x8x8xf32>
    %22 = "ttir.broadcast"(%21) <{broadcast_dimensions = array<i64: 1, 1, 2, 1, 1>}> : (tensor<2x1x1x8x8xf32>) -> tensor<2x1x2x8x8xf32>
    %23 = "ttir.reshape"(%22) <{shape = [2 : i32, 2 : i32, 8 : i32, 8 : i32]}> : (tensor<2x1x2x8x8xf32>) -> tensor<2x2x8x8xf32>
    %24 = "ttir.dot_general"(%17, %20) <{batch_dims_lhs = array<i64: 0, 1>, batch_dims_rhs = array<i64: 0, 1>, contract_dims_lhs = array<i64: 3>, contract_dims_rhs = array<i64: 3>}> : (tensor<2x2x1x8xf32>, tensor<2x2x8x8xf32>) -> tensor<2x2x1x8xf32>
    %25 = "ttir.softmax"(%24) <{dimension = 3 : si32}> : (tensor<2x2x1x8xf32>) -> tensor<2x2x1x8xf32>
    %26 = "ttir.dot_general"(%25, %23) <{batch_dims_lhs = array<i64: 0, 1>, batch_dims_rhs = array<i64: 0, 1>, contract_dims_lhs = array<i64: 3>, contract_dims_rhs = array<i64: 2>}> : (tensor<2x2x1x8xf32>, tensor<2x2x8x8xf32>) -> tensor<2x2x1x8xf32>
    %27 = "ttir.reshape"(%26) <{shape = [2 : i32, 16 : i32]}> : (tensor<2x2x1x8xf32>) -> tensor<2x16xf32>
    %28 = "ttir.mesh_shard"(%arg9) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<16x32xf32>
    %29 = "ttir.dot_general"(%27, %28) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x16xf32>, tensor<16x32xf32>) -> tensor<2x32xf32>
    %30 = "ttir.all_reduce"(%29) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<2x32xf32>) -> tensor<2x32xf32>
    %31 = "ttir.add"(%2, %30) : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    %32 = "ttir.mesh_shard"(%arg10) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>}> : (tensor<32xf32>) -> tensor<32xf32>
    %33 = "ttir.rms_norm"(%31, %32) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 32>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x32xf32>, tensor<32xf32>) -> tensor<2x32xf32>
    %34 = "ttir.mesh_shard"(%arg11) <{shard_dims = array<i64: 1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<32x8xf32>
    %35 = "ttir.dot_general"(%33, %34) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
    %36 = "ttir.mesh_shard"(%arg12) <{shard_dims = array<i64: 1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<32x8xf32>
    %37 = "ttir.dot_general"(%33, %36) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
    %38 = "ttir.silu"(%35) : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %39 = "ttir.multiply"(%38, %37) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %40 = "ttir.mesh_shard"(%arg13) <{shard_dims = array<i64: 0, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 4, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<8x32xf32>
    %41 = "ttir.dot_general"(%39, %40) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x8xf32>, tensor<8x32xf32>) -> tensor<2x32xf32>
    %42 = "ttir.all_reduce"(%41) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<2x32xf32>) -> tensor<2x32xf32>
    %43 = "ttir.all_reduce"(%42) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<2x32xf32>) -> tensor<2x32xf32>
    %44 = "ttir.add"(%31, %43) : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    %45 = "ttir.mesh_shard"(%arg14) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>}> : (tensor<32xf32>) -> tensor<32xf32>
    %46 = "ttir.rms_norm"(%44, %45) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 32>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x32xf32>, tensor<32xf32>) -> tensor<2x32xf32>
    %47 = "ttir.mesh_shard"(%arg15) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<32x16xf32>
    %48 = "ttir.dot_general"(%46, %47) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x16xf32>) -> tensor<2x16xf32>
    %49 = "ttir.mesh_shard"(%arg16) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x16xf32>) -> tensor<32x8xf32>
    %50 = "ttir.dot_general"(%46, %49) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
    %51 = "ttir.mesh_shard"(%arg17) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x16xf32>) -> tensor<32x8xf32>
    %52 = "ttir.dot_general"(%46, %51) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
    %53 = "ttir.mesh_shard"(%arg18) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2, 1, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<2x2x8x8xf32>) -> tensor<2x1x8x8xf32>
    %54 = "ttir.mesh_shard"(%arg19) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2, 1, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<2x2x8x8xf32>) -> tensor<2x1x8x8xf32>
    %55 = "ttir.reshape"(%50) <{shape = [2 : i32, 1 : i32, 1 : i32, 8 : i32]}> : (tensor<2x8xf32>) -> tensor<2x1x1x8xf32>
    %56 = "ttir.permute"(%55) <{permutation = array<i64: 2, 1, 0, 3>}> : (tensor<2x1x1x8xf32>) -> tensor<1x1x2x8xf32>
    "ttir.update_cache"(%53, %56, %arg1) <{batch_offset = 0 : i32}> : (tensor<2x1x8x8xf32>, tensor<1x1x2x8xf32>, tensor<1xi64>) -> ()
    %57 = "ttir.reshape"(%52) <{shape = [2 : i32, 1 : i32, 1 : i32, 8 : i32]}> : (tensor<2x8xf32>) -> tensor<2x1x1x8xf32>
    %58 = "ttir.permute"(%57) <{permutation = array<i64: 2, 1, 0, 3>}> : (tensor<2x1x1x8xf32>) -> tensor<1x1x2x8xf32>
    "ttir.update_cache"(%54, %58, %arg1) <{batch_offset = 0 : i32}> : (tensor<2x1x8x8xf32>, tensor<1x1x2x8xf32>, tensor<1xi64>) -> ()
    %59 = "ttir.reshape"(%48) <{shape = [2 : i32, 2 : i32, 1 : i32, 8 : i32]}> : (tensor<2x16xf32>) -> tensor<2x2x1x8xf32>
    %60 = "ttir.reshape"(%53) <{shape = [2 : i32, 1 : i32, 1 : i32, 8 : i32, 8 : i32]}> : (tensor<2x1x8x8xf32>) -> tensor<2x1x1x8x8xf32>
    %61 = "ttir.broadcast"(%60) <{broadcast_dimensions = array<i64: 1, 1, 2, 1, 1>}> : (tensor<2x1x1x8x8xf32>) -> tensor<2x1x2x8x8xf32>
    %62 = "ttir.reshape"(%61) <{shape = [2 : i32, 2 : i32, 8 : i32, 8 : i32]}> : (tensor<2x1x2x8x8xf32>) -> tensor<2x2x8x8xf32>
    %63 = "ttir.reshape"(%54) <{shape = [2 : i32, 1 : i32, 1 : i32, 8 : i32, 8 : i32]}> : (tensor<2x1x8x8xf32>) -> tensor<2x1x1x8x8xf32>
    %64 = "ttir.broadcast"(%63) <{broadcast_dimensions = array<i64: 1, 1, 2, 1, 1>}> : (tensor<2x1x1x8x8xf32>) -> tensor<2x1x2x8x8xf32>
    %65 = "ttir.reshape"(%64) <{shape = [2 : i32, 2 : i32, 8 : i32, 8 : i32]}> : (tensor<2x1x2x8x8xf32>) -> tensor<2x2x8x8xf32>
    %66 = "ttir.dot_general"(%59, %62) <{batch_dims_lhs = array<i64: 0, 1>, batch_dims_rhs = array<i64: 0, 1>, contract_dims_lhs = array<i64: 3>, contract_dims_rhs = array<i64: 3>}> : (tensor<2x2x1x8xf32>, tensor<2x2x8x8xf32>) -> tensor<2x2x1x8xf32>
    %67 = "ttir.softmax"(%66) <{dimension = 3 : si32}> : (tensor<2x2x1x8xf32>) -> tensor<2x2x1x8xf32>
    %68 = "ttir.dot_general"(%67, %65) <{batch_dims_lhs = array<i64: 0, 1>, batch_dims_rhs = array<i64: 0, 1>, contract_dims_lhs = array<i64: 3>, contract_dims_rhs = array<i64: 2>}> : (tensor<2x2x1x8xf32>, tensor<2x2x8x8xf32>) -> tensor<2x2x1x8xf32>
    %69 = "ttir.reshape"(%68) <{shape = [2 : i32, 16 : i32]}> : (tensor<2x2x1x8xf32>) -> tensor<2x16xf32>
    %70 = "ttir.mesh_shard"(%arg20) <{shard_dims = array<i64: -1, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<16x32xf32>
    %71 = "ttir.dot_general"(%69, %70) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x16xf32>, tensor<16x32xf32>) -> tensor<2x32xf32>
    %72 = "ttir.reduce_scatter"(%71) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>, scatter_dim = 1 : si32}> : (tensor<2x32xf32>) -> tensor<2x16xf32>
    %73 = "ttir.all_gather"(%72) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<2x16xf32>) -> tensor<2x32xf32>
    %74 = "ttir.add"(%44, %73) : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    %75 = "ttir.mesh_shard"(%arg21) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>}> : (tensor<32xf32>) -> tensor<32xf32>
    %76 = "ttir.rms_norm"(%74, %75) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 32>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x32xf32>, tensor<32xf32>) -> tensor<2x32xf32>
    %77 = "ttir.mesh_shard"(%arg22) <{shard_dims = array<i64: 1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<32x8xf32>
    %78 = "ttir.dot_general"(%76, %77) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
    %79 = "ttir.mesh_shard"(%arg23) <{shard_dims = array<i64: 1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 4>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<32x8xf32>
    %80 = "ttir.dot_general"(%76, %79) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x8xf32>) -> tensor<2x8xf32>
    %81 = "ttir.silu"(%78) : (tensor<2x8xf32>) -> tensor<2x8xf32>
    %82 = "ttir.multiply"(%81, %80) : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
    %83 = "ttir.mesh_shard"(%arg24) <{shard_dims = array<i64: 0, 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 4, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x32xf32>) -> tensor<8x32xf32>
    %84 = "ttir.dot_general"(%82, %83) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x8xf32>, tensor<8x32xf32>) -> tensor<2x32xf32>
    %85 = "ttir.all_reduce"(%84) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<2x32xf32>) -> tensor<2x32xf32>
    %86 = "ttir.all_reduce"(%85) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<2x32xf32>) -> tensor<2x32xf32>
    %87 = "ttir.add"(%74, %86) : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>
    %88 = "ttir.mesh_shard"(%arg25) <{shard_dims = array<i64: -1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<replicate>}> : (tensor<32xf32>) -> tensor<32xf32>
    %89 = "ttir.rms_norm"(%87, %88) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 32>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<2x32xf32>, tensor<32xf32>) -> tensor<2x32xf32>
    %90 = "ttir.mesh_shard"(%arg26) <{shard_dims = array<i64: -1, 1>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1, 2>, shard_type = #ttcore.shard_type<devices>}> : (tensor<32x48xf32>) -> tensor<32x24xf32>
    %91 = "ttir.dot_general"(%89, %90) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<2x32xf32>, tensor<32x24xf32>) -> tensor<2x24xf32>
    %92 = "ttir.all_gather"(%91) <{all_gather_dim = 1 : si32, cluster_axis = 1 : ui32}> : (tensor<2x24xf32>) -> tensor<2x48xf32>
    %93 = "ttir.argmax"(%92) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<2x48xf32>) -> tensor<2x1xi32>
    return %92, %93 : tensor<2x48xf32>, tensor<2x1xi32>
  }
}
