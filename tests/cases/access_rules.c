/* Rules of accesses, each a few lines; see the header for what they say and why. */
#include "cases/access_rules.h"
#include "base/checked.h"
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

int64_t slices_of_dim(int64_t size, int64_t dim_stride, int64_t coefficient, int64_t range, int64_t split)
{
    if (coefficient > dim_stride) { /* every step jumps over positions: each slice must be one step */
        int64_t jump = coefficient / dim_stride;
        return coefficient % dim_stride == 0 && split * jump == size && range == split ? split * jump : 0;
    }
    int64_t steps = dim_stride / coefficient; /* of the variable, a position */
    if (dim_stride % coefficient != 0 || split == 1) return split == 1 ? 1 : 0;
    int64_t per_slice = range / split;
    if (range % split != 0 || per_slice % steps != 0) return 0;
    int64_t positions = per_slice / steps;
    return size % positions == 0 ? size / positions : 0;
}

bool decompose_split(int rank, const int64_t *size, int64_t split, int64_t *parts)
{
    /* Outermost first: a split takes all positions of a dimension before it enters the next one. */
    for (int d = 0; d < rank; d++) {
        if (split <= size[d]) {
            if (size[d] % split != 0) return false;
            parts[d] = split;
            split = 1;
        } else {
            if (split % size[d] != 0) return false;
            parts[d] = size[d];
            split /= size[d];
        }
    }
    return split == 1;
}

bool tile_space(const struct space *s, const int64_t *tiles, struct space *out, lx_status *st)
{
    *out = *s;
    out->axes = arena_copy_array(s->memory, s->axes, (size_t)s->axis_count, sizeof *s->axes);
    if (!out->axes) return status_no_memory(st);
    for (int i = 0; i < s->axis_count; i++) {
        struct axis *a = &out->axes[i];
        if (tiles[i] == 1) continue;
        if (a->units % tiles[i] != 0)
            return status_set_at(st, LX_E_RANGE, s->file, s->line, 1,
                                 "op %s: %lld tiles do not divide the %lld units of '%s'", s->op_name,
                                 (long long)tiles[i], (long long)a->units, a->name);
        bool reduction = a->is_reduction;
        *a = (struct axis){.name = a->name,
                           .letter = a->letter,
                           .extent = min_i64(a->units / tiles[i] * a->unit, a->extent),
                           .unit = a->unit,
                           .is_reduction = reduction};
        axis_settle(a);
    }
    return true;
}

/* Does some division of the tile fit? The span pass finds one if there is. */
static bool tile_fits(const struct space *s, const int64_t *tiles)
{
    struct space tile;
    return tile_space(s, tiles, &tile, NULL) && span_reduce(&tile, NULL);
}

/* All ways to reach `product` from axis `at` on; the first that fits stays in `tiles`. */
static bool try_product(const struct space *s, int at, int64_t product, int64_t *tiles)
{
    if (at == s->axis_count) return product == 1 && tile_fits(s, tiles);
    int64_t most = s->axes[at].is_reduction ? 1 : min_i64(product, s->axes[at].units);
    for (int64_t t = 1; t <= most; t++) {
        if (product % t != 0 || s->axes[at].units % t != 0) continue;
        tiles[at] = t;
        if (try_product(s, at + 1, product / t, tiles)) return true;
    }
    tiles[at] = 1;
    return false;
}

bool span_tiles(const struct space *s, int64_t most, int64_t *tiles, lx_status *st)
{
    for (int i = 0; i < s->axis_count; i++) tiles[i] = 1;
    for (int64_t product = 1; product <= most; product++)
        if (try_product(s, 0, product, tiles)) return true;
    return status_set_at(
        st, LX_E_SPAN, s->file, s->line, 1,
        "op %s: no combined split of up to %lld tiles and %lld cores keeps every span within %lld bytes; "
        "tile by hand, or use more cores",
        s->op_name, (long long)most, (long long)s->cores, (long long)s->span_limit);
}
