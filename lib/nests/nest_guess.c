/* Tensors are taken on chip from the best bargain on, each with the hold that costs least of those that
 * fit; then holds are changed where that pays. */
#include "nests/nest_guess.h"
#include "base/checked.h"

static int64_t nest_guess_product(const struct guessing *g, const struct run_tensor *t, int level,
                                  bool indexed)
{
    int64_t all = 1;
    for (int l = 0; l < level; l++)
        if ((t->dim[g->axis[l]] >= 0) == indexed) all *= g->tiles[l];
    return all;
}

/* Parts of a sum that are written while it is held up to `level`. */
static int64_t nest_guess_sum_parts(const struct guessing *g, const struct run_tensor *t, int level)
{
    int64_t all = 1;
    for (int l = 0; l < level; l++)
        if (t->summed[g->axis[l]]) all *= g->tiles[l];
    return all;
}

static int64_t nest_guess_off_chip(const struct guessing *g, const struct run_tensor *t)
{
    int64_t times = nest_guess_product(g, t, g->levels, false);
    return t->bytes * (t->reads * times + t->writes * (2 * nest_guess_sum_parts(g, t, g->levels) - 1));
}

/* The tensor held with `level`. */
static struct hold_way way_of(const struct guessing *g, const struct run_tensor *t, int level)
{
    struct hold_way w = {.from = g->first, .to = g->last};
    if (level > 0 && t->dim[g->axis[level - 1]] < 0) return w;
    if (t->made && level > 0 && level < g->levels && !(nest_guess_sum_parts(g, t, g->levels) > 1)) return w;
    int64_t parts = nest_guess_sum_parts(g, t, level);
    w.is = true;
    w.bytes = t->bytes / nest_guess_product(g, t, level, true);
    if (level == g->levels) w.from = t->first, w.to = t->last - t->gives_way;
    if (!t->made)
        w.cost = t->bytes * nest_guess_product(g, t, level, false);
    else if (parts > 1)
        w.cost = t->bytes * (2 * parts - 1);
    else if (t->wanted)
        w.cost = t->bytes;
    return w;
}

static bool nest_guess_fits(const struct guessing *g, const struct hold_way *w)
{
    for (int32_t k = w->from; k <= w->to; k++)
        if (g->load[k - g->first] + w->bytes > g->room) return false;
    return true;
}

static void nest_guess_put(const struct guessing *g, const struct hold_way *w, int64_t sign)
{
    for (int32_t k = w->from; k <= w->to; k++) g->load[k - g->first] += sign * w->bytes;
}

static int64_t nest_guess_cost_of(const struct tensor_ways *y, int level)
{
    return level < 0 ? y->off : y->at[level].cost;
}

/* The cheapest way that fits beside what is there; -1: HBM. */
static int cheapest(const struct guessing *g, const struct tensor_ways *y)
{
    int level = -1;
    for (int h = g->levels; h >= 0; h--)
        if (y->at[h].is && y->at[h].cost < nest_guess_cost_of(y, level) && nest_guess_fits(g, &y->at[h]))
            level = h;
    return level;
}

static void nest_guess_judge(const struct guessing *g, struct tensor_ways *y)
{
    y->best = cheapest(g, y);
    y->worth = 0;
    if (y->best < 0) return;
    const struct hold_way *w = &y->at[y->best];
    y->worth =
        (double)(y->off - w->cost) / ((double)w->bytes + 1) / (double)(max_i64(w->to - w->from, 0) + 1);
}

/* What is there grows only: a way is the cheapest for as long as it fits. */
static void judge_again(const struct guessing *g, const struct hold_way *put)
{
    for (int32_t i = 0; i < g->count; i++) {
        struct tensor_ways *y = &g->ways[i];
        if (g->hold[i] != -2 || y->best < 0) continue;
        const struct hold_way *w = &y->at[y->best];
        if (w->from <= put->to && put->from <= w->to && !nest_guess_fits(g, w)) nest_guess_judge(g, y);
    }
}

/* Of each tensor once more: is there a better way now? */
static bool nest_guess_improve(const struct guessing *g, int64_t *bytes)
{
    bool any = false;
    for (int32_t i = 0; i < g->count; i++) {
        const struct tensor_ways *y = &g->ways[i];
        int64_t before = nest_guess_cost_of(y, g->hold[i]);
        if (g->hold[i] >= 0) nest_guess_put(g, &y->at[g->hold[i]], -1);
        int level = cheapest(g, y);
        if (nest_guess_cost_of(y, level) < before) {
            *bytes += nest_guess_cost_of(y, level) - before;
            g->hold[i] = (signed char)level;
            any = true;
        }
        if (g->hold[i] >= 0) nest_guess_put(g, &y->at[g->hold[i]], 1);
    }
    return any;
}

/* Does every byte of both cost the same, whatever the tiles? */
static bool costs_alike(const struct guessing *g, const struct run_tensor *a, const struct run_tensor *b)
{
    bool alike =
        a->made == b->made && a->wanted == b->wanted && a->reads == b->reads && a->writes == b->writes;
    for (int l = 0; l < g->levels; l++) {
        int axis = g->axis[l];
        alike = alike && (a->dim[axis] < 0) == (b->dim[axis] < 0) && a->summed[axis] == b->summed[axis];
    }
    return alike;
}

int32_t nest_guess_groups(const struct guessing *g, struct run_tensor *groups)
{
    int32_t count = 0;
    for (int32_t i = 0; i < g->count; i++) {
        int32_t k = 0;
        while (k < count && !costs_alike(g, &groups[k], &g->t[i])) k++;
        if (k < count)
            groups[k].bytes += g->t[i].bytes;
        else
            groups[count++] = g->t[i];
    }
    return count;
}

int64_t nest_guess_least(const struct guessing *g, const struct run_tensor *groups, int32_t count)
{
    int64_t least = 0;
    for (int32_t i = 0; i < count; i++) {
        int64_t best = nest_guess_off_chip(g, &groups[i]);
        for (int h = 0; h <= g->levels; h++) {
            struct hold_way w = way_of(g, &groups[i], h);
            if (w.is) best = min_i64(best, w.cost);
        }
        least += best;
    }
    return least;
}

int64_t nest_guess(const struct guessing *g)
{
    int64_t bytes = 0;
    /* All ways that a tensor can be had in. */
    for (int32_t i = 0; i < g->count; i++) {
        struct tensor_ways *y = &g->ways[i];
        y->off = nest_guess_off_chip(g, &g->t[i]);
        for (int h = 0; h <= g->levels; h++) y->at[h] = way_of(g, &g->t[i], h);
    }
    for (int32_t k = g->first; k <= g->last; k++) g->load[k - g->first] = 0;
    for (int32_t i = 0; i < g->count; i++) {
        g->hold[i] = -2;
        nest_guess_judge(g, &g->ways[i]);
    }
    for (int32_t n = 0; n < g->count; n++) {
        /* The best bargain of those that are left. */
        int32_t i = -1;
        for (int32_t j = 0; j < g->count; j++)
            if (g->hold[j] == -2 && (i < 0 || g->ways[j].worth > g->ways[i].worth)) i = j;
        struct tensor_ways *y = &g->ways[i];
        g->hold[i] = (signed char)y->best;
        bytes += nest_guess_cost_of(y, y->best);
        if (y->best < 0) continue;
        nest_guess_put(g, &y->at[y->best], 1);
        judge_again(g, &y->at[y->best]);
    }
    for (int k = 0; k < 3 && nest_guess_improve(g, &bytes); k++) continue;
    return bytes;
}
