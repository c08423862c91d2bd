/* AVX2 with fused multiply-add: 16 registers of 8 floats, 12 of them sums. */
#include "kernels/kernel_target.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>

#define VECTOR_FLOATS 8
#define KERNEL_TARGET __attribute__((target("avx2,fma")))
#define KERNEL(name)  name##_avx2
#include "kernels/gemm_kernel.inc"

TILES_12(TILE, 1)
TILES_6(TILE, 2)
static gemm_kernel *const kernels[TILE_VECTORS_MAX][TILE_COLUMNS_MAX] = {{TILES_12(TILE_NAME, 1)},
                                                                         {TILES_6(TILE_NAME, 2)}};

/* Eight at a time by the instructions of F16C; the rest in integers, which gives the same bits. */
__attribute__((target("avx,f16c"))) static void target_avx2_narrow(uint16_t *to, const float *from,
                                                                   int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((__m128i *)(to + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
    fp16_narrow_in_integers(to + i, from + i, count - i);
}

__attribute__((target("avx,f16c"))) static void target_avx2_widen(float *to, const uint16_t *from,
                                                                  int64_t count)
{
    int64_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    fp16_widen_in_integers(to + i, from + i, count - i);
}

/* The compilers do not share a name for F16C: bit 29 of ECX of leaf 1. AVX2 implies that the system saves the
 * registers. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static bool target_avx2_supported(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

const struct kernel_target kernel_target_avx2 = {
    .name = "avx2",
    .supported = target_avx2_supported,
    .vector_floats = VECTOR_FLOATS,
    .tile_vectors = 2,
    .tile_columns = {12, 6},
    .m_block = 240,
    .n_block = 3072,
    .k_block = 256,
    .near_floats = 1 << 16,
    .kernel = kernels,
    .pack = KERNEL(pack),
    .narrow = target_avx2_narrow,
    .widen = target_avx2_widen,
};
#endif
