/* Rows of the master programme that need no packing.
 *
 * Options: a placed block is in one of its pools. Linked costs: a clause, with the linked cost's column where
 * it has a price. Cliques: blocks that pairwise share no byte in a pool, so its members must fit into the
 * capacity. A clique may also have soft pairs. Its members then cover at least the sum of their sizes less,
 * for each pair that shares bytes, the smaller size; so
 *     sum size_i (1 - placed_i) + sum over soft pairs of min(size_a, size_b) paid_ab
 *         >= sum of sizes - capacity.
 * Bytes reserved during every member's life reduce the capacity. */
#include "exact/general/master.h"

/* --- Linked costs. --- */

static void row_add_group(struct master *m, const struct lx_group *g, bool on)
{
    for (int32_t k = 0; k < g->count; k++) {
        struct literal l = placed(m, m->b->of[g->at[k]]);
        row_add(m, on ? l : opposite(l), 1);
    }
}

/* Adds a clause: the condition does not hold, or the linked cost is paid. `any`: one literal that completes
 * the condition. */
static void master_rows_add_clause(struct master *m, int32_t linked, const struct literal *any)
{
    const struct lx_linked_cost *c = &m->b->p->bonds.linked_costs[linked];
    row_begin(m, 1);
    row_add_group(m, &c->all_on, false);
    row_add_group(m, &c->all_off, true);
    if (any) row_add(m, opposite(*any), 1);
    if (c->cost != LX_FORBIDDEN) row_add(m, (struct literal){m->first_linked + linked, true}, 1);
    row_end(m);
}

static void master_rows_add_linked(struct master *m, int32_t linked)
{
    const struct lx_linked_cost *c = &m->b->p->bonds.linked_costs[linked];
    if (c->cost == 0 || (c->cost != LX_FORBIDDEN && m->b->p->objective != LX_SPILL)) return;
    if (!c->any_on.count && !c->any_off.count) {
        master_rows_add_clause(m, linked, NULL);
        return;
    }
    for (int32_t k = 0; k < c->any_on.count; k++) {
        struct literal l = placed(m, m->b->of[c->any_on.at[k]]);
        master_rows_add_clause(m, linked, &l);
    }
    for (int32_t k = 0; k < c->any_off.count; k++) {
        struct literal l = opposite(placed(m, m->b->of[c->any_off.at[k]]));
        master_rows_add_clause(m, linked, &l);
    }
}

/* --- Cliques. --- */

/* The bytes of the pool reserved whenever any member is alive. */
static int64_t reserved_for_all(const struct master *m, int32_t pool, const int32_t *members, int32_t count)
{
    SCOPED(arena_free) struct arena memory = {0};
    const struct room *room = &m->b->rooms[pool];
    size_t n = (size_t)room->reserved_count + 1;
    if (!room->reserved_count || !count) return 0;
    struct byte_range *common = arena_array(&memory, n, sizeof *common),
                      *own = arena_array(&memory, n, sizeof *own),
                      *both = arena_array(&memory, 2 * n, sizeof *both);
    int64_t bytes = 0;
    int32_t kept = blocks_reserved(m->b, members[0], pool, common);
    for (int32_t k = 1; k < count && kept; k++) {
        int32_t mine = blocks_reserved(m->b, members[k], pool, own), found = 0;
        for (int32_t a = 0; a < kept; a++)
            for (int32_t b = 0; b < mine; b++) {
                struct byte_range s = {max_i64(common[a].from, own[b].from),
                                       min_i64(common[a].to, own[b].to)};
                if (s.from < s.to && found < (int32_t)n - 1) both[found++] = s;
            }
        kept = found;
        memcpy(common, both, (size_t)kept * sizeof *both);
    }
    for (int32_t k = 0; k < kept; k++) bytes += common[k].to - common[k].from;
    return bytes;
}

/* The soft pair of two blocks, or -1. */
static int32_t soft_of(const struct master *m, int32_t i, int32_t k)
{
    const struct blocks *b = m->b;
    const struct soft_pair *s = b->softs;
    int32_t at;
    if (m->soft_at) return m->soft_at[(size_t)i * (size_t)b->count + (size_t)k] - 1;
    if (i > k) return soft_of(m, k, i);
    BISECT(at, 0, b->soft_count, s[at].a < i || (s[at].a == i && s[at].b < k));
    return at < b->soft_count && s[at].a == i && s[at].b == k ? at : -1;
}

