/* Axes carried on through the tensors that ops share. */
#include "nests/nest_candidates.h"
#include "layout/op_index.h"

#include <string.h>

typedef signed char (*vars)[LX_MAX_LEVELS];

static vars new_vars(const struct lx_nest *n, struct arena *memory)
{
    return arena_array(memory, (size_t)(n->last - n->first + 1), LX_MAX_LEVELS);
}

/* A run whose variables are being found, level by level. */
struct growing {
    const struct lx_graph *g;
    int32_t first, count;
    struct op_index *x; /* per op */
    vars var;           /* -1: not known yet */
    signed char *dim;   /* per tensor: the dimension that the level cuts, or -1 */
};

/* What an op whose variable is known says of its tensors. */
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
        for (int32_t k = 0; k < 2 * w->count; k++) { /* there and back */
            int32_t o = k < w->count ? k : 2 * w->count - 1 - k;
            if (w->var[o][level] >= 0) continue;
            /* The variable by the tensors that others have marked. */
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
    w.var = new_vars(out, memory);
    w.dim = arena_array(memory, (size_t)l->graph->tensor_count, 1);
    memset(w.var, -1, (size_t)w.count * LX_MAX_LEVELS);
    memcpy(w.var[from - first], n->var[from - n->first], (size_t)(to - from + 1) * LX_MAX_LEVELS);
    for (int32_t o = 0; o < w.count; o++) {
        if (!nest_takes_op(l, first + o)) return false;
        op_index_of(w.g, &w.g->ops[first + o], &w.x[o]);
    }
    out->var = (const signed char(*)[LX_MAX_LEVELS])w.var;
    for (int level = 0; level < n->level_count; level++)
        if (!reach_all(&w, level)) return false;
    return true;
}

bool nest_deeper(const struct lx_layouts *l, const struct lx_nest *n, int at, int var, int64_t tiles,
                 struct arena *memory, struct lx_nest *out)
{
    signed char seed[1][LX_MAX_LEVELS] = {{(signed char)var}};
    struct lx_nest one = {.first = n->first, .last = n->first, .level_count = 1, .tiles = {tiles}}, all;
    if (n->level_count == LX_MAX_LEVELS) return false;
    one.var = (const signed char(*)[LX_MAX_LEVELS])seed;
    if (!nest_over(l, &one, n->first, n->last, memory, &all)) return false;
    *out = *n;
    out->level_count++;
    vars to = new_vars(n, memory);
    out->var = (const signed char(*)[LX_MAX_LEVELS])to;
    for (int level = 0; level < out->level_count; level++) {
        int old = level < at ? level : level - 1;
        out->tiles[level] = level == at ? tiles : n->tiles[old];
        for (int32_t o = 0; o <= n->last - n->first; o++)
            to[o][level] = level == at ? all.var[o][0] : n->var[o][old];
    }
    return true;
}

bool nest_shallower(const struct lx_nest *n, int at, struct arena *memory, struct lx_nest *out)
{
    *out = *n;
    vars to = new_vars(n, memory);
    out->var = (const signed char(*)[LX_MAX_LEVELS])to;
    out->level_count--;
    for (int level = 0; level < out->level_count; level++) {
        int old = level < at ? level : level + 1;
        out->tiles[level] = n->tiles[old];
        for (int32_t o = 0; o <= n->last - n->first; o++) to[o][level] = n->var[o][old];
    }
    return true;
}

bool nest_swapped(const struct lx_nest *n, int one, int two, struct arena *memory, struct lx_nest *out)
{
    *out = *n;
    vars to = new_vars(n, memory);
    out->var = (const signed char(*)[LX_MAX_LEVELS])to;
    out->tiles[one] = n->tiles[two];
    out->tiles[two] = n->tiles[one];
    for (int32_t o = 0; o <= n->last - n->first; o++)
        for (int level = 0; level < n->level_count; level++)
            to[o][level] = n->var[o][level == one ? two : level == two ? one : level];
    return true;
}
