/* Coarse tiling for the span limit: the smallest product of tile counts over the output axes, in iteration
 * order, for which some division of one tile fits. Tiles divide an axis into whole units, so that sticks stay
 * whole. */
#include "divide/tiles.h"
#include "base/fail.h"
#include "base/checked.h"

#include <string.h>

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
