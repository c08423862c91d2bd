/* The divided graph under decisions: ops reordered, some split differently. Changed arrays are copied, their
 * elements are shared. */
#include "stays/draft.h"
#include "graph/builder.h"
#include "layout/op_index.h"

int cut_compare(const void *a, const void *b)
{
    const struct cut *x = a, *y = b;
    if (x->tensor != y->tensor) return x->tensor < y->tensor ? -1 : 1;
    return (x->before > y->before) - (x->before < y->before);
}

bool cut_among(const struct cut *cuts, int32_t count, struct cut c)
{
    return count > 0 && bsearch(&c, cuts, (size_t)count, sizeof *cuts, cut_compare);
}

static void copy_decisions(struct draft *x, const struct decisions *how)
{
    size_t ops = (size_t)x->divided->count;
    struct arena *m = x->memory;
    x->how = *how;
    x->how.cuts = arena_copy_array(m, how->cuts, (size_t)how->cut_count, sizeof *how->cuts);
    x->how.moves = arena_copy_array(m, how->moves, (size_t)how->move_count, sizeof *how->moves);
    x->how.apart = arena_copy_array(m, how->apart, (size_t)how->apart_count, sizeof *how->apart);
    x->how.loaded = arena_copy_array(m, how->loaded, (size_t)how->loaded_count, sizeof *how->loaded);
    x->how.kept = arena_copy_array(m, how->kept, (size_t)how->kept_count, sizeof *how->kept);
    if (how->borders)
        x->how.borders = arena_copy_array(m, how->borders, (size_t)how->border_count, sizeof *how->borders);
    x->how.early = arena_copy_array(m, how->early, (size_t)how->early_count, sizeof *how->early);
    x->how.holds = arena_copy_array(m, how->holds, (size_t)how->hold_count, sizeof *how->holds);
    int32_t count = how->nest_count;
    struct lx_nest *to = arena_copy_array(m, how->nests, (size_t)count, sizeof *to);
    for (int32_t i = 0; i < count; i++)
        to[i].var = arena_copy_array(
            m, how->nests[i].var, (size_t)(how->nests[i].last - how->nests[i].first + 1), sizeof *to[i].var);
    x->how.nests = to;
    if (how->order) x->how.order = arena_copy_array(m, how->order, ops, sizeof *how->order);
    if (how->divided) x->how.divided = arena_copy_array(m, how->divided, ops, sizeof *how->divided);
}

/* Renumbers ops (by ticks) in the arrays of `old`; writes the new arrays to `l`. */
static void reorder_layouts(const struct lx_layouts *old, const int32_t *order, struct arena *m,
                            struct lx_layouts *l)
{
    size_t n = (size_t)old->graph->op_count;
    int32_t *place = arena_array(m, n, sizeof *place), *origin = arena_array(m, n, sizeof *origin);
    signed char *stick = arena_array(m, n, sizeof *stick);
    bool *wide = old->too_wide ? arena_array(m, n, sizeof *wide) : NULL;
    struct lx_restickify *r =
        arena_copy_array(m, old->restickifies, (size_t)old->restickify_count, sizeof *r);
    struct lx_padding *p = arena_copy_array(m, old->paddings, (size_t)old->padding_count, sizeof *p);
    for (size_t t = 0; t < n; t++) {
        place[order[t]] = (int32_t)t;
        origin[t] = old->op_origin[order[t]];
        stick[t] = old->stick_var[order[t]];
        if (wide) wide[t] = old->too_wide[order[t]];
    }
    for (int32_t i = 0; i < old->restickify_count; i++)
        r[i].op = place[r[i].op], r[i].before = place[r[i].before];
    for (int32_t i = 0; i < old->padding_count; i++) p[i].op = place[p[i].op];
    l->op_origin = origin;
    l->stick_var = stick;
    l->too_wide = wide;
    l->restickifies = r;
    l->paddings = p;
}

