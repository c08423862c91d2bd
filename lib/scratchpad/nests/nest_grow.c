/* Axes carried on through the tensors that ops share. */
#include "scratchpad/nests/nest_grow.h"
#include "layout/op_index.h"

#include <string.h>

typedef signed char (*vars)[LX_MAX_LEVELS];

static vars new_vars(const struct lx_nest *n, struct arena *memory)
{
    return arena_array(memory, (size_t)(n->last - n->first + 1), LX_MAX_LEVELS);
}

/* The variable of op `o` on the axis of a level, by the tensors it shares with ops [from, to] of which the variables are
 * known; -1: there is none. */
static int shared_var(const struct lx_layouts *l, const struct lx_nest *n, int32_t from, int32_t to,
                      int32_t o, int level)
{
    const struct lx_graph *g = l->graph;
    struct op_index mine, its;
    op_index_of(g, &g->ops[o], &mine);
    for (int32_t other = from; mine.known && other <= to; other++) {
        op_index_of(g, &g->ops[other], &its);
        for (int i = 0; i < its.operand_count; i++)
            for (int k = 0; k < mine.operand_count; k++) {
                if (op_operand(&g->ops[other], i) != op_operand(&g->ops[o], k)) continue;
                int dim = op_index_dim(&its, i, n->var[other - n->first][level]);
                if (dim >= 0) return mine.var[k][dim];
            }
    }
    return -1;
}

bool nest_over(const struct lx_layouts *l, const struct lx_nest *n, int32_t first, int32_t last,
               struct arena *memory, struct lx_nest *out)
{
    *out = *n;
    out->first = first;
    out->last = last;
    if (first < 0 || last >= l->graph->op_count || first > last) return false;
    vars var = new_vars(out, memory);
    int32_t from = first > n->first ? first : n->first, to = last < n->last ? last : n->last;
    if (!var || from > to) return false;
    out->var = (const signed char(*)[LX_MAX_LEVELS])var;
    memcpy(var[from - first], n->var[from - n->first], (size_t)(to - from + 1) * LX_MAX_LEVELS);
    while (from > first || to < last) {
        int32_t o = to < last ? to + 1 : from - 1;
        if (!nest_takes_op(l, o)) return false;
        for (int level = 0; level < n->level_count; level++) {
            int v = shared_var(l, out, from, to, o, level);
            if (v < 0) return false;
            var[o - first][level] = (signed char)v;
        }
        if (o > to)
            to = o;
        else
            from = o;
    }
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
    if (!to) return false;
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
    if (!to) return false;
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
    if (!to) return false;
    out->var = (const signed char(*)[LX_MAX_LEVELS])to;
    out->tiles[one] = n->tiles[two];
    out->tiles[two] = n->tiles[one];
    for (int32_t o = 0; o <= n->last - n->first; o++)
        for (int level = 0; level < n->level_count; level++) {
            int old = level == one ? two : level == two ? one : level;
            to[o][level] = n->var[o][old];
        }
    return true;
}
