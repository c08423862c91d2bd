/* The cheapest choices of what to keep, found tick by tick.
 *
 * A partial choice is what is on chip behind some ops and what that has cost; what is still to come costs at least
 * what every tensor alone pays at the prices of keep_prices.c, or, where ops may change places, what no order avoids.
 * Each op is tried with everything that may happen at its uses and fits. Of too many partial choices those that promise
 * most stay (a beam); what was dropped is remembered in the bound. Nothing dropped: the search was exact. */
#include "search/keep.h"
#include "search/keep_layers.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/stop.h"
#include "search/reorder.h"

#include <math.h>
#include <string.h>

struct keeping {
    const struct keep_model *m;
    const struct keep_limits *l;
    VEC(struct keep_node) kept; /* all that stayed */
    struct arena lists;         /* what they hold: it grows, and nothing of it moves */
    struct keep_list next;      /* those of the layer in the making */
    size_t first;               /* of the last whole layer, in `kept` */
    int32_t done;               /* ops behind it */
    double dropped;             /* the least of what was left out */
    bool merged, no_memory, stopped;
    uint64_t *before; /* per op: the ops that must come first */
    /* The node under way. */
    int32_t at, op;
    int32_t uses[LX_MAX_OPERANDS];
    enum keep_state states[LX_MAX_OPERANDS];
    struct keep_outcome now[LX_MAX_OPERANDS];
    int count, leaves;
    int64_t work; /* since the run was last asked, like that of base/stop.h */
};

enum { MOST_LEAVES = 512 };
enum { EACH_NODE = 100, EACH_LEAF = 150, EACH_KEPT = 50, EACH_HELD = 2, EACH_USE = 10, EACH_LISTED = 50 };

/* So much was done. True: end it. */
static bool keep_search_is_over(struct keeping *s, int64_t work)
{
    s->work += work;
    if (s->work < STOP_EACH) return s->stopped;
    s->work = 0;
    return s->stopped = lx_run_stopped(s->l->run);
}

static enum keep_state state_in(const struct keep_node *n, int32_t tensor)
{
    uint32_t low = 0, high = n->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (n->held[middle].tensor < tensor)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n->count && n->held[low].tensor == tensor ? n->held[low].state : KEEP_HBM;
}

/* What can follow use u when the ops of `done` are over. */
static struct keep_later later_of(const struct keeping *s, const struct keep_use *u, uint64_t done)
{
    const struct keep_model *m = s->m;
    const struct keep_tensor *t = &m->tensors[u->tensor];
    struct keep_later x = {u->may_keep, u->needed, u->goes_on};
    if (!s->l->any_order) return x;
    bool written_on = false;
    x = (struct keep_later){0};
    for (int32_t k = t->first; k < t->first + t->count; k++) {
        const struct keep_use *v = &m->uses[k];
        if (done >> v->op & 1) continue;
        written_on |= v->writes;
        x.goes_on |= v->run == u->run && v->label >= 0;
        if (v->version != u->leaves || !keep_reads(v)) continue;
        x.needed = true;
        x.may_keep |= v->run == u->run && keep_serves(v);
    }
    x.needed |= t->output && !written_on;
    return x;
}

/* In any order: what tensor t still moves at least. */
static double still_moves(const struct keeping *s, int32_t tensor, enum keep_state state, uint64_t done)
{
    const struct keep_model *m = s->m;
    const struct keep_tensor *t = &m->tensors[tensor];
    int64_t served = 0, sum = 0;
    int32_t version = 0;
    const struct keep_use *writes = NULL;
    for (int32_t k = t->first; k < t->first + t->count; k++)
        if (done >> m->uses[k].op & 1) version = m->uses[k].leaves > version ? m->uses[k].leaves : version;
    for (int32_t k = t->first; k < t->first + t->count; k++) {
        const struct keep_use *u = &m->uses[k];
        if (done >> u->op & 1) continue;
        sum += u->forced;
        if (u->writes) writes = u;
        if (u->version == version) served += u->served;
        if (u->writes && !u->write_may) sum += u->written;
    }
    if (!keep_on_chip(state)) sum += min_i64(served, t->whole);
    if (t->output && writes && writes->write_may) sum += min_i64(writes->written, t->whole);
    if (t->output && !writes && state == KEEP_CHIP) sum += t->whole;
    return (double)sum;
}

static double rest_of(const struct keeping *s, int32_t use, enum keep_state state, uint64_t done)
{
    if (s->l->any_order) return still_moves(s, s->m->uses[use].tensor, state, done);
    return s->m->ahead[KEEP_STATES * use + (int)state];
}

/* Bytes that tensor of use u is kept with behind it, and before it. */
static int64_t keep_search_behind(const struct keeping *s, int32_t u)
{
    return s->l->any_order ? s->m->tensors[s->m->uses[u].tensor].between : s->m->uses[u].between;
}

