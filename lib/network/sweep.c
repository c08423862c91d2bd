/* One sweep over the variables of a network: a beam whose states are the classes of the open variables. Room
 * is exact: a variable in the room stays open until all others there are decided. All ways into a state are
 * kept, to find the next best answers. */
#include "network/network.h"

enum {
    LAYER_FACTOR = 8,    /* candidates kept in a layer, as a multiple of its width */
    POLL_EVERY = 64,     /* in states */
    SAFE_STATES = 4,     /* kept beyond the width */
    MOST_ENDS = 1 << 20, /* limit on answers walked back */
    LAST_WIDTH = 4,      /* states of a layer after the work limit: a sweep always ends */
};

struct net_node {
    struct beam_node base;
    int64_t cost;
};

struct sweeping {
    const struct network *n;
    const struct net_sweep_options *how;
    struct net_sweep *s;
    struct net_layer layer;
    int32_t *numbers;
    int64_t *cost_at, *least_at; /* per lookup: position of a state's entries */
};

static int64_t sweep_entry(const struct net_lookup *l, const int32_t *row)
{
    int64_t at = l->fixed;
    for (int32_t k = 0; k < l->count; k++) at += l->offset[k][row[l->slots[k]]];
    return at;
}

static int64_t sweep_value(const struct net_lookup *l, int64_t entry, int32_t value)
{
    return l->values[entry + (l->own ? l->own[value] : 0)];
}

static bool sweep_has_room(const struct sweeping *w, int32_t var, const int32_t *row, int32_t value)
{
    if (w->n->vars[var].bytes[value] <= 0) return true;
    for (int32_t t = 0; t < w->layer.tick_count; t++) {
        int64_t room = w->n->room;
        for (int32_t i = 0; i < w->layer.ticks[t].count; i++) {
            const struct net_resident *r = &w->layer.ticks[t].residents[i];
            int64_t bytes = r->bytes[r->slot < 0 ? value : row[r->slot]];
            bool handed_over = false;
            for (int32_t h = 0; bytes > 0 && !handed_over && h < r->handover_count; h++)
                handed_over = sweep_value(&r->handovers[h], sweep_entry(&r->handovers[h], row), value);
            if (bytes > 0 && !handed_over) room -= bytes;
        }
        if (room < 0) return false;
    }
    return true;
}

static int64_t sweep_sum(const struct net_lookup *l, const int64_t *at, int32_t count, int32_t value,
                         int64_t sum)
{
    for (int32_t i = 0; i < count && sum < NETWORK_HOPELESS; i++) {
        int64_t more = sweep_value(&l[i], at[i], value);
        sum = more >= NETWORK_HOPELESS ? NETWORK_NEVER : sum + more;
    }
    return sum;
}

static void sweep_expand(struct sweeping *w, int32_t var, int32_t from)
{
    const struct net_node *node = beam_node_of(&w->s->beam, from);
    const int32_t *row = beam_row_of(&w->s->beam, from);
    const struct net_layer *l = &w->layer;
    for (int32_t i = 0; i < l->cost_count; i++) w->cost_at[i] = sweep_entry(&l->costs[i], row);
    for (int32_t i = 0; i < l->least_count; i++) w->least_at[i] = sweep_entry(&l->least[i], row);
    for (int32_t i = 0; i < l->changed_count; i++)
        if (i != l->own) w->numbers[i] = l->class_map[i] ? l->class_map[i][row[l->changed[i]]] : 0;
    for (int32_t v = 0; v < w->n->vars[var].size; v++) {
        struct net_node then = {.cost = sweep_sum(l->costs, w->cost_at, l->cost_count, v, node->cost)};
        then.base.rank = sweep_sum(l->least, w->least_at, l->least_count, v, then.cost);
        if (then.base.rank >= w->how->below || !sweep_has_room(w, var, row, v)) continue;
        if (l->own >= 0) w->numbers[l->own] = l->class_map[l->own][v];
        beam_offer(&w->s->beam, from, v, &then, w->numbers);
    }
    w->s->steps += w->n->vars[var].size;
}

/* A state with no open variable in the room has an answer: all later ones can stay out of the room. */
static bool sweep_is_safe(const void *context, const int32_t *row)
{
    const struct sweeping *w = context;
    for (int32_t i = 0; i < w->layer.open_count; i++)
        if (w->layer.open_bytes[i][row[w->layer.open[i]]] >= 0) return false;
    return true;
}

static void sweep_remember(struct sweeping *w, int32_t layer)
{
    struct net_sweep *s = w->s;
    s->cost[layer] = arena_array(&s->beam.memory, (size_t)s->beam.count, sizeof **s->cost);
    s->rank[layer] = arena_array(&s->beam.memory, (size_t)s->beam.count, sizeof **s->rank);
    for (int32_t i = 0; i < s->beam.count; i++) {
        const struct net_node *node = beam_node_of(&s->beam, i);
        s->cost[layer][i] = node->cost;
        s->rank[layer][i] = node->base.rank;
    }
}

