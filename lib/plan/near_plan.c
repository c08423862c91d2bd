/* One more start for the search: what was decided for a graph of the same structure in other sizes. Its order of ops, its
 * nests, with as many tiles and with tiles as large, its divisions where ops may be divided otherwise, its cuts and holds
 * are tried as they are on the best attempt of the search by itself; where that moves less the passes go on from there.
 * So the plan is never worse for it. What does not fit (a tile that divides nothing, a split that is not legal) is left
 * out, and a plan whose layouts came out otherwise is no start at all. */
#include "plan/planner.h"
#include "base/fail.h"
#include "layout/op_index.h"

#include <stdlib.h>
#include <string.h>

/* What is carried over; all in `memory` until the attempt has copied it. */
struct carried {
    struct planner *p;
    const struct lx_plan *from;
    bool by_size;   /* tiles are as large as there, not as many */
    struct draft x; /* the graph in that order, for what has to be legal in it */
    struct decisions how;
    struct lx_nest *nests;
    int32_t *number; /* per nest of `from`: its number here, or -1 */
    struct arena memory;
};

static bool same_tensors(const struct lx_layouts *a, const struct lx_layouts *b)
{
    if (a->graph->tensor_count != b->graph->tensor_count || a->graph->op_count != b->graph->op_count)
        return false;
    for (int32_t t = 0; t < a->graph->tensor_count; t++)
        if (a->origin[t] != b->origin[t]) return false;
    return true;
}

static bool near_plan_same_op(const struct lx_graph *a, int32_t one, const struct lx_graph *b, int32_t two)
{
    const struct lx_op *x = &a->ops[one], *y = &b->ops[two];
    if (x->kind != y->kind || x->input_count != y->input_count || op_operand_count(x) != op_operand_count(y))
        return false;
    for (int i = 0; i < op_operand_count(x); i++)
        if (op_operand(x, i) != op_operand(y, i)) return false;
    return true;
}

/* Our op for each of theirs: by the first that they write, since both write the same tensors. Several writers in their order. */
static bool find_order(struct carried *c)
{
    const struct lx_graph *own = c->p->divided->layouts->graph, *their = c->from->layouts->graph;
    size_t n = (size_t)own->op_count, tensors = (size_t)own->tensor_count;
    int32_t *order = arena_array(&c->memory, n, sizeof *order);
    int32_t *first = arena_array(&c->memory, tensors, sizeof *first),
            *next = arena_array(&c->memory, n, sizeof *next);
    if (!order || !first || !next) return false;
    memset(first, -1, (tensors + !tensors) * sizeof *first);
    for (int32_t o = own->op_count - 1; o >= 0; o--) {
        int32_t t = own->ops[o].output;
        if (t < 0) return false;
        next[o] = first[t];
        first[t] = o;
    }
    for (int32_t tick = 0; tick < own->op_count; tick++) {
        int32_t t = their->ops[tick].output, o = t < 0 ? -1 : first[t];
        if (o < 0 || !near_plan_same_op(own, o, their, tick)) return false;
        order[tick] = o;
        first[t] = next[o];
    }
    bool moved = false;
    for (int32_t tick = 0; tick < own->op_count; tick++) moved |= order[tick] != tick;
    c->how.order = moved ? order : NULL;
    return !moved || reorder_legal(own, order);
}

/* Tiles of a level here; what `from` has is of another extent. */
static int64_t tiles_here(const struct carried *c, const struct lx_nest *n, int level)
{
    struct op_index here, there;
    int v = n->var[0][level];
    op_index_of(c->x.graph, &c->x.graph->ops[n->first], &here);
    op_index_of(c->from->layouts->graph, &c->from->layouts->graph->ops[n->first], &there);
    int64_t side = there.extent[v] / n->tiles[level];
    return c->by_size && side > 0 ? here.extent[v] / side : n->tiles[level];
}

static bool carry_nests(struct carried *c)
{
    int32_t count = c->from->nest_count, kept = 0;
    lx_status ignored;
    c->nests = arena_array(&c->memory, (size_t)count, sizeof *c->nests);
    c->number = arena_array(&c->memory, (size_t)count, sizeof *c->number);
    if (!c->nests || !c->number) return false;
    for (int32_t i = 0; i < count; i++) {
        struct lx_nest n = c->from->nests[i];
        bool tiled = true;
        for (int l = 0; l < n.level_count; l++) {
            n.tiles[l] = tiles_here(c, &c->from->nests[i], l);
            tiled &= n.tiles[l] > 1;
        }
        bool fits = tiled && nest_valid(c->x.layouts, &n, &ignored);
        c->number[i] = fits ? kept : -1;
        if (fits) c->nests[kept++] = n;
    }
    c->how.nests = c->nests;
    c->how.nest_count = kept;
    return true;
}

