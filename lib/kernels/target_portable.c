/* Plain C, one float at a time: runs everywhere; the other targets are compared with it. */
#include "kernels/kernel_target.h"

#define VECTOR_FLOATS 1
#define KERNEL_TARGET
#define KERNEL(name) name##_portable
#include "kernels/gemm_kernel.inc"

TILES_4(TILE, 1)
TILES_4(TILE, 2)
static gemm_kernel *const kernels[TILE_VECTORS_MAX][TILE_COLUMNS_MAX] = {{TILES_4(TILE_NAME, 1)},
                                                                         {TILES_4(TILE_NAME, 2)}};

static bool target_portable_supported(void)
{
    return true;
}

const struct kernel_target kernel_target_portable = {
    .name = "portable",
    .supported = target_portable_supported,
    .vector_floats = VECTOR_FLOATS,
    .tile_vectors = 2,
    .tile_columns = {4, 4},
    .m_block = 240,
    .n_block = 1536,
    .k_block = 256,
    .near_floats = 1 << 16,
    .kernel = kernels,
    .pack = KERNEL(pack),
};
