/* Sets of split factors, 1 to MAX_FACTOR: no device has more cores, and no split more slices than cores. */
#ifndef LX_DIVIDE_FACTORS_H
#define LX_DIVIDE_FACTORS_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_FACTOR = 1024, FACTOR_WORDS = MAX_FACTOR / 64 + 1 };

struct factor_set {
    uint64_t word[FACTOR_WORDS];
};

static inline void factor_add(struct factor_set *s, int64_t factor)
{
    if (factor >= 1 && factor <= MAX_FACTOR) s->word[factor / 64] |= UINT64_C(1) << (factor % 64);
}

static inline bool factor_in(const struct factor_set *s, int64_t factor)
{
    return factor >= 1 && factor <= MAX_FACTOR && (s->word[factor / 64] >> (factor % 64) & 1) != 0;
}

static inline struct factor_set factors_of_divisors(int64_t size)
{
    struct factor_set s = {{0}};
    for (int64_t f = 1; f <= MAX_FACTOR && f <= size / f; f++) { /* the smaller one of each pair */
        if (size % f != 0) continue;
        factor_add(&s, f);
        if (size / f <= MAX_FACTOR) factor_add(&s, size / f);
    }
    return s;
}

static inline struct factor_set factors_common(const struct factor_set *a, const struct factor_set *b)
{
    struct factor_set s;
    for (int i = 0; i < FACTOR_WORDS; i++) s.word[i] = a->word[i] & b->word[i];
    return s;
}

/* The smallest member that is not below `low`, or 0. */
static inline int64_t factor_least(const struct factor_set *s, int64_t low)
{
    for (int64_t f = low < 1 ? 1 : low; f <= MAX_FACTOR; f++) {
        if (f % 64 == 0 && s->word[f / 64] == 0)
            f += 63;
        else if (factor_in(s, f))
            return f;
    }
    return 0;
}

/* The largest member that is not above `high`, or 0. */
static inline int64_t factor_most(const struct factor_set *s, int64_t high)
{
    for (int64_t f = high > MAX_FACTOR ? MAX_FACTOR : high; f >= 1; f--)
        if (factor_in(s, f)) return f;
    return 0;
}

#endif
