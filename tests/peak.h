/* The peak: multiply-adds on registers, as a loop that all threads of a pool can run. */
#ifndef TESTS_PEAK_H
#define TESTS_PEAK_H

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
/* Twelve chains: enough for two units with a latency of up to six cycles. The factor and the summand keep the
 * values at 1; they come through volatile so that nothing is folded. */
#define PEAK_BODY(vec, bytes)                                                                                \
    volatile float half = 0.5f;                                                                              \
    vec f = half - (vec){0}, a = f + f, b = a + f, c = b + f, d = c + f, e = d + f, g = e + f, h = g + f,    \
        i = h + f, j = i + f, k = j + f, l = k + f, m = l + f;                                               \
    for (int64_t r = 0; r < rounds; r++) {                                                                   \
        a = a * f + f, b = b * f + f, c = c * f + f, d = d * f + f, e = e * f + f, g = g * f + f;            \
        h = h * f + f, i = i * f + f, j = j * f + f, k = k * f + f, l = l * f + f, m = m * f + f;            \
    }                                                                                                        \
    a += b + c + d + e + g + h + i + j + k + l + m;                                                          \
    volatile float keep = a[0];                                                                              \
    (void)keep;                                                                                              \
    return (double)rounds * 12 * 2 * (bytes) / 4;

#if defined __x86_64__
PEAK(peak_avx512, 64, "avx512f")
PEAK(peak_avx2, 32, "avx2,fma")
#endif
PEAK(peak_generic, 16, "sse2")

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