static int64_t ahead_of(const struct keeping *s, int32_t u)
{
    return s->l->any_order ? s->m->tensors[s->m->uses[u].tensor].between : s->m->uses[u - 1].between;
}

/* Bytes on chip while the op runs, and those left behind it. */
static int64_t keep_search_load_of(const struct keeping *s, const struct keep_node *n, int64_t *after)
{
    const struct keep_model *m = s->m;
    int64_t load = n->bytes, shared = 0;
    for (int i = 0; i < s->count; i++)
        if (keep_on_chip(s->states[i])) load -= ahead_of(s, s->uses[i]);
    *after = load;
    const struct keep_outcome *out = &s->now[s->count - 1];
    for (int i = 0; i < s->count; i++) {
        const struct keep_use *u = &m->uses[s->uses[i]];
        load += s->l->any_order && s->now[i].on ? min_i64(s->now[i].size, u->size) : s->now[i].size;
        if (keep_on_chip(s->now[i].after)) *after += keep_search_behind(s, s->uses[i]);
        if (u->gives && s->now[i].on && !keep_on_chip(s->now[i].after) && out->on && out->fresh)
            shared = m->uses[s->uses[s->count - 1]].size;
    }
    return load - shared;
}

/* The parent's list with the operands' new states. */
static bool keep_search_hold(struct keeping *s, const struct keep_node *n, struct keep_node *child)
{
    const struct keep_held *old = n->held;
    child->at = (uint32_t)s->next.pool.count;
    if (!VEC_RESERVE(&s->next.pool, s->next.pool.count + n->count + (size_t)s->count)) return false;
    struct keep_held *out = s->next.pool.at + child->at;
    uint32_t count = 0;
    for (uint32_t k = 0; k < n->count; k++) {
        bool touched = false;
        for (int i = 0; i < s->count; i++) touched |= s->m->uses[s->uses[i]].tensor == old[k].tensor;
        if (!touched) out[count++] = old[k];
    }
    for (int i = 0; i < s->count; i++) {
        struct keep_held h = {s->m->uses[s->uses[i]].tensor, s->now[i].after};
        if (h.state == KEEP_HBM) continue;
        uint32_t k = count++;
        for (; k > 0 && out[k - 1].tensor > h.tensor; k--) out[k] = out[k - 1];
        out[k] = h;
    }
    child->count = count;
    s->next.pool.count += count;
    return true;
}

static double total(const struct keeping *s, const struct keep_node *n)
{
    const struct keep_model *m = s->m;
    if (s->l->any_order) return (double)n->cost + n->rest;
    return (double)n->cost + n->rest - (m->sums[m->op_count] - m->sums[n->op + 1]) * (double)m->capacity;
}

/* No less than that in whole grains, with room for what doubles may be off by. */
static int64_t grains(const struct keeping *s, double least)
{
    double safe = least - 1e-9 * fabs(least) - 1e-3;
    return safe > 0 ? (int64_t)ceil(safe / (double)s->m->grain) * s->m->grain : 0;
}

static void keep_search_add_child(struct keeping *s)
{
    const struct keep_node *n = &s->kept.at[s->at];
    struct keep_node child = {.cost = n->cost, .rest = n->rest, .parent = s->at, .op = s->op};
    child.done = s->l->any_order ? n->done | (uint64_t)1 << s->op : 0;
    if (keep_search_load_of(s, n, &child.bytes) > s->m->capacity) return;
    int64_t untouched = n->bytes;
    for (int i = 0; i < s->count; i++) {
        int32_t u = s->uses[i];
        s->work +=
            s->l->any_order ? 2 * EACH_USE * (int64_t)s->m->tensors[s->m->uses[u].tensor].count : EACH_USE;
        if (keep_on_chip(s->states[i])) untouched -= ahead_of(s, u);
        child.cost += s->now[i].cost;
        child.rest -= rest_of(s, u, s->states[i], n->done);
        child.rest += s->l->any_order ? still_moves(s, s->m->uses[u].tensor, s->now[i].after, child.done)
                                      : keep_from_then(s->m, u, s->now[i].after);
    }
    if (!s->l->any_order) child.rest -= s->m->price[s->op] * (double)untouched;
    child.least = fmax(total(s, &child), n->least);
    if (grains(s, child.least) >= s->l->below) return;
    if (!keep_search_hold(s, n, &child) || !VEC_PUSH(&s->next.nodes, child)) s->no_memory = true;
}

