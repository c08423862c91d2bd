/* The edges of a program. The walk follows the order of time and takes the body of each nest twice; the
 * second turn stands for all further iterations. A touch is kept until an edge from a later task is known:
 * every edge from an earlier task to a later tick contains that edge. So the lists are as long as the way
 * between syncs.
 *
 * HBM has one list of reads and one of writes per tensor. A core writes its own scratchpad only, and other
 * cores read it by ring copies alone: a ring copy waits for the last write of its source, and the next write
 * of those bytes waits for the ring copy. */
#include "clock/footprint.h"
#include "clock/syncs.h"
#include "base/slot.h"
#include "stays/draft.h"

/* A tick, in one turn of its nest. */
struct moment {
    int32_t when; /* ticks that were walked before */
    int32_t tick, nest, turn;
};

/* An access of a tensor in HBM. */
struct touch {
    struct moment at;
    int32_t tensor, older; /* older: of the tensor, that reads (writes), too; -1: none */
    bool fixed;            /* each iteration has another part of the tensor */
    struct footprint by;
};

/* A ring copy that has read a stay on other cores. */
struct pull {
    struct moment at;
    int32_t source, target;
    bool exactly; /* else `pulled` has whole parts */
    int64_t cores;
    const struct part_range *pulled; /* per core */
};

struct edge_walk {
    const struct plan_program *p;
    struct moment now;
    int32_t horizon; /* all edges from this moment and before are known */
    VEC(struct touch) touches;
    VEC(struct pull) pulls;
    VEC(struct sync_edge) edges;
    int32_t *newest[2];     /* per tensor: of reads, of writes */
    bool *changes;          /* per tensor: it is written in HBM */
    struct moment *written; /* per stay */
    VEC(int32_t) recent;    /* tensors in HBM since the horizon; with addresses only */
    int32_t *recently;      /* per tensor: when it was put there, or -1 */
    struct early_copies early;
    struct arena scratch;
};

static bool edges_placed(const struct plan_program *p, int32_t stay)
{
    return stay >= 0 && p->address[stay] >= 0;
}

/* From a task of another core at `from` to this tick. */
static void edges_add(struct edge_walk *w, struct moment from)
{
    if (from.when <= w->horizon || from.when == w->now.when) return;
    bool around = from.nest >= 0 && from.nest == w->now.nest && from.turn != w->now.turn;
    VEC_PUSH(&w->edges, (struct sync_edge){from.tick, w->now.tick, around ? from.nest : -1});
    w->horizon = from.when;
}

/* ---- HBM ---- */

/* Does each iteration touch a part of its own? True if all levels of the nest index the tensor. */
static bool edges_fixed(const struct edge_walk *w, const struct footprint *f, int32_t tensor)
{
    if (w->now.nest < 0) return false;
    const struct lx_nest *n = &w->p->nests[w->now.nest];
    unsigned all = levels_to(n->level_count);
    if (f->hold >= 0 && f->hold < n->level_count) return false;
    return nest_tensor_of(w->p->layouts, n, tensor).indexed == all;
}

/* The newest touch of a tensor, if it is still kept; -1: none. */
static int32_t edges_newest(const struct edge_walk *w, int32_t tensor, bool writes)
{
    int32_t i = w->newest[writes][tensor];
    if (i < 0 || (size_t)i >= w->touches.count) return -1;
    return w->touches.at[i].tensor == tensor && w->touches.at[i].by.writes == writes ? i : -1;
}

static void edges_against(struct edge_walk *w, int32_t tensor, bool writes, const struct touch *now)
{
    int32_t i = edges_newest(w, tensor, writes);
    while (i >= 0 && w->touches.at[i].at.when > w->horizon) {
        const struct touch *t = &w->touches.at[i];
        bool apart = t->fixed && now->fixed && t->at.nest == now->at.nest && t->at.turn != now->at.turn;
        if (t->at.when != now->at.when && !apart && footprints_cross(&t->by, &now->by)) {
            edges_add(w, t->at);
            return;
        }
        i = t->older;
    }
}

/* Edges from the last touches of tensors whose HBM addresses this tensor takes over. */
static void edges_of_addresses(struct edge_walk *w, int32_t tensor)
{
    const int64_t *at = w->p->hbm_address;
    const struct lx_layouts *l = w->p->layouts;
    size_t kept = 0;
    int64_t end = at[tensor] + tensor_bytes(l, tensor);
    for (size_t i = 0; i < w->recent.count; i++) {
        int32_t other = w->recent.at[i];
        if (other != tensor && at[other] < end && at[tensor] < at[other] + tensor_bytes(l, other))
            for (int writes = 0; writes < 2; writes++) {
                int32_t k = edges_newest(w, other, writes);
                if (k >= 0) edges_add(w, w->touches.at[k].at);
            }
        if (w->recently[other] > w->horizon)
            w->recent.at[kept++] = other;
        else
            w->recently[other] = -1;
    }
    w->recent.count = kept;
}

