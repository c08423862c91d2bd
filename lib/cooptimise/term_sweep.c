/* The sweep. Variables are decided one by one; partial answers that leave the same open classes are one node, of which
 * the cheapest counts. A node whose cost and bound reach the best answer is dropped, and of a layer that is too wide only
 * the most promising stay. Room is exact: whoever is on chip at a tick is open until all others there are decided. */
#include "cooptimise/term_sweep.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_ARCS = 1 << 21,
    LAYER_FACTOR = 8, /* nodes of a layer before it is cut, as a multiple of its width */
    LOOK_EVERY = 64,  /* nodes */
    SAFE_NODES = 4,   /* that are kept in any case */
    LAST_WIDTH = 4,   /* nodes of a layer when the work is used up: a sweep always comes to its end */
};

/* Nodes of one layer while it grows. Keys are classes, slot by slot. */
struct growing {
    VEC(uint16_t) keys;
    VEC(int64_t) cost;
    VEC(int64_t) total; /* with the bound of the rest */
    VEC(int32_t) first;
    int32_t *table, slots; /* open addressing; -1: empty */
    uint32_t mask;
    int32_t count, most;
};

struct sweeping {
    const struct term_frontier *f;
    const struct term_sweep_options *how;
    struct term_sweep *s;
    struct term_layer layer;
    struct growing now, next;
    uint16_t *key;               /* of the node that is made */
    int64_t *cost_at, *least_at; /* per lookup: where a node's entries begin */
    int64_t dropped;             /* the least total of what was not kept */
};

static bool growing_make(struct growing *g, int32_t slots, int32_t most)
{
    uint32_t room = 16;
    while (room < 2 * (uint32_t)most) room *= 2;
    *g = (struct growing){.slots = slots, .most = most, .mask = room - 1};
    g->table = mem_alloc(room * sizeof *g->table);
    for (uint32_t i = 0; g->table && i < room; i++) g->table[i] = -1;
    return g->table;
}

static void growing_free(struct growing *g)
{
    VEC_FREE(&g->keys);
    VEC_FREE(&g->cost);
    VEC_FREE(&g->total);
    VEC_FREE(&g->first);
    mem_free(g->table);
    *g = (struct growing){0};
}

static const uint16_t *term_sweep_key_of(const struct growing *g, int32_t node)
{
    return g->keys.at + (size_t)node * (size_t)g->slots;
}

