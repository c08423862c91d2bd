/* Rules of accesses, each a few lines; see the header for what they say and why. */
#include "divide/access_rules.h"
#include "base/fail.h"

enum { TOPK_PER_CORE = 4, MAX_BUCKETS = 32, LEAST_GRANULARITY = 4, DIRECT_TRIPS = 3 };

struct factor_set factors_in_segments(int64_t extent, int64_t segment)
{
    struct factor_set s = {{0}};
    for (int64_t f = 1; f <= MAX_FACTOR && f <= extent; f++)
        if (extent % f == 0 && (extent / f % segment == 0 || segment % (extent / f) == 0)) factor_add(&s, f);
    return s;
}

struct factor_set factors_direct_read(int64_t extent, int64_t stick_elements, int64_t trips)
{
    struct factor_set s = {{0}};
    for (int64_t f = 1; f <= MAX_FACTOR && f <= extent; f++)
        if (extent % f == 0 && (f == 1 || trips < DIRECT_TRIPS || extent / f % stick_elements == 0))
            factor_add(&s, f);
    return s;
}

int find_overlaps(const struct index_term *index, int count, struct overlap *out)
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        int next = -1; /* the variable with the next larger coefficient */
        for (int k = 0; k < count; k++)
            if (index[k].coefficient > index[i].coefficient &&
                (next < 0 || index[k].coefficient < index[next].coefficient))
                next = k;
        if (next < 0 && count > 1) /* equal coefficients: the one before it walks the same steps */
            for (int k = 0; k < i; k++)
                if (index[k].coefficient == index[i].coefficient) next = k;
        if (next < 0 || index[i].coefficient <= 0 || index[next].coefficient % index[i].coefficient != 0)
            continue;
        int64_t pitch = index[next].coefficient / index[i].coefficient;
        if (index[i].range > pitch && index[i].range > 1)
            out[found++] = (struct overlap){index[i].var, index[next].var, pitch};
    }
    return found;
}

void factors_of_overlap(int64_t inner_range, int64_t outer_range, int64_t pitch, bool inner_is_reduction,
                        struct factor_set *inner, struct factor_set *outer)
{
    *inner = factors_of_divisors(inner_range);
    *outer = factors_of_divisors(outer_range);
    if (inner_is_reduction) {
        *outer = (struct factor_set){{0}};
        factor_add(outer, outer_range);
        return;
    }
    struct factor_set fine = {{0}};
    for (int64_t f = 1; f <= MAX_FACTOR && f <= inner_range; f++)
        if (inner_range % f == 0 && inner_range / f <= pitch) factor_add(&fine, f);
    *inner = fine;
}

int64_t topk_split(int64_t k, int64_t cores)
{
    for (int64_t d = 1; d <= k && d <= cores; d++)
        if (k % d == 0 && k / d <= TOPK_PER_CORE) return d;
    return 0;
}

bool conv_blocks_spatial(const int64_t *stride, int count)
{
    for (int i = 0; i < count; i++)
        if (stride[i] > 1) return true;
    return false;
}

struct factor_set factors_whole(void)
{
    struct factor_set s = {{0}};
    factor_add(&s, 1);
    return s;
}

int64_t indirect_split(int64_t entries, int64_t cores, int64_t index_stick_elements, bool scatter)
{
    if (scatter && entries % index_stick_elements != 0) return 1;
    int64_t sticks = (entries + index_stick_elements - 1) / index_stick_elements;
    struct factor_set s = factors_of_divisors(sticks);
    return factor_most(&s, cores);
}

bool symbolic_granularity(int64_t most, int64_t least, int64_t *out, lx_status *st)
{
    if (least > 0) {
        if (most % least != 0)
            return status_set(st, LX_E_RANGE, "an extent from %lld to %lld: the least must divide the most",
                              (long long)least, (long long)most);
        if (most / least > MAX_BUCKETS)
            return status_set(
                st, LX_E_RANGE,
                "an extent from %lld to %lld has %lld buckets; at most %d, so begin at %lld or above",
                (long long)least, (long long)most, (long long)(most / least), MAX_BUCKETS,
                (long long)(most / MAX_BUCKETS));
        *out = least;
        return true;
    }
    for (int64_t d = LEAST_GRANULARITY; d <= most; d++)
        if (most % d == 0 && most / d <= MAX_BUCKETS) {
            *out = d;
            return true;
        }
    *out = most;
    return true;
}

bool symbolic_supported(bool is_stick, bool is_matmul, lx_status *st)
{
    if (!is_stick && !is_matmul) return true;
    return status_set(st, LX_E_UNSUPPORTED,
                      "a dimension known at run time only %s cannot be planned; give its extent",
                      is_stick ? "along which sticks run" : "of a matmul");
}
