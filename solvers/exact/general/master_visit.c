/* Visits a point of the master programme: packs the pools.
 *
 * If all pack, the point is an answer, perhaps cheaper than the point's cost, since paid pairs need not share
 * bytes. If one does not, a small core of its blocks and kept-apart pairs that still does not pack gives a
 * row: one of these blocks leaves the pool, or one of the pairs is paid. */
#include "exact/general/master.h"
#include "exact/general/pile.h"

static bool master_visit_holds(struct literal l, const bool *point)
{
    return l.column < 0 ? l.positive : point[l.column] == l.positive;
}

/* The block's pool at the point: of several the first by cost. */
static int32_t master_visit_pool_at(const struct master *m, int32_t block, const bool *point)
{
    const struct block *k = &m->b->at[block];
    int32_t best = -1;
    if (!master_visit_holds(placed(m, block), point)) return -1;
    for (int32_t o = k->first_option; o < k->first_option + k->option_count; o++)
        if (master_visit_holds(m->in_pool[o], point) &&
            (best < 0 || m->b->options[o].cost < m->b->options[best].cost))
            best = o;
    return best < 0 ? -1 : m->b->options[best].pool;
}

static enum fit_result master_ask(struct master *m, int32_t pool, int32_t *members, int32_t count,
                                  int64_t nodes, int64_t *address)
{
    struct pool_question q = (struct pool_question){
        .b = m->b,
        .pool = pool,
        .capacity = m->b->rooms[pool].capacity,
        .members = members,
        .count = count,
        .soft_apart = m->soft_apart,
        .limits = {.nodes = budget_nodes(m->programme.budget, nodes, count),
                   .seed = m->seed,
                   .stop = budget_stopped,
                   .context = m->programme.budget},
    };
    enum fit_result result = pack_into_pool(&q, address);
    m->asked++;
    m->spent += q.nodes;
    budget_spend_nodes(m->programme.budget, q.nodes, count);
    return result;
}

/* --- Cores. --- */

/* Drops members while the pool still does not pack, in shorter and shorter runs; returns how many are
 * left. */
static int32_t master_shrink(struct master *m, int32_t pool, int32_t *members, int32_t count,
                             int64_t *scratch)
{
    OWNED int32_t *trial = mem_alloc(((size_t)count + 1) * sizeof *trial);
    for (int32_t run = count / 2; run > 0; run = run == 1 ? 0 : (run + 1) / 2)
        for (int32_t from = 0; from < count && !budget_spent(m->programme.budget);) {
            int32_t out = (int32_t)min_i64(run, count - from), n = 0;
            for (int32_t k = 0; k < count; k++)
                if (k < from || k >= from + out) trial[n++] = members[k];
            if (out < count && master_ask(m, pool, trial, n, m->core_nodes, scratch) == FIT_NO) {
                memcpy(members, trial, (size_t)n * sizeof *trial);
                count = n;
            } else
                from += out;
        }
    return count;
}