/* The place of a key in the table: that of its node, or an empty one. */
static int32_t *term_sweep_place_of(struct growing *g, const uint16_t *key)
{
    size_t bytes = (size_t)g->slots * sizeof *key;
    uint64_t h = HASH_START;
    for (int32_t i = 0; i < g->slots; i++) h = (h ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
    uint32_t at = (uint32_t)(h >> 7) & g->mask;
    while (g->table[at] >= 0 && bytes && memcmp(term_sweep_key_of(g, g->table[at]), key, bytes) != 0)
        at = (at + 1) & g->mask;
    return &g->table[at];
}

static bool term_sweep_add_node(struct growing *g, const uint16_t *key)
{
    for (int32_t i = 0; i < g->slots; i++)
        if (!VEC_PUSH(&g->keys, key[i])) return false;
    g->count++;
    return VEC_PUSH(&g->cost, TERM_NEVER) && VEC_PUSH(&g->total, TERM_NEVER) && VEC_PUSH(&g->first, -1);
}

/* The cheapest way into a node is the first of its arcs. */
static bool add_arc(struct sweeping *w, int32_t node, struct term_arc arc, int64_t cost, int64_t total)
{
    struct growing *g = &w->next;
    bool better = cost < g->cost.at[node];
    if (!better && w->s->arcs.count >= MOST_ARCS) {
        w->s->arcs_lost = true;
        return true;
    }
    int32_t head = g->first.at[node], at = (int32_t)w->s->arcs.count;
    arc.next = better || head < 0 ? head : w->s->arcs.at[head].next;
    if (!VEC_PUSH(&w->s->arcs, arc)) return false;
    if (!better && head >= 0) {
        w->s->arcs.at[head].next = at;
        return true;
    }
    g->first.at[node] = at;
    g->cost.at[node] = cost;
    g->total.at[node] = total;
    return true;
}

static void term_sweep_drop(struct sweeping *w, int64_t total)
{
    w->dropped = min_i64(w->dropped, total);
}

static bool term_sweep_reach(struct sweeping *w, struct term_arc arc, int64_t cost, int64_t total)
{
    int32_t *place = term_sweep_place_of(&w->next, w->key);
    if (*place < 0) {
        if (w->next.count >= w->next.most) return term_sweep_drop(w, total), true;
        *place = w->next.count;
        if (!term_sweep_add_node(&w->next, w->key)) return false;
    }
    return add_arc(w, *place, arc, cost, total);
}

/* --- Lookups. --- */

static int64_t term_sweep_entry_of(const struct term_lookup *l, const uint16_t *key)
{
    int64_t at = l->fixed;
    for (int32_t k = 0; k < l->count; k++) at += l->offset[k][key[l->slots[k]]];
    return at;
}

static int64_t term_sweep_value_at(const struct term_lookup *l, int64_t entry, int32_t value)
{
    return l->values[entry + (l->own ? l->own[value] : 0)];
}

static bool term_sweep_handed_over(const struct term_resident *r, const uint16_t *key, int32_t value)
{
    for (int32_t i = 0; i < r->handover_count; i++)
        if (term_sweep_value_at(&r->handovers[i], term_sweep_entry_of(&r->handovers[i], key), value))
            return true;
    return false;
}

static bool tick_has_room(const struct term_tick *t, const uint16_t *key, int32_t value, int64_t room)
{
    for (int32_t i = 0; i < t->count; i++) {
        const struct term_resident *r = &t->residents[i];
        int64_t bytes = r->bytes[r->slot < 0 ? value : key[r->slot]];
        if (bytes > 0 && !term_sweep_handed_over(r, key, value)) room -= bytes;
    }
    return room >= 0;
}

static bool term_sweep_has_room(const struct sweeping *w, int32_t var, const uint16_t *key, int32_t value)
{
    if (w->f->n->vars[var].bytes[value] <= 0) return true;
    for (int32_t i = 0; i < w->layer.tick_count; i++)
        if (!tick_has_room(&w->layer.ticks[i], key, value, w->f->n->room)) return false;
    return true;
}

/* --- One node, one layer. --- */

static int64_t term_sweep_sum_of(const struct term_lookup *l, const int64_t *at, int32_t count, int32_t value,
                                 int64_t sum)
{
    for (int32_t i = 0; i < count && !term_is_never(sum); i++) {
        int64_t more = term_sweep_value_at(&l[i], at[i], value);
        sum = term_is_never(more) ? TERM_NEVER : sum + more;
    }
    return sum;
}

static void make_key(struct sweeping *w, const uint16_t *key, int32_t value)
{
    for (int32_t i = 0; i < w->layer.next_count; i++) {
        int32_t from = w->layer.from[i];
        w->key[i] = (uint16_t)w->layer.class_map[i][from < 0 ? value : key[from]];
    }
}

static bool term_sweep_expand(struct sweeping *w, int32_t var, int32_t node)
{
    const uint16_t *key = term_sweep_key_of(&w->now, node);
    const struct term_layer *l = &w->layer;
    for (int32_t i = 0; i < l->cost_count; i++) w->cost_at[i] = term_sweep_entry_of(&l->costs[i], key);
    for (int32_t i = 0; i < l->least_count; i++) w->least_at[i] = term_sweep_entry_of(&l->least[i], key);
    for (int32_t v = 0; v < w->f->n->vars[var].size; v++) {
        int64_t cost = term_sweep_sum_of(l->costs, w->cost_at, l->cost_count, v, w->now.cost.at[node]);
        int64_t total = term_sweep_sum_of(l->least, w->least_at, l->least_count, v, cost);
        if (total >= w->how->below || !term_sweep_has_room(w, var, key, v)) continue;
        make_key(w, key, v);
        struct term_arc arc = {node, v, -1, cost - w->now.cost.at[node]};
        if (!term_sweep_reach(w, arc, cost, total)) return false;
    }
    w->s->steps += w->f->n->vars[var].size;
    return true;
}

struct ranked {
    int64_t total;
    int32_t node;
};

static int term_sweep_compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->total != y->total) return x->total < y->total ? -1 : 1;
    return x->node - y->node;
}

/* With nobody on chip of whom anything is still to be asked, all others can be off: such a node has an answer. */
static bool term_sweep_is_safe(const struct sweeping *w, const uint16_t *key)
{
    for (int32_t i = 0; i < w->layer.next_count; i++)
        if (w->layer.next_bytes[i][key[i]] >= 0) return false;
    return true;
}

static bool keep_node(const struct growing *from, int32_t node, struct growing *to)
{
    int32_t at = to->count;
    if (!term_sweep_add_node(to, term_sweep_key_of(from, node))) return false;
    to->cost.at[at] = from->cost.at[node];
    to->total.at[at] = from->total.at[node];
    to->first.at[at] = from->first.at[node];
    return true;
}

