/* What a point of the master programme is worth: the pools are packed. They all pack: an answer, perhaps
 * cheaper than the point says, since pairs that were paid need not touch. One does not: of its blocks and
 * of the pairs that had to be apart a small core is kept that does not pack either, and the row says that
 * one of them leaves the pool, or one of the pairs is paid. */
#include "exact/general/master.h"
#include "base/memory.h"
#include "exact/general/pool_pack.h"

#include <stdlib.h>
#include <string.h>

static bool master_visit_holds(struct literal l, const bool *point)
{
    return l.column < 0 ? l.positive : point[l.column] == l.positive;
}

/* Where the point puts the block: of several pools the first by cost. */
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

enum fit_result master_ask(struct master *m, int32_t pool, int32_t *members, int32_t count, int64_t nodes,
                           int64_t *address)
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

/* Leaves out what is not needed for the pool not to pack: runs of members, shorter and shorter. */
int32_t master_shrink(struct master *m, int32_t pool, int32_t *members, int32_t count, int64_t *scratch)
{
    int32_t *trial = mem_alloc(((size_t)count + 1) * sizeof *trial);
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
    mem_free(trial);
    return count;
}

static void cut_off(struct master *m, int32_t pool, int32_t count)
{
    int64_t *scratch = mem_alloc(((size_t)m->b->count + 1) * sizeof *scratch);
    for (int32_t k = 0; k < m->b->soft_count; k++)
        m->soft_apart[k] &= (m->now.pool[m->b->softs[k].a] == pool && m->now.pool[m->b->softs[k].b] == pool);
    count = master_shrink(m, pool, m->members, count, scratch);
    if (m->b->soft_count) {
        /* The pairs that are kept apart within the core; what they are not needed for is taken back. */
        const struct blocks *b = m->b;
        bool *in = mem_zeroed((size_t)b->count + 1, sizeof *in),
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
        mem_free(in);
        mem_free(saved);
    }
    row_begin(m, 1);
    for (int32_t k = 0; k < count; k++) row_add(m, opposite(master_in_pool(m, m->members[k], pool)), 1);
    for (int32_t k = 0; k < m->b->soft_count; k++)
        if (m->soft_apart[k]) row_add(m, (struct literal){m->first_soft + k, true}, 1);
    row_end(m);
    mem_free(scratch);
}

/* --- The visit. --- */

enum visit master_visit(void *context, const bool *point)
{
    struct master *m = context;
    for (int32_t i = 0; i < m->b->count; i++) {
        m->now.pool[i] = master_visit_pool_at(m, i, point);
        m->now.address[i] = -1;
    }
    /* A row of a clique that the point violates says more than a core. */
    struct programme *g = &m->programme;
    for (int32_t j = 0; j < g->columns; j++) g->fraction[j] = point[j];
    if (master_separate(m, g->fraction) > 0) return POINT_CUT;
    for (int32_t pool = 0; pool < m->b->pool_count; pool++) {
        for (int32_t k = 0; k < m->b->soft_count; k++) m->soft_apart[k] = !point[m->first_soft + k];
        int32_t *members = m->members;
        int32_t count = 0;
        for (int32_t i = 0; i < m->b->count; i++)
            if (m->now.pool[i] == pool) members[count++] = i;
        enum fit_result result = master_ask(m, pool, m->members, count, m->pack_nodes, m->now.address);
        if (result == FIT_NO) cut_off(m, pool, count);
        if (result != FIT_YES) {
            /* The first time, the second, the fourth, ... */
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
