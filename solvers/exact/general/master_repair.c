/* An answer near a point that does not pack. Of a core that does not pack the variable that costs least
 * to give up is turned off, until everything packs; then what is off is tried again, the dearest first,
 * and kept where it packs and the whole becomes cheaper. Works on values of variables; staging follows
 * its owner by itself, charges are counted on the whole. */
#include "exact/general/master.h"
#include "base/memory.h"
#include "exact/general/pool_pack.h"

#include <stdlib.h>
#include <string.h>

struct repair {
    struct master *m;
    bool *value;
    struct layout trial;
    int32_t *core, core_count, core_pool;
};

static bool is_forbidden(const struct repair *r)
{
    const struct lx_bonds *s = &r->m->b->p->bonds;
    for (int32_t k = 0; k < s->charge_count; k++)
        if (s->charges[k].cost == LX_FORBIDDEN && layout_triggers(r->m->b, &r->trial, k)) return true;
    return false;
}

/* FIT_NO or FIT_LIMIT: what did not pack is in `core`. */
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
        r->core_count = 0;
        for (int32_t i = 0; i < m->b->count; i++)
            if (r->trial.pool[i] == pool) r->core[r->core_count++] = i;
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
        /* The free variable of the core whose being off saves most room for what it costs, or -1. */
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

/* The dearest of what is off and has not been tried. */
static int32_t to_try(const struct blocks *b, const bool *value, const bool *tried)
{
    int32_t best = -1;
    for (int32_t v = 0; v < b->variable_count; v++)
        if (b->fixed[v] < 0 && !value[v] && !tried[v] && (best < 0 || b->off_cost[v] > b->off_cost[best]))
            best = v;
    return best;
}

static void fill_up(struct repair *r, bool *tried)
{
    const struct blocks *b = r->m->b;
    int64_t cost = r->trial.cost;
    for (int32_t v; (v = to_try(b, r->value, tried)) >= 0 && !budget_spent(r->m->programme.budget);) {
        tried[v] = r->value[v] = true;
        if (master_repair_pack_all(r) == FIT_YES && !is_forbidden(r) && layout_cost(b, &r->trial) < cost) {
            master_repair_take(r);
            cost = r->trial.cost;
        } else
            r->value[v] = false;
    }
}

void master_repair(struct master *m, const bool *point)
{
    const struct blocks *b = m->b;
    size_t n = (size_t)b->count + 1, variables = (size_t)b->variable_count + 1;
    struct repair r = {.m = m, .value = mem_alloc(variables), .core = mem_alloc(n * sizeof *r.core)};
    bool *tried = mem_zeroed(variables, sizeof *tried);
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
    mem_free(r.value);
    mem_free(r.core);
    mem_free(tried);
}
