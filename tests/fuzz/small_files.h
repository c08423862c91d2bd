/* One small file of each kind that the program takes, for targets that are about what is done with files. */
#ifndef LX_TESTS_FUZZ_SMALL_FILES_H
#define LX_TESTS_FUZZ_SMALL_FILES_H

static const char __attribute__((unused)) small_pattern[] =
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"small\", \"device\": {\"cores\": 4, \"lx_bytes\": "
    "32768},\n"
    "\"tensors\": [{\"name\": \"x\", \"dtype\": \"fp16\", \"shape\": [64, 64]},\n"
    "{\"name\": \"e\", \"dtype\": \"fp16\", \"shape\": [64, 64]}, {\"name\": \"s\", \"dtype\": \"fp16\", "
    "\"shape\": [64]},\n"
    "{\"name\": \"y\", \"dtype\": \"fp16\", \"shape\": [64, 64]}, {\"name\": \"w\", \"dtype\": \"fp16\", "
    "\"shape\": [64, 64]},\n"
    "{\"name\": \"z\", \"dtype\": \"fp16\", \"shape\": [64, 64]}],\n"
    "\"ops\": [{\"name\": \"exp\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"e\"},\n"
    "{\"name\": \"sum\", \"kind\": \"sum\", \"inputs\": [\"e\"], \"output\": \"s\", \"einsum\": \"mn->m\"},\n"
    "{\"name\": \"div\", \"kind\": \"div\", \"inputs\": [\"e\", \"s\"], \"output\": \"y\", \"einsum\": "
    "\"mn,m->mn\"},\n"
    "{\"name\": \"mm\", \"kind\": \"matmul\", \"inputs\": [\"y\", \"w\"], \"output\": \"z\", \"einsum\": "
    "\"mk,kn->mn\"}]}\n";

static const char __attribute__((unused)) small_list[] =
    "id,lower,upper,size\n0,0,4,6\n1,2,6,5\n2,4,8,6\n3,1,7,3\n";

static const char __attribute__((unused)) small_hlo[] =
    "HloModule m\n\nENTRY %e (a: f32[4,64]) -> f32[4,64] {\n"
    "  %a = f32[4,64]{1,0} parameter(0)\n  ROOT %b = f32[4,64]{1,0} negate(%a)\n}\n";

static const char __attribute__((unused)) small_ttir[] =
    "func.func @f(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x64xf32> {\n"
    "  %0 = \"ttir.matmul\"(%x, %w) : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32> "
    "loc(\"proj\")\n"
    "  %1 = \"ttir.relu\"(%0) : (tensor<?x64xf32>) -> tensor<?x64xf32>\n  return %1 : tensor<?x64xf32>\n}\n";

static const char __attribute__((unused)) small_loops[] =
    "{\"lxplan\": 1, \"kind\": \"loops\", \"first_touch\": \"zero\", \"main\": "
    "\"gemm\", \"last_touch\": \"none\",\n"
    "\"dtype\": \"fp32\", \"dim_types\": [\"n\", \"m\", \"k\"], "
    "\"exec_types\": [\"seq\", \"seq\", \"seq\"],\n"
    "\"dim_sizes\": [4, 6, 5], \"strides_in0\": [0, 1, 6], \"strides_in1\": "
    "[5, 0, 1], \"strides_out\": [6, 1, 0]}\n";

#endif