/* The best of a layer, best first, as the layer from which to go on; and some that cannot come to nothing. */
static bool term_sweep_keep_best(struct sweeping *w, struct growing *from, struct growing *to)
{
    struct ranked *order = mem_zeroed((size_t)from->count + 1, sizeof *order);
    int32_t safe = 0;
    bool ok = order && growing_make(to, from->slots, 1), cut = false;
    for (int32_t i = 0; ok && i < from->count; i++) order[i] = (struct ranked){from->total.at[i], i};
    if (ok) qsort(order, (size_t)from->count, sizeof *order, term_sweep_compare_ranked);
    for (int32_t i = 0; ok && i < from->count && (i < w->how->width || safe < SAFE_NODES); i++) {
        bool keep = term_sweep_is_safe(w, term_sweep_key_of(from, order[i].node)), wide = i >= w->how->width;
        safe += keep;
        if (keep || !wide)
            ok = keep_node(from, order[i].node, to);
        else if (!cut)
            term_sweep_drop(w, order[i].total), cut = true;
    }
    if (ok && !cut && to->count < from->count) term_sweep_drop(w, order[to->count].total);
    mem_free(order);
    return ok;
}

static bool term_sweep_remember(struct sweeping *w, struct term_nodes *out)
{
    size_t count = (size_t)w->now.count;
    *out = (struct term_nodes){w->now.count,
                               arena_copy_array(&w->s->memory, w->now.cost.at, count, sizeof *out->cost),
                               arena_copy_array(&w->s->memory, w->now.first.at, count, sizeof *out->first)};
    return out->cost && out->first;
}

static bool term_sweep_stop_now(struct sweeping *w)
{
    const struct term_sweep_options *how = w->how;
    return w->s->steps >= how->step_limit || lx_run_stopped(how->run) ||
           (how->deadline > 0 && clock_seconds() > how->deadline);
}

static bool expand_all(struct sweeping *w, int32_t var)
{
    for (int32_t node = 0; node < w->now.count; node++) {
        if (!w->s->stopped && node % LOOK_EVERY == 0) w->s->stopped = term_sweep_stop_now(w);
        if (w->s->stopped && node >= LAST_WIDTH)
            term_sweep_drop(w, w->now.total.at[node]);
        else if (!term_sweep_expand(w, var, node))
            return false;
    }
    return true;
}

static bool sweep_layer(struct sweeping *w, const struct term_bound *b, int32_t var)
{
    struct arena memory = {0};
    bool ok = term_layer_make(w->f, b, var, &memory, &w->layer);
    int32_t most = (int32_t)min_i64((int64_t)w->how->width * LAYER_FACTOR, 1 << 22);
    w->key = ok ? arena_array(&memory, (size_t)w->layer.next_count, sizeof *w->key) : NULL;
    w->cost_at = ok ? arena_array(&memory, (size_t)w->layer.cost_count, sizeof *w->cost_at) : NULL;
    w->least_at = ok ? arena_array(&memory, (size_t)w->layer.least_count, sizeof *w->least_at) : NULL;
    ok = w->key && w->cost_at && w->least_at && growing_make(&w->next, w->layer.next_count, most);
    ok = ok && expand_all(w, var);
    growing_free(&w->now);
    ok = ok && term_sweep_keep_best(w, &w->next, &w->now) && term_sweep_remember(w, &w->s->layers[var + 1]);
    growing_free(&w->next);
    arena_free(&memory);
    return ok;
}

bool term_sweep(struct term_sweep *s, const struct term_frontier *f, const struct term_bound *b,
                const struct term_sweep_options *how, lx_status *st)
{
    struct sweeping w = {.f = f, .how = how, .s = s, .dropped = TERM_NEVER};
    int32_t count = f->n->count;
    *s = (struct term_sweep){0};
    s->layers = arena_array(&s->memory, (size_t)count + 1, sizeof *s->layers);
    bool ok = s->layers && growing_make(&w.now, 0, 1) && term_sweep_add_node(&w.now, NULL);
    if (ok) w.now.cost.at[0] = w.now.total.at[0] = f->n->base;
    ok = ok && term_sweep_remember(&w, &s->layers[0]);
    for (int32_t v = 0; ok && v < count; v++) ok = sweep_layer(&w, b, v);
    s->dropped = w.dropped;
    growing_free(&w.now);
    growing_free(&w.next);
    return ok || status_no_memory(st);
}

void term_sweep_free(struct term_sweep *s)
{
    VEC_FREE(&s->arcs);
    arena_free(&s->memory);
}
