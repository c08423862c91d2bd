/* AVX2 with fused multiply-add: 16 registers of 8 floats, 12 of them sums. */
#include "device/kernels/target.h"

#ifdef __x86_64__
#define VECTOR_FLOATS 8
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL(name)  name##_avx2
#include "device/kernels/gemm_kernel.inc"

TILES_12(TILE, 1)
TILES_6(TILE, 2)
static gemm_kernel *const kernels[TILE_VECTORS_MAX][TILE_COLUMNS_MAX] = {{TILES_12(TILE_NAME, 1)},
                                                                         {TILES_6(TILE_NAME, 2)}};

static bool supported(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const struct kernel_target kernel_target_avx2 = {
    .name = "avx2",
    .supported = supported,
    .vector_floats = VECTOR_FLOATS,
    .tile_vectors = 2,
    .tile_columns = {12, 6},
    .m_block = 240,
    .n_block = 3072,
    .k_block = 256,
    .kernel = kernels,
    .pack = KERNEL(pack),
};
#endif
