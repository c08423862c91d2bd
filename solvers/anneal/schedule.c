/* The cooling schedule: geometric from hot to cold, then hot again.
 *
 * Metropolis accepts a rise of delta with probability exp(-delta / T); with u uniform that is
 * delta <= T * -ln(u), so one logarithm per step is enough. It comes from a table of log2 made by repeated
 * squaring, linearly interpolated: no floating point, hence the same decisions on every machine. */
#include "anneal/schedule.h"
#include "base/checked.h"

void cooling_make(struct schedule *s)
{
    *s = (struct schedule){0};
    for (uint32_t i = 0; i < 1u << LOG_TABLE_BITS; i++) {
        /* log2(x) for x in [1, 2) with 31 fraction bits: squaring doubles the logarithm, whose integer
         * part is the next binary digit. */
        uint64_t x = (UINT64_C(1) << 31) + ((uint64_t)i << (31 - LOG_TABLE_BITS));
        uint32_t log = 0;
        for (int digit = LOG_FRACTION_BITS - 1; digit >= 0; digit--) {
            x = (x * x) >> 31;
            if (x >> 32) {
                log |= UINT32_C(1) << digit;
                x >>= 1;
            }
        }
        s->log2_table[i] = log;
    }
    s->log2_table[1 << LOG_TABLE_BITS] = 1u << LOG_FRACTION_BITS;
}

/* -log2(u), u = (random + 1/2) / 2^64, 16 fraction bits. */
static uint64_t minus_log2(const struct schedule *s, uint64_t random)
{
    random |= 1;
    int zeros = __builtin_clzll(random);
    uint64_t mantissa = random << zeros << 1; /* the bits after the leading one */
    uint32_t index = (uint32_t)(mantissa >> (64 - LOG_TABLE_BITS));
    uint64_t part = (mantissa << LOG_TABLE_BITS) >> 48;
    uint64_t low = s->log2_table[index], high = s->log2_table[index + 1];
    uint64_t fraction = low + (((high - low) * part) >> 16);
    return ((uint64_t)(zeros + 1) << LOG_FRACTION_BITS) - fraction;
}

int64_t schedule_allowance(const struct schedule *s, uint64_t random)
{
    const uint64_t ln2 = 45426; /* ln 2 with 16 fraction bits */
    uint64_t minus_ln = (minus_log2(s, random) * ln2) >> 16;
    return (int64_t)(((int128)s->now * (int128)minus_ln) >> LOG_FRACTION_BITS);
}

void schedule_heat(struct schedule *s, int64_t hot, int64_t cold, int64_t work)
{
    s->hot = max_i64(hot, 1);
    s->cold = min_i64(max_i64(cold, 1), s->hot);
    s->left = max_i64(work, 1);
    s->stage = max_i64(s->left / COOLING_STAGES, 1);
    s->next = s->left - s->stage;
    /* The k-th root of cold / hot by bisection on the 32-bit fraction. */
    int64_t k = max_i64(s->left / s->stage, 1);
    uint64_t low = 0, high = UINT64_C(1) << 32;
    uint64_t wanted = (uint64_t)(((int128)s->cold << 32) / s->hot);
    for (int i = 0; i < 33 && low + 1 < high; i++) {
        uint64_t middle = (low + high) / 2, power = UINT64_C(1) << 32, factor = middle;
        for (int64_t e = k; e > 0; e >>= 1) {
            if (e & 1) power = (uint64_t)(((int128)power * factor) >> 32);
            factor = (uint64_t)(((int128)factor * factor) >> 32);
        }
        if (power <= wanted)
            low = middle;
        else
            high = middle;
    }
    s->ratio = low > 0 ? low : 1;
    s->now = s->hot;
}

bool schedule_spend(struct schedule *s, int64_t work)
{
    s->left -= work;
    for (; s->left <= s->next && s->next > 0; s->next -= s->stage)
        s->now = max_i64((int64_t)(((int128)s->now * (int128)s->ratio) >> 32), 1);
    return s->left > 0;
}