/* False: no access to the tensor in HBM has an edge. */
static bool edges_may_touch(const struct edge_walk *w, int32_t tensor)
{
    return w->changes[tensor] || w->p->hbm_address;
}

static void edges_touch(struct edge_walk *w, int32_t tensor, bool writes, struct footprint by)
{
    if (w->touches.count && w->touches.at[w->touches.count - 1].at.when <= w->horizon) w->touches.count = 0;
    struct touch now = {.at = w->now, .tensor = tensor, .older = edges_newest(w, tensor, writes), .by = by};
    now.fixed = edges_fixed(w, &by, tensor);
    if (writes) edges_against(w, tensor, false, &now);
    edges_against(w, tensor, true, &now);
    if (w->p->hbm_address && w->p->hbm_address[tensor] >= 0) {
        if (writes) edges_of_addresses(w, tensor);
        if (w->recently[tensor] < 0) VEC_PUSH(&w->recent, tensor);
        w->recently[tensor] = w->now.when;
    }
    w->newest[writes][tensor] = (int32_t)w->touches.count;
    VEC_PUSH(&w->touches, now);
}

/* ---- scratchpads ---- */

static void edges_pulled(struct edge_walk *w, struct pull *x, bool exactly)
{
    const struct plan_program *p = w->p;
    struct ring_pull own = {0}, *kept = &own;
    if (p->pulls && x->source == p->stays[x->target].ring_source) kept = &p->pulls[x->target];
    if (!kept->parts[exactly]) {
        struct footprint from = footprint_of_holders(p, x->source, true),
                         to = footprint_of_holders(p, x->target, false);
        kept->cores = max_i64(from.view.cores, 1);
        kept->parts[exactly] = arena_array(kept == &own ? &w->scratch : p->memory, (size_t)kept->cores,
                                           sizeof *kept->parts[exactly]);
        footprint_pulled(&from, &to, exactly, kept->parts[exactly]);
    }
    x->exactly = exactly;
    x->cores = kept->cores;
    x->pulled = kept->parts[exactly];
}

/* The cores of a stay write it; ring copies may still read the old bytes. */
static void edges_fill(struct edge_walk *w, int32_t stay)
{
    const struct plan_program *p = w->p;
    int64_t at = p->address[stay], end = at + p->buffers[stay].size;
    struct footprint by = {0};
    w->written[stay] = w->now;
    for (size_t i = w->pulls.count; i-- > 0 && w->pulls.at[i].at.when > w->horizon;) {
        struct pull *x = &w->pulls.at[i];
        int64_t from = p->address[x->source];
        bool meets = false;
        if (from >= end || at >= from + p->buffers[x->source].size || x->at.when == w->now.when) continue;
        if (by.view.cores == 0) by = footprint_of_holders(p, stay, false);
        if (!x->exactly && (at > from || end < from + p->buffers[x->source].size)) edges_pulled(w, x, true);
        for (int64_t c = 0; c < by.view.cores && c < x->cores; c++)
            meets |= x->pulled[c].begin < end - from && at - from < x->pulled[c].end;
        if (meets) edges_add(w, x->at);
    }
}

static void edges_pull(struct edge_walk *w, const struct lx_transfer *t)
{
    if (t->bytes > 0) {
        struct pull x = {.at = w->now, .source = t->source, .target = t->stay};
        edges_add(w, w->written[t->source]);
        if (w->pulls.count && w->pulls.at[w->pulls.count - 1].at.when <= w->horizon) {
            w->pulls.count = 0;
            arena_free(&w->scratch);
        }
        edges_pulled(w, &x, false);
        VEC_PUSH(&w->pulls, x);
    }
    edges_fill(w, t->stay);
}

/* ---- the walk ---- */

/* A buffer held for a whole nest is filled in its first iteration and stored in its last. */
static bool edges_due(const struct edge_walk *w, const struct lx_transfer *t)
{
    const struct lx_stay *s = &w->p->stays[t->stay];
    bool whole = s->hold == 0 || nest_of_op(w->p->nests, w->p->nest_count, s->view_op) != w->now.nest;
    return w->now.nest < 0 || !whole || w->now.turn == (t->kind == LX_STORE);
}

static void edges_copies(struct edge_walk *w, int32_t first, bool stores)
{
    for (int32_t i = first; i < w->p->transfer_count && w->p->transfers[i].tick == w->now.tick; i++) {
        const struct lx_transfer *t = &w->p->transfers[i];
        if ((t->kind == LX_STORE) != stores || !edges_due(w, t)) continue;
        int32_t tensor = w->p->stays[t->stay].tensor;
        if (lx_through_hbm(t->kind) && edges_may_touch(w, tensor))
            edges_touch(w, tensor, stores, footprint_of_copy(w->p, t));
        if (t->kind == LX_RING)
            edges_pull(w, t);
        else if (!stores)
            edges_fill(w, t->stay);
    }
}

