/* Vectors of 128 bits, without asking for an instruction set: NEON on aarch64 (32 registers), SSE2 on x86-64
 * (16), whatever the compiler makes of them elsewhere. */
#include "kernels/kernel_target.h"

#define VECTOR_FLOATS 4
#define KERNEL_TARGET
#define KERNEL(name) name##_vector128
#include "kernels/gemm_kernel.inc"

#ifdef __aarch64__
TILES_16(TILE, 1)
TILES_12(TILE, 2)
TILES_8(TILE, 3)
TILES_6(TILE, 4)
static gemm_kernel *const kernels[TILE_VECTORS_MAX][TILE_COLUMNS_MAX] = {
    {TILES_16(TILE_NAME, 1)}, {TILES_12(TILE_NAME, 2)}, {TILES_8(TILE_NAME, 3)}, {TILES_6(TILE_NAME, 4)}};
enum { VECTORS = 4, K_BLOCK = 512 };
static const char name[] = "neon";
#define COLUMNS                                                                                              \
    {                                                                                                        \
        16, 12, 8, 6                                                                                         \
    }
#else
TILES_8(TILE, 1)
TILES_6(TILE, 2)
static gemm_kernel *const kernels[TILE_VECTORS_MAX][TILE_COLUMNS_MAX] = {{TILES_8(TILE_NAME, 1)},
                                                                         {TILES_6(TILE_NAME, 2)}};
enum { VECTORS = 2, K_BLOCK = 256 };
#define COLUMNS                                                                                              \
    {                                                                                                        \
        8, 6                                                                                                 \
    }
#ifdef __SSE2__
static const char name[] = "sse2";
#else
static const char name[] = "vector128";
#endif
#endif

#ifdef __aarch64__
/* The conversion is part of the base instruction set. */
static void narrow_half(uint16_t *to, const float *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        __fp16 half = (__fp16)from[i];
        memcpy(to + i, &half, sizeof half);
    }
}

static void widen_half(float *to, const uint16_t *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        __fp16 half;
        memcpy(&half, from + i, sizeof half);
        to[i] = half;
    }
}
#else
#define narrow_half NULL
#define widen_half  NULL
#endif

static bool target_vector128_supported(void)
{
    return true;
}

const struct kernel_target kernel_target_vector128 = {
    .name = name,
    .supported = target_vector128_supported,
    .vector_floats = VECTOR_FLOATS,
    .tile_vectors = VECTORS,
    .tile_columns = COLUMNS,
    .m_block = 240,
    .n_block = 1536,
    .k_block = K_BLOCK,
    .near_floats = 1 << 16,
    .kernel = kernels,
    .pack = KERNEL(pack),
    .narrow = narrow_half,
    .widen = widen_half,
};