/* Everything that may happen at use i and those behind it. */
static void keep_search_go_through(struct keeping *s, int i)
{
    const struct keep_node *n = &s->kept.at[s->at];
    struct keep_outcome all[KEEP_OUTCOMES];
    if (i == s->count) {
        s->work += EACH_LEAF + EACH_HELD * (int64_t)n->count;
        if (s->leaves++ < MOST_LEAVES)
            keep_search_add_child(s);
        else
            s->dropped = fmin(s->dropped, n->least);
        return;
    }
    if (s->leaves > MOST_LEAVES) return;
    const struct keep_use *u = &s->m->uses[s->uses[i]];
    uint64_t done = s->l->any_order ? n->done | (uint64_t)1 << s->op : 0;
    int count = keep_outcomes(s->m, u, s->states[i], later_of(s, u, done), all);
    for (int k = 0; k < count; k++) {
        s->now[i] = all[k];
        keep_search_go_through(s, i + 1);
    }
}

/* What may follow node `at` when op comes next. */
static void keep_search_expand(struct keeping *s, int32_t at, int32_t op)
{
    const struct keep_model *m = s->m;
    s->at = at;
    s->op = op;
    s->count = m->op_at[op + 1] - m->op_at[op];
    s->leaves = 0;
    for (int i = 0; i < s->count; i++) {
        s->uses[i] = m->op_use[m->op_at[op] + i];
        s->states[i] = state_in(&s->kept.at[at], m->uses[s->uses[i]].tensor);
    }
    keep_search_go_through(s, 0);
}

/* The layer in the making becomes the last whole one. */
static bool settle_layer(struct keeping *s)
{
    size_t width = (size_t)s->l->width;
    struct keep_node *all = s->next.nodes.at;
    keep_sort_by_promise(&s->next);
    if ((s->l->no_history || s->next.nodes.count > width) && !keep_merge_same(&s->next, &s->merged))
        return false;
    if (s->next.nodes.count > width) {
        s->dropped = fmin(s->dropped, all[width].least);
        s->next.nodes.count = width;
    }
    s->first = s->kept.count;
    for (size_t i = 0; i < s->next.nodes.count; i++) {
        struct keep_node n = all[i];
        if (n.count) n.held = arena_copy_array(&s->lists, s->next.pool.at + n.at, n.count, sizeof *n.held);
        if ((n.count && !n.held) || !VEC_PUSH(&s->kept, n)) return false;
        s->work += EACH_KEPT + EACH_HELD * (int64_t)n.count;
    }
    s->next.nodes.count = s->next.pool.count = 0;
    return true;
}

static bool keep_search_walk(struct keeping *s)
{
    const struct keep_model *m = s->m;
    struct keep_node root = {.parent = -1, .op = -1};
    for (int32_t t = 0; t < m->tensor_count; t++)
        if (m->tensors[t].count) root.rest += rest_of(s, m->tensors[t].first, KEEP_HBM, 0);
    if (keep_search_is_over(s, EACH_USE * (int64_t)m->use_count)) return true;
    root.least = total(s, &root);
    /* All that will be kept, in most cases: to move many of them takes longer than one may go without a look. */
    size_t room = (size_t)min_i64((int64_t)s->l->width * m->op_count + 1, 1 << 20);
    if (!VEC_RESERVE(&s->kept, room) || !VEC_PUSH(&s->kept, root)) return false;
    for (s->done = 0; s->done < m->op_count && s->first < s->kept.count; s->done++) {
        size_t end = s->kept.count;
        for (size_t i = s->first; i < end && !s->no_memory; i++) {
            uint64_t done = s->kept.at[i].done;
            if (!s->l->any_order) keep_search_expand(s, (int32_t)i, s->done);
            for (int32_t o = 0; s->l->any_order && o < m->op_count && !keep_search_is_over(s, 0); o++)
                if (!(done >> o & 1) && (s->before[o] & ~done) == 0) keep_search_expand(s, (int32_t)i, o);
            if (!s->no_memory && keep_search_is_over(s, EACH_NODE)) return true;
        }
        if (s->no_memory || !settle_layer(s)) return false;
    }
    return true;
}

struct listing {
    const struct keep_model *m;
    const int32_t *place; /* per op: its tick */
    int32_t *uses;        /* of one tensor, by tick */
};

/* The uses of a tensor as they come: moved where ops have changed places. */
static int32_t uses_by_time(const struct listing *x, int32_t tensor)
{
    const struct keep_tensor *t = &x->m->tensors[tensor];
    for (int32_t k = 0; k < t->count; k++) {
        int32_t at = k, tick = x->place[x->m->uses[t->first + k].op];
        for (; at > 0 && x->place[x->m->uses[x->uses[at - 1]].op] > tick; at--) x->uses[at] = x->uses[at - 1];
        x->uses[at] = t->first + k;
    }
    return t->count;
}

