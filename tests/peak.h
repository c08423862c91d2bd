/* Loops that tell what the machine gives at the moment, with the widest vectors that it has: multiply-adds on
 * registers, which is its peak, and a probe that also needs issue slots and the first-level cache, which a
 * neighbour on the other half of a core takes away first. */
#ifndef TESTS_PEAK_H
#define TESTS_PEAK_H

#include <stdint.h>

#if defined __x86_64__
#define PEAK_TARGET(string) __attribute__((target(string), noinline))
#else
#define PEAK_TARGET(string) __attribute__((noinline))
#endif
#define PEAK(name, bytes, target_string)                                                                     \
    typedef float vec_##name __attribute__((vector_size(bytes)));                                            \
    PEAK_TARGET(target_string)                                                                               \
    static double peak_##name(int64_t rounds){PEAK_BODY(vec_##name, bytes)} PEAK_TARGET(                     \
        target_string) static double probe_##name(int64_t rounds)                                            \
    {                                                                                                        \
        PROBE_BODY(vec_##name, bytes)                                                                        \
    }
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
/* The array nearly fills a first-level cache of 32 KB. The empty statement keeps the counters from being
 * summed up beforehand. */
enum { PROBE_BYTES = 24576, PROBE_CHAINS = 12 };
#define PROBE_BODY(vec, bytes)                                                                               \
    static _Thread_local vec array[PROBE_BYTES / (bytes)];                                                   \
    vec chain[PROBE_CHAINS] = {{0}};                                                                         \
    const vec f = array[0];                                                                                  \
    int64_t count[3] = {0};                                                                                  \
    for (int64_t r = 0; r < rounds; r++)                                                                     \
        for (int i = 0; i + PROBE_CHAINS <= PROBE_BYTES / (bytes); i += PROBE_CHAINS)                        \
            PEAK_UNROLL for (int c = 0; c < PROBE_CHAINS; c++)                                               \
            {                                                                                                \
                chain[c] += f * array[i + c];                                                                \
                count[c % 3] += c;                                                                           \
                __asm__ volatile("" : "+r"(count[c % 3]));                                                   \
            }                                                                                                \
    PEAK_UNROLL for (int c = 0; c < PROBE_CHAINS; c++) array[c] = chain[c];                                  \
    return (double)rounds * (PROBE_BYTES / (bytes) / PROBE_CHAINS * PROBE_CHAINS) * 2 * (bytes) / 4;

#if defined __x86_64__
PEAK(avx512, 64, "avx512f")
PEAK(avx2, 32, "avx2,fma")
#endif
PEAK(generic, 16, "sse2")

typedef double peak_loop(int64_t rounds);

struct peak_loops {
    peak_loop *peak, *probe;
};

static inline struct peak_loops choose_peak(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx512f")) return (struct peak_loops){peak_avx512, probe_avx512};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return (struct peak_loops){peak_avx2, probe_avx2};
#endif
    return (struct peak_loops){peak_generic, probe_generic};
}

struct peak_task {
    peak_loop *loop;
    int64_t rounds;
};

static inline void peak_run(void *context, int64_t task, int worker)
{
    (void)task, (void)worker;
    const struct peak_task *p = context;
    p->loop(p->rounds);
}

#endif