static void cut_off(struct master *m, int32_t pool, int32_t count)
{
    OWNED int64_t *scratch = mem_alloc(((size_t)m->b->count + 1) * sizeof *scratch);
    for (int32_t k = 0; k < m->b->soft_count; k++)
        m->soft_apart[k] &= (m->now.pool[m->b->softs[k].a] == pool && m->now.pool[m->b->softs[k].b] == pool);
    count = master_shrink(m, pool, m->members, count, scratch);
    if (m->b->soft_count) {
        /* Pairs kept apart within the core; the ones not needed are dropped. */
        const struct blocks *b = m->b;
        OWNED bool *in = mem_zeroed((size_t)b->count + 1, sizeof *in),
                   *saved = mem_alloc((size_t)b->soft_count + 1);
        for (int32_t k = 0; k < count; k++) in[m->members[k]] = true;
        for (int32_t k = 0; k < b->soft_count; k++)
            m->soft_apart[k] &= in[b->softs[k].a] && in[b->softs[k].b];
        for (int32_t run = b->soft_count; run > 0; run = run == 1 ? 0 : (run + 1) / 2)
            for (int32_t from = 0; from < b->soft_count && !budget_spent(m->programme.budget); from += run) {
                int32_t to = (int32_t)min_i64(from + run, b->soft_count), on = 0;
                memcpy(saved, m->soft_apart, (size_t)b->soft_count * sizeof *saved);
                for (int32_t k = from; k < to; on += saved[k++]) m->soft_apart[k] = false;
                if (on && master_ask(m, pool, m->members, count, m->core_nodes, scratch) != FIT_NO)
                    memcpy(m->soft_apart, saved, (size_t)b->soft_count * sizeof *saved);
            }
    }
    row_begin(m, 1);
    for (int32_t k = 0; k < count; k++) row_add(m, opposite(master_in_pool(m, m->members[k], pool)), 1);
    for (int32_t k = 0; k < m->b->soft_count; k++)
        if (m->soft_apart[k]) row_add(m, (struct literal){m->first_soft + k, true}, 1);
    row_end(m);
}

/* --- Repair: an answer near a point that does not pack. Turns off the core's cheapest variable until
 * everything packs; then tries variables that are off, dearest first, and keeps them on if all packs and the
 * whole gets cheaper. Works on values of variables; staging follows its owner, linked costs are counted on
 * the whole. --- */

struct repair {
    struct master *m;
    bool *value;
    struct layout trial;
    int32_t *core, core_count, core_pool;
};

static bool is_forbidden(const struct repair *r)
{
    const struct lx_bonds *s = &r->m->b->p->bonds;
    for (int32_t k = 0; k < s->linked_cost_count; k++)
        if (s->linked_costs[k].cost == LX_FORBIDDEN && layout_triggers(r->m->b, &r->trial, k)) return true;
    return false;
}

/* FIT_NO or FIT_LIMIT: `core` holds the blocks that did not pack. */
static enum fit_result master_repair_pack_all(struct repair *r)
{
    struct master *m = r->m;
    enum fit_result result = FIT_YES;
    const struct blocks *b = r->m->b;
    for (int32_t i = 0; i < b->count; i++) {
        const struct block *k = &b->at[i];
        bool on = r->value[k->variable] == k->on_if;
        bool keeps = r->m->now.pool[i] >= 0;
        r->trial.pool[i] = !on ? -1 : keeps ? r->m->now.pool[i] : b->options[k->first_option].pool;
    }
    for (int32_t k = 0; k < m->b->soft_count; k++) m->soft_apart[k] = false;
    for (int32_t pool = 0; pool < m->b->pool_count && result == FIT_YES; pool++) {
        r->core_pool = pool;
        r->core_count = layout_members(&r->trial, m->b->count, pool, r->core);
        result = master_ask(m, pool, r->core, r->core_count, m->core_nodes, r->trial.address);
    }
    return result;
}

static bool master_repair_give_up(struct repair *r)
{
    for (int32_t round = 0; round <= r->m->b->variable_count; round++) {
        enum fit_result result = master_repair_pack_all(r);
        if (result == FIT_YES) return !is_forbidden(r);
        if (budget_spent(r->m->programme.budget)) return false;
        if (result == FIT_NO)
            r->core_count = master_shrink(r->m, r->core_pool, r->core, r->core_count, r->trial.address);
        /* The free variable of the core that saves most room per cost when off, or -1. */
        const struct blocks *b = r->m->b;
        int32_t v = -1;
        double least = 0;
        for (int32_t k = 0; k < r->core_count; k++) {
            const struct block *block = &b->at[r->core[k]];
            if (b->fixed[block->variable] >= 0 || !block->on_if) continue;
            double price = (double)(b->off_cost[block->variable] + 1) / (double)max_i64(block->size, 1);
            if (v < 0 || price < least) v = block->variable, least = price;
        }
        if (v < 0) return false;
        r->value[v] = false;
    }
    return false;
}