/* A tensor that is not kept between two uses is cut there, if it is on chip on one side. */
static void list_cuts(const struct listing *x, struct keep_choice *c)
{
    const struct keep_model *m = x->m;
    for (int32_t t = 0; m->cuts && t < m->tensor_count; t++) {
        int32_t count = uses_by_time(x, t);
        stop_look(EACH_USE * (int64_t)count);
        for (int32_t k = 0; k + 1 < count; k++) {
            const struct keep_use *next = &m->uses[x->uses[k + 1]];
            bool before = k > 0 && c->kept[x->uses[k - 1]], behind = c->kept[x->uses[k + 1]];
            if (c->kept[x->uses[k]] || next->run != m->uses[x->uses[k]].run || !(before || behind)) continue;
            c->cuts[c->cut_count++] = (struct cut){t, x->place[next->op]};
        }
    }
}

static bool list_choice(const struct keeping *s, int32_t at, struct arena *memory, struct keep_choice *out)
{
    const struct keep_model *m = s->m;
    size_t ops = (size_t)m->op_count, uses = (size_t)m->use_count;
    int32_t *order = arena_array(memory, ops, sizeof *order),
            *place = arena_array(memory, ops, sizeof *place);
    bool *kept = arena_array(memory, uses, sizeof *kept);
    struct listing x = {m, place, arena_array(memory, uses, sizeof *x.uses)};
    *out = (struct keep_choice){.cost = s->kept.at[at].cost,
                                .order = s->l->any_order ? order : NULL,
                                .kept = kept,
                                .cuts = arena_array(memory, uses, sizeof *out->cuts)};
    if (!order || !place || !kept || !x.uses || !out->cuts) return false;
    for (int32_t tick = m->op_count - 1; tick >= 0; tick--) {
        const struct keep_node *n = &s->kept.at[at];
        order[tick] = n->op;
        place[n->op] = tick;
        for (int32_t k = m->op_at[n->op]; k < m->op_at[n->op + 1]; k++)
            kept[m->op_use[k]] = keep_on_chip(state_in(n, m->uses[m->op_use[k]].tensor));
        at = n->parent;
        stop_look(EACH_LISTED * (m->op_at[n->op + 1] - m->op_at[n->op]));
    }
    list_cuts(&x, out);
    return true;
}

static int keep_search_by_cost(const void *a, const void *b)
{
    const struct keep_node *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return (x->parent > y->parent) - (x->parent < y->parent);
}

static bool list_all(struct keeping *s, struct arena *memory, struct keep_found *out)
{
    size_t count = s->done == s->m->op_count ? s->kept.count - s->first : 0;
    if (s->stopped) return true;
    bool all = count <= (size_t)s->l->choices;
    if (count) sort_in_full(s->kept.at + s->first, count, sizeof *s->kept.at, keep_search_by_cost);
    out->count = all ? (int32_t)count : s->l->choices;
    out->at = arena_array(memory, (size_t)out->count, sizeof *out->at);
    out->complete = all && !s->merged && isinf(s->dropped);
    out->bound = isinf(s->dropped) ? s->l->below : min_i64(s->l->below, grains(s, s->dropped));
    if (count) out->bound = min_i64(out->bound, s->kept.at[s->first].cost);
    for (int32_t i = 0; out->at && i < out->count; i++)
        if (!list_choice(s, (int32_t)s->first + i, memory, &out->at[i])) return false;
    return out->at;
}

/* Per op, the ops that must come before it. */
static bool list_before(struct keeping *s)
{
    struct op_order order;
    if (!s->l->any_order) return true;
    s->before = mem_zeroed((size_t)s->m->op_count + 1, sizeof *s->before);
    op_order_make(&order, s->m->x->graph);
    for (size_t e = 0; e < order.edges.count; e++)
        s->before[order.edges.at[e].after] |= (uint64_t)1 << order.edges.at[e].before;
    op_order_free(&order);
    return true;
}

int32_t keep_width(const struct draft *x)
{
    return (int32_t)max_i64(16, min_i64(20000, 100000 / (x->graph->op_count + 1)));
}

bool keep_search(const struct keep_model *m, const struct keep_limits *l, struct arena *memory,
                 struct keep_found *out, lx_status *st)
{
    struct keeping s = {.m = m, .l = l, .dropped = INFINITY, .work = STOP_EACH}; /* it may be over already */
    *out = (struct keep_found){0};
    bool ok = list_before(&s) && keep_search_walk(&s) && list_all(&s, memory, out);
    stop_look(s.work);
    VEC_FREE(&s.kept);
    arena_free(&s.lists);
    VEC_FREE(&s.next.nodes);
    VEC_FREE(&s.next.pool);
    mem_free(s.before);
    return ok ? true : status_no_memory(st);
}