static bool carry_division(struct carried *c, const struct lx_divisions *tiled, int32_t tick,
                           const struct lx_division **divided)
{
    const struct lx_division *from = &c->from->divisions->at[tick];
    struct lx_division *v = arena_array(&c->memory, 1, sizeof *v);
    int64_t splits[LX_MAX_VARS];
    lx_status ignored;
    if (!v) return false;
    if (from->kind != LX_DIVIDED || tiled->at[tick].kind != LX_DIVIDED) return true;
    for (int i = 0; i < from->split_count; i++) splits[i] = from->splits[i].split;
    if (lx_division_ordered(tiled, tick, splits, lx_division_front(from), &c->memory, v, &ignored))
        divided[c->how.order ? c->how.order[tick] : tick] = v;
    return true;
}

/* Without co-optimisation work division is asked for, and only nests divide their ops otherwise. */
static bool near_plan_carry_divisions(struct carried *c)
{
    struct lx_divisions tiled = *c->x.divisions;
    bool all = c->how.passes.cooptimise != LX_COOPTIMISE_NONE;
    const struct lx_division **divided =
        arena_array(&c->memory, (size_t)c->x.graph->op_count, sizeof *divided);
    if (!divided) return false;
    tiled.nests = c->how.nests;
    tiled.nest_count = c->how.nest_count;
    for (int32_t t = 0; t < c->x.graph->op_count; t++)
        if ((all || nest_of_op(tiled.nests, tiled.nest_count, t) >= 0) &&
            !carry_division(c, &tiled, t, divided))
            return false;
    c->how.divided = divided;
    return true;
}

static bool carry_holds(struct carried *c)
{
    const struct decisions *from = c->from->how;
    struct hold *holds = arena_array(&c->memory, (size_t)from->hold_count, sizeof *holds);
    if (!holds) return false;
    for (int32_t i = 0; i < from->hold_count; i++) {
        struct hold h = from->holds[i];
        h.nest = c->number[h.nest];
        if (h.nest >= 0) holds[c->how.hold_count++] = h;
    }
    c->how.holds = holds;
    c->how.cuts = from->cuts;
    c->how.cut_count = from->cut_count;
    return true;
}

/* Solved; what cannot be is no start. */
static bool try_carried(struct carried *c, bool *better)
{
    struct planner *p = c->p;
    struct attempt next = {0};
    lx_status st = {0}, *own = p->st;
    p->st = &st;
    bool made = c->how.nest_count ? attempt_make(p, &c->how, &next) : attempt_plain(p, &c->how, &next);
    p->st = own;
    if (!made) return st.code == LX_E_MEMORY ? status_no_memory(own) : true;
    if (c->how.nest_count) next.perfect_bytes = p->best.perfect_bytes;
    if (next.hbm_bytes < p->bound && !asks_time(p)) /* the bound is of less than this */
        attempt_free(&next);
    else
        *better |= attempt_keep_better(&p->best, &next);
    return true;
}

static bool try_near(struct planner *p, bool by_size, bool *better)
{
    struct carried c = {
        .p = p, .from = p->options->near, .by_size = by_size, .how = {.passes = p->options->near->passes}};
    bool fits = find_order(&c), ok = true;
    if (fits) {
        struct decisions ordered = {.passes = c.how.passes, .order = c.how.order};
        ok = draft_make(p->divided, &ordered, &c.memory, &c.x, p->st);
        if (ok) {
            ok = (carry_nests(&c) && near_plan_carry_divisions(&c) && carry_holds(&c)) ||
                 status_no_memory(p->st);
            ok = ok && try_carried(&c, better);
            draft_free(&c.x);
        }
    }
    arena_adopt(p->memory, &c.memory); /* decisions point to the divisions */
    return ok;
}

bool near_search(struct planner *p)
{
    const struct lx_plan *near = p->options->near;
    bool better = false;
    if (!near || near->graph->is_list || (!asks_time(p) && p->best.hbm_bytes <= p->bound) ||
        !same_tensors(p->divided->layouts, near->layouts))
        return true;
    if (!try_near(p, false, &better) || (near->nest_count && !try_near(p, true, &better))) return false;
    return !better || asks_time(p) || search_many(p);
}