static void sweep_layer(struct sweeping *w, const struct net_frontier *f, const struct net_bound *b,
                        int32_t var)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct net_sweep *s = w->s;
    net_layer_make(f, b, var, &memory, &w->layer);
    w->numbers = arena_array(&memory, (size_t)w->layer.changed_count, sizeof *w->numbers);
    w->cost_at = arena_array(&memory, (size_t)w->layer.cost_count, sizeof *w->cost_at);
    w->least_at = arena_array(&memory, (size_t)w->layer.least_count, sizeof *w->least_at);
    beam_step(&s->beam, w->layer.changed, w->layer.changed_count);
    for (int32_t i = 0; i < s->beam.count; i++) {
        if (!s->cancelled && i % POLL_EVERY == 0)
            s->cancelled = s->steps >= w->how->step_limit || w->how->cancelled(w->how->context);
        if (s->cancelled && i >= LAST_WIDTH)
            beam_drop(&s->beam, s->rank[var][i]);
        else
            sweep_expand(w, var, i);
    }
    beam_settle(&s->beam);
    sweep_remember(w, var + 1);
}

void net_sweep_make(struct net_sweep *s, const struct net_frontier *f, const struct net_bound *b,
                    const struct net_sweep_options *how)
{
    struct sweeping w = {.n = f->n, .how = how, .s = s};
    const struct beam_rules rules = {.width = how->width,
                                     .slots = f->slot_count,
                                     .room = (int32_t)min_i64((int64_t)how->width * LAYER_FACTOR, 1 << 22),
                                     .node_size = sizeof(struct net_node),
                                     .cut = how->below,
                                     .safe = sweep_is_safe,
                                     .safe_states = SAFE_STATES,
                                     .context = &w,
                                     .all_ways = true};
    struct net_node root = {.base.rank = f->n->base, .cost = f->n->base};
    *s = (struct net_sweep){.steps = 0};
    beam_begin(&s->beam, &rules, &root, NULL);
    s->cost = arena_array(&s->beam.memory, (size_t)f->n->count + 1, sizeof *s->cost);
    s->rank = arena_array(&s->beam.memory, (size_t)f->n->count + 1, sizeof *s->rank);
    sweep_remember(&w, 0);
    for (int32_t v = 0; v < f->n->count; v++) sweep_layer(&w, f, b, v);
}

/* --- The answers of a sweep, cheapest first: walked back from its last state along the cheapest known
 * beginnings. --- */

/* The end of an answer: decisions from variable `layer` on. */
struct ending {
    int64_t total, behind;            /* cost with the cheapest beginning; cost of the end alone */
    int32_t layer, node, value, next; /* value: of variable `layer`; next: the ending one shorter, or -1 */
};

struct net_answers {
    const struct net_sweep *s;
    VEC(struct ending) all;
    VEC(int32_t) heap;
};

/* Cheaper first, then the longer end. */
static bool ending_before(const struct net_answers *e, int32_t a, int32_t b)
{
    const struct ending *x = &e->all.at[a], *y = &e->all.at[b];
    if (x->total != y->total) return x->total < y->total;
    if (x->layer != y->layer) return x->layer < y->layer;
    return a < b;
}

static void ending_push(struct net_answers *e, struct ending one)
{
    (void)VEC_PUSH(&e->all, one);
    (void)VEC_PUSH(&e->heap, (int32_t)(e->all.count - 1));
    HEAP_RISE(int32_t, e->heap.at, e->heap.count - 1, ending_before, e);
}

/* Adds the ending one variable longer, by a way into its state with cost `cost` up to there. */
static void ending_prolong(struct net_answers *e, int32_t at, int64_t cost, int32_t from, int32_t value,
                           int64_t below)
{
    struct ending end = e->all.at[at];
    int64_t begins = e->s->cost[end.layer - 1][from], behind = end.behind + cost - begins;
    if (begins + behind < below)
        ending_push(e, (struct ending){begins + behind, behind, end.layer - 1, from, value, at});
}

struct net_answers *net_answers_make(const struct net_sweep *s)
{
    struct net_answers *a = mem_zeroed(1, sizeof *a);
    int32_t count = (int32_t)s->beam.layers.count;
    a->s = s;
    if (s->beam.count) ending_push(a, (struct ending){s->cost[count][0], 0, count, 0, 0, -1});
    return a;
}

void net_answers_free(struct net_answers *a)
{
    VEC_FREE(&a->all);
    VEC_FREE(&a->heap);
    mem_free(a);
}

bool net_answers_next(struct net_answers *a, int64_t below, int32_t *values, int64_t *cost)
{
    const struct beam *b = &a->s->beam;
    while (a->heap.count && a->all.at[a->heap.at[0]].total < below && a->all.count < MOST_ENDS) {
        int32_t at = a->heap.at[0];
        a->heap.at[0] = a->heap.at[--a->heap.count];
        if (a->heap.count) HEAP_SINK(int32_t, a->heap.at, a->heap.count, 0, ending_before, a);
        struct ending end = a->all.at[at];
        if (end.layer == 0) {
            *cost = end.total;
            for (; a->all.at[at].next >= 0; at = a->all.at[at].next)
                values[a->all.at[at].layer] = a->all.at[at].value;
            return true;
        }
        struct beam_origin o = beam_origin_of(b, (size_t)end.layer - 1, end.node);
        int64_t here = a->s->cost[end.layer][end.node], rank = a->s->rank[end.layer][end.node];
        ending_prolong(a, at, here, o.from, o.choice, below);
        for (int32_t k = o.ways; k >= 0; k = b->ways.at[k].next)
            ending_prolong(a, at, here + b->ways.at[k].rank - rank, b->ways.at[k].from, b->ways.at[k].choice,
                           below);
    }
    return false;
}

int64_t net_answers_least(const struct net_answers *a)
{
    const struct beam *b = &a->s->beam;
    int64_t least = a->heap.count ? a->all.at[a->heap.at[0]].total : NETWORK_NEVER;
    return b->ways_lost && b->count ? min_i64(least, a->s->cost[b->layers.count][0]) : least;
}