enum { MOST_SQUARE = 1500 };

/* By how much the point violates the clique's row; <= 0: satisfied. With `add` the row is added. */
static double clique_row(struct master *m, int32_t pool, const int32_t *members, int32_t count,
                         const double *point, bool add)
{
    const struct blocks *b = m->b;
    int64_t need = reserved_for_all(m, pool, members, count) - b->rooms[pool].capacity;
    double lack = (double)need;
    for (int32_t k = 0; k < count; k++) need += b->at[members[k]].size;
    if (add) row_begin(m, need);
    for (int32_t k = 0; k < count; k++) {
        struct literal in = master_in_pool(m, members[k], pool);
        if (add) row_add(m, opposite(in), b->at[members[k]].size);
        if (point) lack += (double)b->at[members[k]].size * literal_value(in, point);
        for (int32_t q = 0; b->soft_count && q < k; q++) {
            int32_t at = soft_of(m, members[k], members[q]);
            if (at < 0) continue;
            int64_t both = min_i64(b->at[members[k]].size, b->at[members[q]].size);
            struct literal paid = {m->first_soft + at, true};
            if (add) row_add(m, paid, both);
            if (point) lack -= (double)both * literal_value(paid, point);
        }
    }
    if (add && need > 0) row_end(m);
    return lack;
}

struct sized {
    int64_t size;
    int32_t block;
};

ORDER(compare_sizes, struct sized, ORDER_DOWN(size) ORDER_UP(block));

/* If cancelled it adds fewer rows, which weakens the bound. */
static void add_pool_sections(struct master *m, int32_t pool, const int64_t *ticks, int32_t tick_count,
                              struct sized *by_size, int32_t *members)
{
    const struct blocks *b = m->b;
    int32_t count = 0;
    for (int32_t i = 0; i < b->count; i++) {
        struct literal in = master_in_pool(m, i, pool);
        if (b->at[i].size && (in.column >= 0 || in.positive))
            by_size[count++] = (struct sized){b->at[i].size, i};
    }
    qsort(by_size, (size_t)count, sizeof *by_size, compare_sizes);
    SCOPED(cliques_free) struct cliques seen = {0};
    for (int32_t t = 0; t < tick_count && !budget_stopped(m->programme.budget); t++) {
        /* The section of a tick: the blocks alive then, largest first unless all exclude each other, plus
         * others that exclude all of these. */
        struct lx_life tick = {ticks[t], ticks[t] + 1};
        int32_t n = 0, before = seen.count;
        for (int alive = 1; alive >= 0; alive--)
            for (int32_t j = 0; j < count; j++) {
                const struct block *k = &b->at[by_size[j].block];
                bool fits = lives_meet(b->lives + k->first_life, k->life_count, &tick, 1) == alive;
                for (int32_t q = 0; q < n && fits; q++)
                    fits = pair_of(b, by_size[j].block, members[q]) == PAIR_HARD;
                if (fits) members[n++] = by_size[j].block;
            }
        cliques_add(&seen, members, n);
        if (seen.count > before) clique_row(m, pool, members, n, NULL, true);
    }
}

static void master_rows_add_sections(struct master *m)
{
    SCOPED(arena_free) struct arena memory = {0};
    const struct blocks *b = m->b;
    size_t n = (size_t)b->count + 1, lives = 1;
    for (int32_t i = 0; i < b->count; i++) lives += (size_t)b->at[i].life_count;
    struct sized *by_size = arena_array(&memory, n, sizeof *by_size);
    int32_t *members = arena_array(&memory, n, sizeof *members);
    int64_t *ticks = arena_array(&memory, lives, sizeof *ticks);
    /* The distinct ticks at which lives begin. */
    int32_t starts = 0, tick_count = 0;
    for (int32_t i = 0; i < b->count; i++)
        for (int32_t k = 0; k < b->at[i].life_count; k++)
            ticks[starts++] = b->lives[b->at[i].first_life + k].start;
    qsort(ticks, (size_t)starts, sizeof *ticks, order_i64);
    for (int32_t k = 0; k < starts; k++)
        if (tick_count == 0 || ticks[tick_count - 1] != ticks[k]) ticks[tick_count++] = ticks[k];
    for (int32_t pool = 0; pool < b->pool_count; pool++)
        add_pool_sections(m, pool, ticks, tick_count, by_size, members);
}