/* Is the division `v` for the tiles of its op's nest? */
static bool divides_tiles(const struct lx_divisions *d, const struct lx_division *v)
{
    int32_t n = nest_of_op(d->nests, d->nest_count, v->op);
    int64_t tiles[LX_MAX_VARS];
    struct op_index x = {0};
    if (n >= 0) {
        nest_op_tiles(&d->nests[n], v->op, tiles);
        op_index_of(d->layouts->graph, &d->layouts->graph->ops[v->op], &x);
    }
    for (int i = 0; i < v->split_count; i++) {
        int64_t wanted = 1;
        for (int k = 0; k < x.var_count; k++)
            if (x.letter[k] == v->splits[i].letter) wanted = tiles[k];
        if (v->splits[i].tiles != wanted) return false;
    }
    return true;
}

static bool decide_divisions(struct draft *x, lx_status *st)
{
    const struct lx_divisions *old = x->divided;
    const struct decisions *how = &x->how;
    struct lx_divisions *d = arena_copy_array(x->memory, old, 1, sizeof *d);
    d->at = arena_array(x->memory, (size_t)old->count, sizeof *d->at);
    d->layouts = x->layouts;
    d->memory = NULL; /* memory is the draft's */
    for (int32_t t = 0; t < old->count; t++) {
        int32_t o = how->order ? how->order[t] : t;
        d->at[t] = how->divided && how->divided[o] ? *how->divided[o] : old->at[o];
        d->at[t].op = t;
    }
    for (int32_t o = 0; how->divided && o < old->count; o++)
        if (how->divided[o]) d->predicted_us += how->divided[o]->predicted_us - old->at[o].predicted_us;
    d->nests = how->nests;
    d->nest_count = how->nest_count;
    x->divisions = d;
    bool no_cost = x->how.passes.matmul == LX_MATMUL_RULE;
    for (int32_t t = 0; t < d->count; t++)
        if (!divides_tiles(d, &d->at[t]) && !lx_divide_again(d, t, no_cost, x->memory, &d->at[t], st))
            return false;
    if (d->nest_count) d->predicted_us = 0;
    for (int32_t t = 0; d->nest_count && t < d->count; t++) d->predicted_us += d->at[t].predicted_us;
    return true;
}

bool draft_decide(struct draft *x, const struct decisions *how, lx_status *st)
{
    x->divisions = x->divided;
    x->layouts = x->divided->layouts;
    x->graph = x->layouts->graph;
    copy_decisions(x, how);
    if (how->order) {
        const struct lx_layouts *old = x->divided->layouts;
        struct lx_layouts *l = arena_copy_array(x->memory, old, 1, sizeof *l);
        reorder_layouts(old, x->how.order, x->memory, l);
        l->graph = graph_with_order(old->graph, x->how.order);
        l->memory = NULL; /* memory is the draft's */
        x->layouts = l;
        x->graph = l->graph;
    }
    for (int32_t i = 0; i < how->nest_count; i++)
        if (!nest_valid(x->layouts, &x->how.nests[i], st)) return false;
    return how->order || how->divided || how->nest_count ? decide_divisions(x, st) : true;
}

void draft_free(struct draft *x)
{
    if (!x->divided || x->graph == x->divided->layouts->graph) return;
    lx_graph_free(x->graph);
    x->graph = x->divided->layouts->graph;
}

/* --- Bundles: runs of ops launched as one kernel. The scratchpads are wiped between them, unless the device
 * can spare them: then a plan marks a bundle non-terminal where something lives on behind it. An extern op
 * stands alone. Where the device limits the tensors of a bundle, a new one begins before the op that would
 * exceed the limit; all tensors since the last border count as off chip. Decisions may state other borders. A
 * nest is in one bundle: its ops are counted together. --- */

struct cutter {
    const struct draft *x;
    int32_t *seen; /* per tensor: 1 + the last bundle that used it */
    int32_t bundle, next_border;
    int64_t tensors;
};

