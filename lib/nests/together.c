/* The uses of all tensors, the ways to serve them, and prices of the room that they share. */
#include "nests/together.h"

static bool together_wipes(const struct draft *x, int32_t op)
{
    return x->graph->ops[op].kind->traits & LX_WIPES;
}

/* Lists the uses of op `o`. */
static void together_list(struct together *m, int32_t o, int32_t *last)
{
    const struct draft *x = m->x;
    const struct lx_op *op = &x->graph->ops[o];
    const char *why;
    m->use_at[o] = m->use_count;
    for (int32_t a = x->access_at[o]; a < x->access_at[o + 1]; a++) {
        const struct lx_access *access = &x->accesses[a];
        struct together_use *u = &m->uses[m->use_at[o]], *end = &m->uses[m->use_count];
        while (u < end && u->tensor != access->tensor) u++;
        if (u == end) {
            m->use_count++;
            *u = (struct together_use){.tensor = access->tensor, .op = o, .next = -1};
            u->before = last[u->tensor] - 1;
            u->whole = tensor_bytes(x->layouts, u->tensor);
            u->barred = op->kind->traits & LX_EXTERN ||
                        exclusion_of_tensor(x->layouts, &x->how.passes, u->tensor, &why) != LX_EXCLUDED_NONE;
            if (u->before >= 0) m->uses[u->before].next = (int32_t)(u - m->uses);
            last[u->tensor] = (int32_t)(u - m->uses) + 1;
        }
        u->reads |= access->reads;
        u->picked |= access_is_picked(x, a);
        u->inserts |= access->reads && access->writes;
        u->writes |= access->writes;
        *(access->writes ? &u->written : &u->read) += access->bytes;
        m->grain = gcd_i64(gcd_i64(m->grain, u->whole), access->bytes);
    }
    for (struct together_use *u = &m->uses[m->use_at[o]]; u < &m->uses[m->use_count]; u++)
        u->gives = !x->how.passes.no_in_place && !u->writes && runs_in_place_of(x->layouts, op, u->tensor);
    for (struct together_use *u = &m->uses[m->use_at[o]]; u < &m->uses[m->use_count]; u++)
        for (struct together_use *v = &m->uses[m->use_at[o]]; v < &m->uses[m->use_count]; v++)
            u->takes |= v->gives && u->writes && !u->reads && u->tensor == op->output;
}

/* Sets what later uses ask for. */
static void together_look_ahead(struct together *m, struct together_use *u)
{
    const struct together_use *next = u->next < 0 ? NULL : &m->uses[u->next];
    u->needed = next ? next->reads : lx_role_leaves(m->x->graph->tensors[u->tensor].role);
    u->may_keep = next && next->reads && !together_wipes(m->x, u->op);
    for (int32_t o = u->op + 1; u->may_keep && o <= next->op; o++) u->may_keep = !together_wipes(m->x, o);
}

static void together_make(struct together *m, const struct draft *x, int64_t room)
{
    enum { PRICE_BITS = 20 };
    size_t ops = (size_t)x->graph->op_count, accesses = (size_t)x->access_at[ops];
    *m = (struct together){.x = x, .op_count = x->graph->op_count, .room = room};
    m->uses = arena_array(&m->memory, accesses + 1, sizeof *m->uses);
    m->use_at = arena_array(&m->memory, ops + 1, sizeof *m->use_at);
    m->index = arena_array(&m->memory, ops, sizeof *m->index);
    m->ahead = arena_array(&m->memory, PLACES_WHOLE * (accesses + 1), sizeof *m->ahead);
    m->behind = arena_array(&m->memory, ops + 1, sizeof *m->behind);
    m->beyond = arena_array(&m->memory, ops + 1, sizeof *m->beyond);
    int32_t *last = arena_array(&m->memory, (size_t)x->graph->tensor_count, sizeof *last); /* 1 + its use */
    for (int32_t o = 0; o < m->op_count; o++) {
        together_list(m, o, last);
        op_index_of(x->graph, &x->graph->ops[o], &m->index[o]);
    }
    m->use_at[ops] = m->use_count;
    m->grain = max_i64(m->grain, 1);
    for (int32_t u = 0; u < m->use_count; u++) together_look_ahead(m, &m->uses[u]);
    prices_make(&m->prices, m->op_count, PRICE_BITS, room, &m->memory);
}

struct together_holds together_plain(const struct together_use *u)
{
    return (struct together_holds){.is = {true}, .size = {u->whole}, .fills = {1}, .parts = {1}, .times = 1};
}

/* Adds the ways that keep the tensor after the use, or drop it. */
static int together_go_on(const struct together_use *u, bool within, struct together_way w, int hold,
                          bool dirty, struct together_way *out)
{
    int count = 0;
    w.after = 1 + 2 * hold + dirty;
    if (u->may_keep && (hold == 0 || within)) out[count++] = w;
    w.after = PLACE_HBM;
    if (dirty && u->needed) w.cost += u->whole;
    out[count++] = w;
    return count;
}

/* `within`: the next use is in the same nest. A tensor on chip that HBM lacks is stored when it is dropped,
 * or read from HBM. */