void master_first_rows(struct master *m)
{
    for (int32_t i = 0; i < m->b->count; i++) {
        const struct block *k = &m->b->at[i];
        if (k->option_count < 2) continue;
        row_begin(m, 0);
        row_add(m, placed(m, i), -1);
        for (int32_t o = 0; o < k->option_count; o++) row_add(m, m->in_pool[k->first_option + o], 1);
        row_end(m);
    }
    for (int32_t k = 0; k < m->b->p->bonds.linked_cost_count; k++) master_rows_add_linked(m, k);
    /* A matrix of soft pair numbers plus one, unless too large. */
    size_t n = (size_t)m->b->count;
    if (m->b->soft_count && n <= MOST_SQUARE) {
        m->soft_at = arena_array(&m->memory, n * n + 1, sizeof *m->soft_at);
        for (int32_t k = 0; k < m->b->soft_count; k++) {
            size_t i = (size_t)m->b->softs[k].a, q = (size_t)m->b->softs[k].b;
            m->soft_at[i * n + q] = m->soft_at[q * n + i] = k + 1;
        }
    }
    const struct blocks *b = m->b;
    for (int32_t pool = 0; pool < b->pool_count; pool++) {
        struct clique_graph *g = &m->graphs[pool];
        clique_graph_open(g, b->count);
        for (int32_t i = 0; i < b->count; i++)
            for (int32_t k = i + 1; k < b->count; k++)
                if (pair_of(b, i, k) == PAIR_HARD) clique_graph_join(g, i, k);
        for (int32_t k = 0; k < b->soft_count; k++) clique_graph_join(g, b->softs[k].a, b->softs[k].b);
    }
    master_rows_add_sections(m);
}

/* --- Separation. --- */

enum { SEPARATION_STEPS = 300, MOST_ROWS_PER_ROUND = 40 };

/* A member's share in the clique's violation. */
static double master_rows_adds(const struct master *m, int32_t pool, const int32_t *members, int32_t count,
                               int32_t k, const double *point)
{
    const struct blocks *b = m->b;
    double sum = (double)b->at[members[k]].size * literal_value(master_in_pool(m, members[k], pool), point);
    for (int32_t q = 0; q < count; q++) {
        int32_t at = q == k ? -1 : soft_of(m, members[k], members[q]);
        if (at >= 0)
            sum -=
                (double)min_i64(b->at[members[k]].size, b->at[members[q]].size) * point[m->first_soft + at];
    }
    return sum;
}

int32_t master_separate(void *context, const double *point)
{
    struct master *m = context;
    const struct blocks *b = m->b;
    struct cliques seen = {0};
    int32_t added = 0;
    for (int32_t pool = 0; pool < b->pool_count; pool++) {
        struct clique_graph *g = &m->graphs[pool];
        double capacity = (double)b->rooms[pool].capacity;
        for (int32_t i = 0; i < b->count; i++) {
            double in = literal_value(master_in_pool(m, i, pool), point);
            g->weight[i] = in < 1e-6 ? 0 : (int64_t)((double)b->at[i].size * in);
        }
        cliques_free(&seen);
        for (int32_t i = 0; i < b->count && added < MOST_ROWS_PER_ROUND; i++) {
            if (!g->weight[i] || budget_spent(m->programme.budget)) continue;
            int32_t n = clique_through(g, i, SEPARATION_STEPS, m->members), before = seen.count;
            m->programme.budget->steps += 2 + b->count / 8;
            if (b->soft_count) {
                /* Drops members whose soft pairs exceed their own weight, the worst first. */
                for (int32_t worst = 0; n > 2 && worst >= 0;) {
                    double least = 0;
                    worst = -1;
                    for (int32_t k = 0; k < n; k++) {
                        double sum = master_rows_adds(m, pool, m->members, n, k, point);
                        if (sum < least) least = sum, worst = k;
                    }
                    if (worst >= 0) m->members[worst] = m->members[--n];
                }
            }
            cliques_add(&seen, m->members, n);
            if (seen.count == before) continue;
            if (clique_row(m, pool, m->members, n, point, false) <= 1e-6 * capacity) continue;
            clique_row(m, pool, m->members, n, point, true);
            added++;
        }
    }
    cliques_free(&seen);
    return added;
}
