/* Extends axes through the tensors that ops share. */
#include "nests/nest_candidates.h"
#include "layout/op_index.h"

typedef signed char (*vars)[LX_MAX_LEVELS];

/* A run whose variables are determined level by level. */
struct growing {
    const struct lx_graph *g;
    int32_t first, count;
    struct op_index *x; /* per op */
    vars var;           /* per op and level; -1: unknown */
    signed char *dim;   /* per tensor: dimension cut by the current level, or -1 */
};

/* Marks the dimension that the variable of op `o` indexes, in each of its tensors. */
static void mark_tensors(struct growing *w, int32_t o, int level)
{
    for (int i = 0; i < w->x[o].operand_count; i++) {
        int dim = op_index_dim(&w->x[o], i, w->var[o][level]);
        if (dim >= 0) w->dim[op_operand(&w->g->ops[w->first + o], i)] = (signed char)dim;
    }
}

static bool reach_all(struct growing *w, int level)
{
    int32_t left = 0;
    memset(w->dim, -1, (size_t)w->g->tensor_count);
    for (int32_t o = 0; o < w->count; o++) {
        if (w->var[o][level] >= 0) mark_tensors(w, o, level);
        left += w->var[o][level] < 0;
    }
    for (bool any = true; any && left > 0;) {
        any = false;
        for (int32_t k = 0; k < 2 * w->count; k++) { /* forward, then backward */
            int32_t o = k < w->count ? k : 2 * w->count - 1 - k;
            if (w->var[o][level] >= 0) continue;
            /* The variable that indexes a marked dimension. */
            for (int i = 0; i < w->x[o].operand_count && w->var[o][level] < 0; i++) {
                int dim = w->dim[op_operand(&w->g->ops[w->first + o], i)];
                if (dim >= 0 && dim < w->x[o].rank[i]) w->var[o][level] = w->x[o].var[i][dim];
            }
            if (w->var[o][level] < 0) continue;
            mark_tensors(w, o, level);
            any = true;
            left--;
        }
    }
    return left == 0;
}

bool nest_over(const struct lx_layouts *l, const struct lx_nest *n, int32_t first, int32_t last,
               struct arena *memory, struct lx_nest *out)
{
    int32_t from = first > n->first ? first : n->first, to = last < n->last ? last : n->last;
    struct growing w = {.g = l->graph, .first = first, .count = last - first + 1};
    *out = *n;
    out->first = first;
    out->last = last;
    if (first < 0 || last >= l->graph->op_count || from > to) return false;
    w.x = arena_array(memory, (size_t)w.count, sizeof *w.x);
    w.var = arena_array(memory, (size_t)w.count, LX_MAX_LEVELS);
    w.dim = arena_array(memory, (size_t)l->graph->tensor_count, 1);
    memset(w.var, -1, (size_t)w.count * LX_MAX_LEVELS);
    /* From one op on: of a shorter run, tensors may no longer join all ops. */
    memcpy(w.var[from - first], n->var[from - n->first], LX_MAX_LEVELS);
    for (int32_t o = 0; o < w.count; o++) {
        if (nest_never_takes(l, first + o)) return false;
        op_index_of(w.g, &w.g->ops[first + o], &w.x[o]);
    }
    out->var = (const signed char(*)[LX_MAX_LEVELS])w.var;
    for (int level = 0; level < n->level_count; level++)
        if (!reach_all(&w, level)) return false;
    return true;
}

/* The nest with levels old[0], old[1], ...; -1: a new level, set by the caller. */
static vars take_levels(const struct lx_nest *n, const int *old, int count, struct arena *memory,
                        struct lx_nest *out)
{
    vars to = arena_array(memory, (size_t)(n->last - n->first + 1), LX_MAX_LEVELS);
    *out = *n;
    out->level_count = count;
    out->var = (const signed char(*)[LX_MAX_LEVELS])to;
    for (int level = 0; level < count; level++) {
        if (old[level] < 0) continue;
        out->tiles[level] = n->tiles[old[level]];
        for (int32_t o = 0; o <= n->last - n->first; o++) to[o][level] = n->var[o][old[level]];
    }
    return to;
}

bool nest_deeper(const struct lx_layouts *l, const struct lx_nest *n, int at, int var, int64_t tiles,
                 struct arena *memory, struct lx_nest *out)
{
    signed char seed[1][LX_MAX_LEVELS] = {{(signed char)var}};
    struct lx_nest one = {.first = n->first, .last = n->first, .level_count = 1, .tiles = {tiles}}, all;
    int old[LX_MAX_LEVELS];
    if (n->level_count == LX_MAX_LEVELS) return false;
    one.var = (const signed char(*)[LX_MAX_LEVELS])seed;
    if (!nest_over(l, &one, n->first, n->last, memory, &all)) return false;
    for (int level = 0; level <= n->level_count; level++)
        old[level] = level < at ? level : level == at ? -1 : level - 1;
    vars to = take_levels(n, old, n->level_count + 1, memory, out);
    out->tiles[at] = tiles;
    for (int32_t o = 0; o <= n->last - n->first; o++) to[o][at] = all.var[o][0];
    return true;
}

void nest_shallower(const struct lx_nest *n, int at, struct arena *memory, struct lx_nest *out)
{
    int old[LX_MAX_LEVELS];
    for (int level = 0; level + 1 < n->level_count; level++) old[level] = level < at ? level : level + 1;
    take_levels(n, old, n->level_count - 1, memory, out);
}

void nest_swapped(const struct lx_nest *n, int one, int two, struct arena *memory, struct lx_nest *out)
{
    int old[LX_MAX_LEVELS];
    for (int level = 0; level < n->level_count; level++)
        old[level] = level == one ? two : level == two ? one : level;
    take_levels(n, old, n->level_count, memory, out);
}