int together_ways(const struct together_use *u, const struct together_holds *y, bool within, int before,
                  struct together_way out[TOGETHER_WAYS])
{
    bool on = before != PLACE_HBM, dirty = on && before % 2 == 0;
    int64_t stored = dirty && u->reads ? u->whole : 0, wrote = u->written * (2 * y->times - 1);
    int count = 0;
    out[count++] = (struct together_way){.cost = u->read * y->times + wrote * u->writes + stored};
    if (u->barred && on && !u->writes && u->may_keep) { /* it stays on chip beside the access */
        out[count] = out[0];
        out[count].size = u->whole;
        out[count++].after = PLACE_WHOLE;
    }
    for (int h = 0; h <= y->levels && !u->barred; h++) {
        bool there = on && place_hold(before) == h, now_dirty = there && dirty;
        struct together_way w = {.size = y->size[h], .begins = !there, .covers = h < y->levels};
        w.in_turn = !there && !u->reads && !w.covers;
        if (!y->is[h]) continue;
        if (!there && u->reads) {
            w.cost = stored + u->whole * y->fills[h];
            if (u->writes && !u->inserts) w.cost = min_i64(w.cost, stored + u->read * y->times);
        }
        if (u->writes && u->reads) {
            out[count] = w;
            out[count++].cost += wrote + (now_dirty && u->inserts ? u->whole : 0);
        }
        if (u->writes && y->parts[h] > 1) w.cost += (2 * y->parts[h] - 1) * u->whole;
        if (u->writes) now_dirty = y->parts[h] == 1;
        count += together_go_on(u, within, w, h, now_dirty, &out[count]);
    }
    return count;
}

int64_t together_room(const struct together *m, const struct together_nest *n, int64_t bytes, int32_t from,
                      int32_t to)
{
    const int64_t *before = n ? n->before : m->prices.before;
    return prices_floor(&m->prices, (int128)bytes * (before[to] - before[from]));
}

int64_t together_then(const struct together *m, int32_t use, const struct together_nest *n,
                      const struct together_way *w)
{
    const struct together_use *u = &m->uses[use];
    int32_t op = u->next < 0 ? m->op_count : m->uses[u->next].op, until = op;
    if (w->after == PLACE_HBM) until = w->covers ? n->last + 1 : u->op + 1;
    int64_t room = together_room(m, n, w->size, u->op + 1, until);
    if (u->next < 0) return room;
    if (n && op <= n->last) return room + n->ahead[PLACES * (u->next - m->use_at[n->first]) + w->after];
    return room + m->ahead[PLACES_WHOLE * u->next + w->after];
}

int64_t together_best(struct together *m, int32_t use, const struct together_holds *y,
                      const struct together_nest *n, int before, struct together_way *best)
{
    const struct together_use *u = &m->uses[use];
    bool within = n && u->next >= 0 && m->uses[u->next].op <= n->last;
    struct together_way all[TOGETHER_WAYS];
    int64_t least = INT64_MAX;
    int count = together_ways(u, y, within, before, all);
    for (int i = 0; i < count; i++) {
        int64_t size = all[i].in_turn && u->takes ? 0 : all[i].size;
        int32_t from = all[i].covers && all[i].begins ? n->first : u->op;
        int64_t cost =
            all[i].cost + together_room(m, n, size, from, u->op + 1) + together_then(m, use, n, &all[i]);
        if (cost < least) least = cost, *best = all[i];
    }
    m->steps += count;
    return least;
}

/* prices_improve: the least priced cost without nests. */
static int64_t together_value(void *model, int64_t *steps)
{
    struct together *m = model;
    struct together_way best;
    int64_t sum = 0;
    prices_sum(&m->prices);
    for (int32_t k = m->use_count - 1; k >= 0; k--) {
        struct together_holds y = together_plain(&m->uses[k]);
        for (int s = 0; s < PLACES_WHOLE; s++)
            m->ahead[PLACES_WHOLE * k + s] = together_best(m, k, &y, NULL, s, &best);
        if (m->uses[k].before < 0) sum += m->ahead[PLACES_WHOLE * k];
    }
    *steps += m->use_count;
    return sum + prices_floor(&m->prices, -(int128)m->room * m->prices.before[m->op_count]);
}

/* prices_improve: bytes on chip per tick. */
static void together_loads(void *model, int64_t *load, int64_t *steps)
{
    struct together *m = model;
    for (int32_t o = 0; o <= m->op_count; o++) load[o] = 0;
    for (int32_t first = 0; first < m->use_count; first++) {
        int place = PLACE_HBM;
        for (int32_t k = first; m->uses[first].before < 0 && k >= 0; k = m->uses[k].next) {
            const struct together_use *u = &m->uses[k];
            struct together_holds y = together_plain(u);
            struct together_way w = {0};
            together_best(m, k, &y, NULL, place, &w);
            if (!(w.in_turn && u->takes)) load[u->op] += w.size;
            place = w.after;
            for (int32_t o = u->op + 1; place != PLACE_HBM && u->next >= 0 && o < m->uses[u->next].op; o++)
                load[o] += w.size;
        }
    }
    *steps += m->use_count;
}

/* The bound without nests under the best prices. */
static int64_t together_price(struct together *m, int64_t below)
{
    enum { ROUNDS = 60 };
    struct priced of = {m, together_value, together_loads};
    int64_t steps = 0;
    return prices_improve(&m->prices, &of, below, ROUNDS, INT64_MAX, &steps);
}

int64_t together_traffic(const struct draft *x, int64_t room, int64_t below)
{
    struct together m;
    if (x->graph->op_count == 0 || x->graph->op_count > NESTS_TOGETHER || cancel_requested()) return 0;
    together_make(&m, x, room);
    int64_t bound = together_price(&m, below);
    if (together_find_nests(&m, bound, below))
        bound = together_walk(&m, below);
    else
        bound = 0;
    VEC_FREE(&m.nests);
    arena_free(&m.memory);
    return bound;
}