static void master_repair_take(struct repair *r)
{
    r->trial.cost = layout_cost(r->m->b, &r->trial);
    r->trial.known = true;
    if (!r->m->best->known || r->trial.cost < r->m->best->cost)
        layout_take(r->m->b, r->m->programme.budget, &r->trial, r->m->best, 0);
}

/* Tries variables that are off, dearest first. */
static void fill_up(struct repair *r, bool *tried)
{
    const struct blocks *b = r->m->b;
    int64_t cost = r->trial.cost;
    while (!budget_spent(r->m->programme.budget)) {
        int32_t best = -1;
        for (int32_t v = 0; v < b->variable_count; v++)
            if (b->fixed[v] < 0 && !r->value[v] && !tried[v] &&
                (best < 0 || b->off_cost[v] > b->off_cost[best]))
                best = v;
        if (best < 0) return;
        tried[best] = r->value[best] = true;
        if (master_repair_pack_all(r) == FIT_YES && !is_forbidden(r) && layout_cost(b, &r->trial) < cost) {
            master_repair_take(r);
            cost = r->trial.cost;
        } else
            r->value[best] = false;
    }
}

static void master_repair(struct master *m, const bool *point)
{
    SCOPED(arena_free) struct arena memory = {0};
    const struct blocks *b = m->b;
    size_t n = (size_t)b->count + 1, variables = (size_t)b->variable_count + 1;
    struct repair r = {.m = m};
    r.value = arena_array(&memory, variables, sizeof *r.value);
    r.core = arena_array(&memory, n, sizeof *r.core);
    bool *tried = arena_array(&memory, variables, sizeof *tried);
    layout_open(&r.trial, b->count);
    for (int32_t v = 0; v < b->variable_count; v++) {
        struct literal l = m->variable[v];
        r.value[v] = l.column < 0 ? l.positive : point[l.column] == l.positive;
    }
    if (master_repair_give_up(&r)) {
        master_repair_take(&r);
        fill_up(&r, tried);
    }
    if (m->best->known && !m->any)
        m->programme.best = min_i64(m->programme.best, m->best->cost - m->constant);
    layout_close(&r.trial);
}

/* --- The visit. --- */

enum visit master_visit(void *context, const bool *point)
{
    struct master *m = context;
    for (int32_t i = 0; i < m->b->count; i++) {
        m->now.pool[i] = master_visit_pool_at(m, i, point);
        m->now.address[i] = -1;
    }
    /* A violated clique row is stronger than a core. */
    struct programme *g = &m->programme;
    for (int32_t j = 0; j < g->columns; j++) g->fraction[j] = point[j];
    if (master_separate(m, g->fraction) > 0) return POINT_CUT;
    for (int32_t pool = 0; pool < m->b->pool_count; pool++) {
        for (int32_t k = 0; k < m->b->soft_count; k++) m->soft_apart[k] = !point[m->first_soft + k];
        int32_t count = layout_members(&m->now, m->b->count, pool, m->members);
        enum fit_result result = master_ask(m, pool, m->members, count, m->pack_nodes, m->now.address);
        if (result == FIT_NO) cut_off(m, pool, count);
        if (result != FIT_YES) {
            /* Repairs at the first, second, fourth, ... failure. */
            m->failures++;
            if ((m->failures & (m->failures - 1)) == 0 && !m->any) master_repair(m, point);
            return result == FIT_NO ? POINT_CUT : POINT_UNKNOWN;
        }
    }
    m->now.cost = layout_cost(m->b, &m->now);
    m->now.known = true;
    if (!m->best->known || m->now.cost < m->best->cost)
        layout_take(m->b, m->programme.budget, &m->now, m->best, 0);
    m->programme.best = min_i64(m->programme.best, m->now.cost - m->constant);
    if (m->any) m->programme.enough = true;
    return POINT_TAKEN;
}
