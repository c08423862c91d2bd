/* Tensors are taken on chip from the best bargain on, each with the hold that costs least of those that fit; then holds are
 * changed where that pays. */
#include "scratchpad/nests/nest_guess.h"
#include "base/checked.h"

/* One way to have a tensor. */
struct way {
    int64_t bytes, cost;
    int32_t from, to; /* ticks of the run */
};

struct guessing {
    const struct run_tensor *t;
    int32_t first, last;
    int levels;
    const int *axis;
    const int64_t *tiles;
    int64_t room, *load;
};

static int64_t product(const struct guessing *g, const struct run_tensor *t, int level, bool indexed)
{
    int64_t all = 1;
    for (int l = 0; l < level; l++)
        if ((t->dim[g->axis[l]] >= 0) == indexed) all *= g->tiles[l];
    return all;
}

/* Parts of a sum that are written while it is held up to `level`. */
static int64_t sum_parts(const struct guessing *g, const struct run_tensor *t, int level)
{
    int64_t all = 1;
    for (int l = 0; l < level; l++)
        if (t->summed[g->axis[l]]) all *= g->tiles[l];
    return all;
}

static bool is_sum(const struct guessing *g, const struct run_tensor *t)
{
    return sum_parts(g, t, g->levels) > 1;
}

static int64_t off_chip(const struct guessing *g, const struct run_tensor *t)
{
    int64_t times = product(g, t, g->levels, false);
    return t->bytes * (t->reads * times + t->writes * (2 * sum_parts(g, t, g->levels) - 1));
}

/* The tensor held with `level`; false: that is no hold. */
static bool way_of(const struct guessing *g, const struct run_tensor *t, int level, struct way *w)
{
    if (level > 0 && t->dim[g->axis[level - 1]] < 0) return false;
    if (t->made && !is_sum(g, t) && level > 0 && level < g->levels) return false;
    int64_t parts = sum_parts(g, t, level);
    *w = (struct way){t->bytes / product(g, t, level, true), 0, g->first, g->last};
    if (level == g->levels) w->from = t->first, w->to = t->last - t->gives_way;
    if (!t->made)
        w->cost = t->bytes * product(g, t, level, false);
    else if (parts > 1)
        w->cost = t->bytes * (2 * parts - 1);
    else if (t->wanted)
        w->cost = t->bytes;
    return true;
}

static bool fits(const struct guessing *g, const struct way *w)
{
    for (int32_t k = w->from; k <= w->to; k++)
        if (g->load[k - g->first] + w->bytes > g->room) return false;
    return true;
}

static void put(const struct guessing *g, const struct way *w, int64_t sign)
{
    for (int32_t k = w->from; k <= w->to; k++) g->load[k - g->first] += sign * w->bytes;
}

/* The cheapest way that fits beside what is there; -1: HBM. */
static int cheapest(const struct guessing *g, const struct run_tensor *t, int64_t *cost, struct way *best)
{
    int level = -1;
    *cost = off_chip(g, t);
    for (int h = g->levels; h >= 0; h--) {
        struct way w;
        if (!way_of(g, t, h, &w) || w.cost >= *cost || !fits(g, &w)) continue;
        level = h;
        *cost = w.cost;
        *best = w;
    }
    return level;
}

/* What a byte on chip saves per tick. */
static double bargain(const struct guessing *g, const struct run_tensor *t)
{
    int64_t cost, off = off_chip(g, t);
    struct way w = {0};
    if (cheapest(g, t, &cost, &w) < 0) return 0;
    return (double)(off - cost) / ((double)w.bytes + 1) / (double)(max_i64(w.to - w.from, 0) + 1);
}

/* Of each tensor once more: is there a better way now? */
static bool improve(const struct guessing *g, int32_t count, struct guess *out)
{
    bool any = false;
    for (int32_t i = 0; i < count; i++) {
        struct way old = {0}, w;
        int64_t before = off_chip(g, &g->t[i]), cost;
        if (out->hold[i] >= 0) {
            way_of(g, &g->t[i], out->hold[i], &old);
            before = old.cost;
            put(g, &old, -1);
        }
        int level = cheapest(g, &g->t[i], &cost, &w);
        if (cost < before) {
            out->bytes += cost - before;
            out->hold[i] = (signed char)level;
            any = true;
        } else
            w = old;
        if (out->hold[i] >= 0) put(g, &w, 1);
    }
    return any;
}

void nest_guess(const struct run_tensor *t, int32_t count, int32_t first, int32_t last, int levels,
                const int *axis, const int64_t *tiles, int64_t room, int64_t *load, struct guess *out)
{
    struct guessing g = {t, first, last, levels, axis, tiles, room, load};
    for (int32_t k = first; k <= last; k++) load[k - first] = 0;
    out->bytes = 0;
    for (int32_t i = 0; i < count; i++) {
        out->hold[i] = -2;
        out->bytes += off_chip(&g, &t[i]);
    }
    for (int32_t n = 0; n < count; n++) {
        int32_t pick = -1;
        double best = -1;
        for (int32_t i = 0; i < count; i++) {
            if (out->hold[i] != -2) continue;
            double worth = bargain(&g, &t[i]);
            if (worth > best) best = worth, pick = i;
        }
        struct way w;
        int64_t cost;
        int level = cheapest(&g, &t[pick], &cost, &w);
        out->hold[pick] = (signed char)level;
        out->bytes += cost - off_chip(&g, &t[pick]);
        if (level >= 0) put(&g, &w, 1);
    }
    for (int k = 0; k < 3 && improve(&g, count, out); k++) continue;
}
