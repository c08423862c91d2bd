/* The way of a general problem: blocks, then heights of pools, or the master programme. */
#include "exact/general/general.h"
#include "exact/general/master.h"
#include "exact/general/pool_heights.h"
#include "exact/search.h"

#include <stdio.h>

static void give_answer(const struct blocks *b, const struct layout *best, struct lx_answer *answer)
{
    for (int32_t i = 0; i < b->p->count; i++) {
        int32_t block = b->of[i];
        answer->address[i] = best->known && best->pool[block] >= 0 ? best->address[block] : LX_OFF_CHIP;
        if (answer->pool) answer->pool[i] = best->known && best->pool[block] >= 0 ? best->pool[block] : 0;
    }
}

static void report(const struct master *m, struct lx_answer *answer)
{
    struct search_stats stats = {.nodes = m->programme.nodes,
                                 .pivots = m->programme.lp ? lp_pivots(m->programme.lp) : 0,
                                 .fit_calls = m->asked,
                                 .fit_nodes = m->spent,
                                 .cuts = m->programme.cuts};
    exact_report(&stats, EXACT_STAT_COUNT - 1, answer);
}

/* Cost and fit: both are questions to the master programme. */
static bool solve_choice(const struct blocks *b, struct budget *budget, const struct general_options *options,
                         uint64_t seed, struct layout *best, struct lx_answer *answer)
{
    struct master m;
    bool ok = master_open(&m, b, budget, best);
    m.pack_nodes = options->pack_nodes;
    m.core_nodes = options->core_nodes;
    m.seed = seed;
    ok = ok && master_solve(&m);
    if (ok) {
        bool closed = m.programme.proved >= m.programme.best;
        bool none = !best->known && m.programme.proved > m.programme.total_cost;
        answer->status = none ? LX_INFEASIBLE : best->known ? LX_FEASIBLE : LX_LIMIT;
        if (!none && !m.any) answer->bound = m.constant + min_i64(m.programme.proved, m.programme.total_cost);
        if (m.any && best->known) answer->bound = best->cost;
        if (best->known && !closed && !m.any) answer->status = LX_LIMIT;
        report(&m, answer);
    }
    master_close(&m);
    return ok;
}

bool general_solve(const struct lx_problem *p, const struct lx_run *run,
                   const struct general_options *options, struct lx_answer *answer)
{
    struct blocks b;
    struct layout best = {0};
    struct budget budget = budget_new(run, options->step_limit);
    bool ok = blocks_open(&b, p) && layout_open(&best, b.count);
    if (ok && b.too_many) {
        answer->status = LX_LIMIT;
        snprintf(answer->message, sizeof answer->message,
                 "more than %d blocks are too many for the general engine; `greedy` takes them", MOST_BLOCKS);
    } else if (ok && b.contradiction)
        answer->status = LX_INFEASIBLE;
    else if (ok) {
        ok = p->objective == LX_HEIGHT ? solve_heights(&b, &budget, run->seed, &best, answer)
                                       : solve_choice(&b, &budget, options, run->seed, &best, answer);
        if (best.known) give_answer(&b, &best, answer);
        answer->steps = budget.steps;
    }
    layout_close(&best);
    blocks_close(&b);
    return ok;
}