/* Does the op or the one before stand alone, off the device? */
static bool bundles_stand_apart(const struct lx_graph *g, int32_t o)
{
    return (g->ops[o].kind->traits | g->ops[o - 1].kind->traits) & LX_WIPES;
}

/* Tensors of the ops [first, last] that are new to the bundle. */
static int64_t new_tensors(const struct cutter *c, int32_t first, int32_t last)
{
    int64_t count = 0;
    for (int32_t o = first; o <= last; o++)
        for (int i = 0; i < op_operand_count(&c->x->graph->ops[o]); i++) {
            int32_t t = op_operand(&c->x->graph->ops[o], i);
            bool seen = c->seen[t] == c->bundle + 1;
            for (int32_t k = first; k <= o && !seen; k++)
                for (int j = 0; j < op_operand_count(&c->x->graph->ops[k]) && (k < o || j < i) && !seen; j++)
                    seen = op_operand(&c->x->graph->ops[k], j) == t;
            count += !seen;
        }
    return count;
}

static bool bundles_begins_bundle(struct cutter *c, int32_t o)
{
    int64_t limit = c->x->graph->device.bundle_tensors;
    int32_t n = nest_of_op(c->x->how.nests, c->x->how.nest_count, o), last = o;
    if (n >= 0) last = c->x->how.nests[n].last;
    if (o == 0 || (n >= 0 && o > c->x->how.nests[n].first)) return false;
    /* Calls off the device; send and receive leave the scratchpads alone. */
    if (bundles_stand_apart(c->x->graph, o)) return true;
    if (c->x->how.borders) {
        const struct decisions *how = &c->x->how;
        while (c->next_border < how->border_count && how->borders[c->next_border] < o) c->next_border++;
        return c->next_border < how->border_count && how->borders[c->next_border] == o;
    }
    return limit > 0 && c->tensors + new_tensors(c, o, last) > limit;
}

bool draft_bundles(struct draft *x, lx_status *st)
{
    struct cutter c = {.x = x, .seen = mem_zeroed((size_t)x->graph->tensor_count + 1, sizeof *c.seen)};
    x->bundle_of = arena_array(x->memory, (size_t)x->graph->op_count, sizeof *x->bundle_of);
    x->wipes_before = arena_array(x->memory, (size_t)x->graph->op_count, sizeof *x->wipes_before);
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        bool begins = bundles_begins_bundle(&c, o);
        if (begins) c.bundle++, c.tensors = 0;
        if (o > 0) x->wipes_before[o] = x->wipes_before[o - 1];
        if (begins && (!x->graph->device.lx_survives || bundles_stand_apart(x->graph, o)))
            x->wipes_before[o]++;
        c.tensors += new_tensors(&c, o, o);
        for (int i = 0; i < op_operand_count(&c.x->graph->ops[o]); i++)
            c.seen[op_operand(&c.x->graph->ops[o], i)] = c.bundle + 1;
        x->bundle_of[o] = c.bundle;
    }
    x->bundle_count = x->graph->op_count > 0 ? c.bundle + 1 : 0;
    const struct cutter none = {.x = x, .seen = c.seen, .bundle = INT32_MAX - 1};
    int64_t limit = x->graph->device.bundle_tensors;
    bool fits = true;
    for (int32_t i = 0; fits && limit > 0 && !x->how.borders && i < x->how.nest_count; i++) {
        const struct lx_nest *n = &x->how.nests[i];
        if (n->first < n->last && new_tensors(&none, n->first, n->last) > limit)
            fits =
                status_set(st, LX_E_NEST,
                           "the nest from op %s on has more than the %lld tensors that the device launches "
                           "together; let it have fewer ops",
                           x->graph->ops[n->first].name, (long long)limit);
    }
    mem_free(c.seen);
    return fits;
}
