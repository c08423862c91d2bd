/* AVX-512: 32 registers of 16 floats. A tile of 4 x 6 takes 24 of them for sums; it needs 10 loads for 24
 * multiply-adds, where the processor could do 24. */
#include "kernels/kernel_target.h"

#ifdef __x86_64__
#include <immintrin.h>

#define VECTOR_FLOATS 16
#define KERNEL_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")))
#define KERNEL(name)  name##_avx512
#include "kernels/gemm_kernel.inc"

TILES_16(TILE, 1)
TILES_12(TILE, 2)
TILES_8(TILE, 3)
TILES_6(TILE, 4)
static gemm_kernel *const kernels[TILE_VECTORS_MAX][TILE_COLUMNS_MAX] = {
    {TILES_16(TILE_NAME, 1)}, {TILES_12(TILE_NAME, 2)}, {TILES_8(TILE_NAME, 3)}, {TILES_6(TILE_NAME, 4)}};

/* Sixteen at a time; the rest in integers, which gives the same bits. */
KERNEL_TARGET static void target_avx512_narrow(uint16_t *to, const float *from, int64_t count)
{
    int64_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm256_storeu_si256((__m256i *)(to + i),
                            _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    fp16_narrow_in_integers(to + i, from + i, count - i);
}

KERNEL_TARGET static void target_avx512_widen(float *to, const uint16_t *from, int64_t count)
{
    int64_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + i))));
    fp16_widen_in_integers(to + i, from + i, count - i);
}

static bool target_avx512_supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("fma");
}

const struct kernel_target kernel_target_avx512 = {
    .name = "avx512",
    .supported = target_avx512_supported,
    .vector_floats = VECTOR_FLOATS,
    .tile_vectors = 4,
    .tile_columns = {16, 12, 8, 6},
    .m_block = 256,
    .n_block = 3072,
    .k_block = 768,
    .near_floats = 1 << 17,
    .kernel = kernels,
    .pack = KERNEL(pack),
    .narrow = target_avx512_narrow,
    .widen = target_avx512_widen,
};
#endif
