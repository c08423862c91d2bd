/* The peak: multiply-adds on registers, as a loop that all threads of a pool can run. */
#ifndef LX_TESTS_SUPPORT_PEAK_H
#define LX_TESTS_SUPPORT_PEAK_H

#include <stdint.h>

#if defined __x86_64__
#define PEAK(name, bytes, target_string)                                                                     \
    typedef float vec_##name __attribute__((vector_size(bytes)));                                            \
    __attribute__((target(target_string), noinline)) static double name(int64_t rounds)                      \
    {                                                                                                        \
        PEAK_BODY(vec_##name, bytes)                                                                         \
    }
#else
#define PEAK(name, bytes, target_string)                                                                     \
    typedef float vec_##name __attribute__((vector_size(bytes)));                                            \
    __attribute__((noinline)) static double name(int64_t rounds)                                             \
    {                                                                                                        \
        PEAK_BODY(vec_##name, bytes)                                                                         \
    }
#endif
/* Chains enough for all units and their latency: 12 for two units of up to six cycles, 24 for four, where the
 * registers are there. A chain is its own summand, which is what every instruction set has an instruction
 * for; the factor 0 comes through volatile, so that nothing is folded. */
#ifdef __aarch64__
enum { PEAK_CHAINS = 24 };
#else
enum { PEAK_CHAINS = 12 };
#endif
#ifdef __clang__
#define PEAK_UNROLL _Pragma("clang loop unroll(full)")
#else
#define PEAK_UNROLL _Pragma("GCC unroll 24")
#endif
#define PEAK_BODY(vec, bytes)                                                                                \
    volatile float zero = 0;                                                                                 \
    vec f = zero - (vec){0}, chain[PEAK_CHAINS];                                                             \
    PEAK_UNROLL for (int c = 0; c < PEAK_CHAINS; c++) chain[c] = f + (float)c;                               \
    for (int64_t r = 0; r < rounds; r++) {                                                                   \
        PEAK_UNROLL for (int c = 0; c < PEAK_CHAINS; c++) chain[c] = chain[c] * f + chain[c];                \
    }                                                                                                        \
    PEAK_UNROLL for (int c = 1; c < PEAK_CHAINS; c++) chain[0] += chain[c];                                  \
    volatile float keep = chain[0][0];                                                                       \
    (void)keep;                                                                                              \
    return (double)rounds * PEAK_CHAINS * 2 * (bytes) / 4;

#if defined __x86_64__
PEAK(peak_avx512, 64, "avx512f")
PEAK(peak_avx2, 32, "avx2,fma")
#endif
PEAK(peak_generic, 16, "sse2")
#undef PEAK

typedef double peak_loop(int64_t rounds);

static peak_loop *choose_peak(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx512f")) return peak_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return peak_avx2;
#endif
    return peak_generic;
}

struct peak_task {
    peak_loop *loop;
    int64_t rounds;
};

static void peak_run(void *context, int64_t task, int worker)
{
    (void)task, (void)worker;
    const struct peak_task *p = context;
    p->loop(p->rounds);
}

#endif
