/* Solves a general problem: makes blocks, then finds heights of pools or solves the master programme. */
#include "exact/exact.h"
#include "exact/general/master.h"
#include "exact/general/pile.h"
#include "common/gap_fit.h"

/* Steps of the master programme before local search, for problems with reuse. */
enum { FIRST_STEPS = 100000 };

struct choice {
    const struct blocks *b;
    struct budget *budget;
    const struct exact_options *options;
    uint64_t seed;
    struct layout *best;
    struct search_stats stats;
    int64_t bound;
    bool none, closed;
};

/* Runs the master programme for `steps` steps. */
static void ask_master(struct choice *c, int64_t steps)
{
    struct master m;
    struct budget part = *c->budget;
    part.limit = min_i64(part.limit, part.steps + steps);
    master_open(&m, c->b, &part, c->best);
    m.pack_nodes = c->options->fit_nodes;
    m.core_nodes = c->options->core_nodes;
    m.seed = c->seed;
    if (!m.any) m.programme.floor = max_i64(c->bound - m.constant, 0);
    master_solve(&m);
    c->closed = m.any ? c->best->known : m.programme.proved >= m.programme.best;
    c->none = !c->best->known && m.programme.proved > m.programme.total_cost;
    if (m.any)
        c->bound = c->best->known ? c->best->cost : 0;
    else if (!c->none)
        c->bound = max_i64(c->bound, m.constant + min_i64(m.programme.proved, m.programme.total_cost));
    c->stats.nodes += m.programme.nodes;
    c->stats.pivots += m.pivots + (m.programme.lp ? m.programme.lp->effort : 0);
    c->stats.fit_calls += m.asked;
    c->stats.fit_nodes += m.spent;
    c->stats.cuts += m.programme.cuts;
    c->budget->steps = part.steps;
    master_close(&m);
}

/* If all variables are fixed: puts every placed block into its first pool, if that packs. */
static void place_at_first(struct choice *c)
{
    const struct blocks *b = c->b;
    struct layout *l = c->best;
    int32_t *members = mem_alloc(((size_t)b->count + 1) * sizeof *members);
    bool ok = true;
    for (int32_t v = 0; v < b->variable_count; v++) ok &= b->fixed[v] >= 0;
    for (int32_t i = 0; ok && i < b->count; i++) {
        bool on = (b->fixed[b->at[i].variable] == 1) == b->at[i].on_if;
        l->pool[i] = on ? b->options[b->at[i].first_option].pool : -1;
    }
    for (int32_t pool = 0; ok && pool < b->pool_count; pool++) {
        struct pool_question q = {
            .b = b, .pool = pool, .capacity = b->rooms[pool].capacity, .members = members};
        q.count = layout_members(l, b->count, pool, members);
        int64_t nodes = budget_nodes(c->budget, c->options->core_nodes, q.count);
        q.limits = (struct fit_limits){
            .nodes = nodes, .seed = c->seed, .stop = budget_stopped, .context = c->budget};
        ok = pack_into_pool(&q, l->address) == FIT_YES;
        budget_spend_nodes(c->budget, q.nodes, q.count);
    }
    for (int32_t k = 0; ok && k < b->p->bonds.linked_cost_count; k++)
        ok = b->p->bonds.linked_costs[k].cost != LX_FORBIDDEN || !layout_triggers(b, l, k);
    l->known = ok;
    if (ok) l->cost = layout_cost(b, l);
    mem_free(members);
}

/* The best legal answer of the heuristics and the caller. */
static void heuristic_layout(const struct blocks *b, const struct lx_run *run, struct layout *found)
{
    size_t n = (size_t)b->p->count + 1;
    struct lx_answer a = {.address = mem_alloc(n * sizeof *a.address), .pool = mem_alloc(n * sizeof *a.pool)};
    int64_t value;
    layout_open(found, b->count);
    best_of_orders(b->p, run, &a, &value, &found->known);
    for (int32_t i = 0; found->known && i < b->p->count; i++) {
        found->pool[b->of[i]] = a.address[i] < 0 ? -1 : a.pool[i];
        found->address[b->of[i]] = a.address[i];
    }
    if (found->known) found->cost = b->p->objective == LX_HEIGHT ? value : layout_cost(b, found);
    mem_free(a.address);
    mem_free(a.pool);
}

/* Cost and fit: solves the master programme. With reuse, local search runs if it is not settled soon. */
static void solve_choice(struct choice *c, struct lx_answer *answer)
{
    bool soft = c->b->soft_count > 0;
    int64_t limit = c->budget->limit;
    if (soft) place_at_first(c);
    struct layout found;
    heuristic_layout(c->b, c->budget->run, &found);
    if (found.known && (!c->best->known || found.cost < c->best->cost))
        layout_take(c->b, c->budget, &found, c->best, 0);
    layout_close(&found);
    c->closed = c->b->p->objective == LX_SPILL && c->best->known && c->best->cost <= c->bound;
    if (!c->closed) ask_master(c, soft ? min_i64(FIRST_STEPS, limit) : limit);
    if (soft && !c->closed && !c->none) {
        if (c->best->known) reuse_improve(c->b, c->budget, c->seed, limit / 2, c->bound, c->best);
        ask_master(c, limit / 8);
    }
    answer->status = c->none ? LX_INFEASIBLE : c->closed ? LX_FEASIBLE : LX_LIMIT;
    answer->bound = c->none ? 0 : c->bound;
    exact_report(&c->stats, EXACT_STAT_COUNT - 1, answer);
}

/* For more blocks than a matrix can hold. */
static void place_many(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    OWNED int32_t *mine = answer->pool ? NULL : mem_alloc(((size_t)p->count + 1) * sizeof *mine);
    struct lx_answer best = {.address = answer->address, .pool = answer->pool ? answer->pool : mine};
    int64_t value;
    bool have = false;
    best_of_orders(p, run, &best, &value, &have);
    answer->steps = best.steps;
    answer->status = LX_LIMIT;
    snprintf(answer->message, sizeof answer->message,
             "more than %d blocks are placed by the best of some orders, without a proof", MOST_BLOCKS);
}

void general_solve(const struct lx_problem *p, const struct lx_run *run, const struct exact_options *options,
                   struct lx_answer *answer)
{
    struct blocks b;
    struct layout best = {0};
    struct budget budget = budget_new(run, options->step_limit);
    struct choice choice = {.b = &b, .budget = &budget, .options = options, .seed = run->seed, .best = &best};
    if (p->objective == LX_SPILL) choice.bound = max_i64(run->known_bound, 0);
    blocks_open(&b, p);
    layout_open(&best, b.count);
    if (b.too_many)
        place_many(p, run, answer);
    else if (b.contradiction)
        answer->status = LX_INFEASIBLE;
    else {
        if (p->objective == LX_HEIGHT) {
            /* The search reaches a first leaf by itself; if cancelled before, the heuristics' answer
             * stands. */
            struct layout found;
            heuristic_layout(&b, run, &found);
            solve_heights(&b, &budget, run->seed, &best, answer);
            if (!best.known && found.known && answer->status != LX_INFEASIBLE)
                layout_copy(&best, &found, b.count);
            layout_close(&found);
        } else
            solve_choice(&choice, answer);
        for (int32_t i = 0; best.known && i < p->count; i++) {
            int32_t block = b.of[i];
            answer->address[i] = best.pool[block] >= 0 ? best.address[block] : LX_OFF_CHIP;
            if (answer->pool) answer->pool[i] = best.pool[block] >= 0 ? best.pool[block] : 0;
        }
        answer->steps = budget.steps;
    }
    layout_close(&best);
    arena_free(&b.memory);
}