/* A copy that is issued before it is due reads and writes from here on. */
static void edges_issues(struct edge_walk *w)
{
    const struct plan_program *p = w->p;
    for (int32_t k = w->early.at[w->now.tick]; w->now.turn == 0 && k < w->early.at[w->now.tick + 1]; k++) {
        const struct lx_transfer *t = &p->transfers[w->early.copy[k]];
        int32_t tensor = p->stays[t->stay].tensor;
        if (edges_may_touch(w, tensor)) edges_touch(w, tensor, false, footprint_of_copy(p, t));
        edges_fill(w, t->stay);
    }
}

static void edges_op(struct edge_walk *w)
{
    const struct plan_program *p = w->p;
    int32_t first = p->access_at[w->now.tick];
    for (int32_t a = first; a < p->access_at[w->now.tick + 1]; a++) {
        const struct lx_access *x = &p->accesses[a];
        if (edges_placed(p, x->stay) && x->writes)
            edges_fill(w, x->stay);
        else if (!edges_placed(p, x->stay) && edges_may_touch(w, x->tensor))
            edges_touch(w, x->tensor, x->writes, footprint_of_access(p, w->now.tick, a - first));
    }
}

/* Walks one tick. `next`: a transfer at or before the first one of this tick. */
static int32_t edges_tick(struct edge_walk *w, int32_t next)
{
    const struct plan_program *p = w->p;
    int32_t o = w->now.tick;
    const struct lx_nest *n = w->now.nest >= 0 ? &p->nests[w->now.nest] : NULL;
    bool again = n && w->now.turn > 0 && o == n->first && p->bundle_of[n->first] != p->bundle_of[n->last];
    if (again ||
        (o > 0 && p->bundle_of[o] != p->bundle_of[o - 1] && !(n && o == n->first && w->now.turn > 0)))
        w->horizon = w->now.when; /* a bundle begins: all before it is over */
    w->now.when++;
    while (next < p->transfer_count && p->transfers[next].tick < o) next++;
    edges_copies(w, next, false);
    edges_issues(w);
    edges_op(w);
    edges_copies(w, next, true);
    return next;
}

static void edges_begin(struct edge_walk *w)
{
    const struct plan_program *p = w->p;
    const struct lx_graph *g = p->layouts->graph;
    size_t tensors = (size_t)g->tensor_count;
    for (int k = 0; k < 2; k++) w->newest[k] = mem_alloc((tensors + 1) * sizeof *w->newest[k]);
    w->changes = mem_zeroed(tensors + 1, sizeof *w->changes);
    w->recently = mem_alloc((tensors + 1) * sizeof *w->recently);
    w->written = mem_zeroed((size_t)p->stay_count + 1, sizeof *w->written);
    for (size_t t = 0; t < tensors; t++) w->newest[0][t] = w->newest[1][t] = w->recently[t] = -1;
    for (int32_t a = 0; a < p->access_at[g->op_count]; a++)
        w->changes[p->accesses[a].tensor] |= p->accesses[a].writes && !edges_placed(p, p->accesses[a].stay);
    for (int32_t i = 0; i < p->transfer_count; i++)
        w->changes[p->stays[p->transfers[i].stay].tensor] |= p->transfers[i].kind == LX_STORE;
}

/* Edges that no begin of a bundle stabs. With `hbm_address`, also edges between tensors that share
 * addresses. */
static void program_edges(const struct plan_program *p, struct arena *memory, struct sync_edges *out)
{
    struct edge_walk w = {.p = p, .now = {.nest = -1}};
    int32_t next = 0, nest = 0;
    edges_begin(&w);
    w.early = program_early_copies(p, memory);
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        bool loops = nest < p->nest_count && p->nests[nest].first == o;
        int32_t last = loops ? p->nests[nest].last : o, begin = next;
        slot_end_abandoned();
        for (int turn = 0; turn < (loops ? 2 : 1); turn++) {
            next = begin;
            for (int32_t k = o; k <= last; k++) {
                w.now = (struct moment){w.now.when, k, loops ? nest : -1, turn};
                next = edges_tick(&w, next);
            }
        }
        nest += loops;
        o = last;
    }
    *out = (struct sync_edges){.count = (int32_t)w.edges.count};
    out->at = arena_copy_array(memory, w.edges.at, w.edges.count, sizeof *w.edges.at);
    for (int k = 0; k < 2; k++) mem_free(w.newest[k]);
    mem_free(w.changes);
    mem_free(w.recently);
    mem_free(w.written);
    VEC_FREE(&w.touches);
    VEC_FREE(&w.pulls);
    VEC_FREE(&w.edges);
    VEC_FREE(&w.recent);
    arena_free(&w.scratch);
}

void program_syncs(const struct plan_program *p, struct arena *memory, struct lx_syncs *out)
{
    SCOPED(arena_free) struct arena scratch = {0};
    struct sync_edges edges;
    program_edges(p, &scratch, &edges);
    syncs_stab(p->layouts->graph->op_count, p->nests, p->nest_count, &edges, memory, out);
}
