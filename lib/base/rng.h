/* Random numbers, the same on every machine for a seed (xoshiro256**, seeded by splitmix64). lxplan never
 * calls rand(). */
#pragma once

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

static inline struct rng rng_seed(uint64_t seed)
{
    struct rng r;
    for (int i = 0; i < 4; i++) {
        uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        r.s[i] = z ^ (z >> 31);
    }
    return r;
}

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->s;
    uint64_t x = s[1] * 5, t = s[1] << 17;
    uint64_t result = ((x << 7) | (x >> 57)) * 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Uniform in [0, n), n > 0, without bias. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    uint64_t reject = (UINT64_MAX - n + 1) % n, x;
    do x = rng_next(r);
    while (x < reject);
    return x % n;
}

/* Uniform in [low, high]. */
static inline int64_t rng_between(struct rng *r, int64_t low, int64_t high)
{
    return low + (int64_t)rng_below(r, (uint64_t)(high - low) + 1);
}

/* Uniform in [0, 1), 53 bits. */
static inline double rng_unit(struct rng *r)
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}
