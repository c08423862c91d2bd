/* One sweep over the variables of a network: a beam whose states are the classes of the open variables. Room
 * is exact: whoever is in the room at a tick is open until all others there are decided. All ways into a
 * state are remembered, so that the next best answers can be told. */
#include "base/checked.h"
#include "network/network.h"

enum {
    LAYER_FACTOR = 8, /* candidates of a layer that wait, as a multiple of its width */
    POLL_EVERY = 64,  /* states */
    SAFE_STATES = 4,  /* that are kept in any case */
    LAST_WIDTH = 4,   /* states of a layer when the work is used up: a sweep always comes to its end */
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
    int64_t *cost_at, *least_at; /* per lookup: where a state's entries begin */
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

static bool sweep_handed_over(const struct net_resident *r, const int32_t *row, int32_t value)
{
    for (int32_t i = 0; i < r->handover_count; i++)
        if (sweep_value(&r->handovers[i], sweep_entry(&r->handovers[i], row), value)) return true;
    return false;
}

static bool sweep_has_room(const struct sweeping *w, int32_t var, const int32_t *row, int32_t value)
{
    if (w->n->vars[var].bytes[value] <= 0) return true;
    for (int32_t t = 0; t < w->layer.tick_count; t++) {
        int64_t room = w->n->room;
        for (int32_t i = 0; i < w->layer.ticks[t].count; i++) {
            const struct net_resident *r = &w->layer.ticks[t].residents[i];
            int64_t bytes = r->bytes[r->slot < 0 ? value : row[r->slot]];
            if (bytes > 0 && !sweep_handed_over(r, row, value)) room -= bytes;
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

/* With nobody in the room of whom anything is still to be asked, all others can be out of it: such a state
 * has an answer. */
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
    struct arena memory = {0};
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
    arena_free(&memory);
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

void net_sweep_free(struct net_sweep *s)
{
    beam_end(&s->beam);
}
