/* Auto: what most people want. Heuristics first; if one of them meets the bound, that is the answer, in
 * microseconds. Otherwise annealing improves the best of them, and exact search closes the gap or proves
 * as much of it as its budget allows. The best legal answer of all is returned, with the best bound.
 *
 * How much each part may work is a row of the table of levels; the budgets are counted in steps, so that a
 * level means the same on every machine. */
#include "common/gap_fit.h"
#include "base/checked.h"
#include "base/log.h"
#include "solvers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVEL, OPTION_COUNT };
enum { ANNEAL_MOST = 128 };

static const struct lx_option auto_options[OPTION_COUNT] = {
    [LEVEL] = {"level", 5, 0, 9, "effort: 0 heuristics only, 9 all that can be tried"},
};

static const struct effort {
    int orders;           /* of the table below, after the three heuristics */
    int64_t anneal_steps; /* 0: none; only where annealing is good at it, see climb */
    int64_t exact_steps;  /* 0: none */
} levels[] = {
    {0, 0, 0},
    {6, 0, 0},
    {6, 2000, 0},
    {6, 2000, 20000},
    {6, 5000, 200000},
    {6, 5000, 2000000},
    {6, 20000, 5000000},
    {6, 50000, 20000000},
    {6, 200000, 100000000},
    {6, 1000000, 1000000000},
};

/* What the orders put first; gap_fit places in that order. */
static struct rank by_size(const struct lx_buffer *b)
{
    return (struct rank){-b->size, 1, b->start};
}

static struct rank by_life(const struct lx_buffer *b)
{
    return (struct rank){b->start - b->end, 1, -b->size};
}

static struct rank by_cost(const struct lx_buffer *b)
{
    return (struct rank){-b->spill_cost, 1, b->size};
}

/* Cost saved for each byte taken. */
static struct rank by_density(const struct lx_buffer *b)
{
    return (struct rank){-b->spill_cost, max_i64(b->size, 1), b->start - b->end};
}

/* Cost saved for each byte and tick taken; lives and sizes are cut so that the product fits. */
static struct rank by_thrift(const struct lx_buffer *b)
{
    int64_t area;
    if (!mul_i64(max_i64(b->size, 1), b->end - b->start, &area)) area = INT64_MAX;
    return (struct rank){-b->spill_cost, area, -b->size};
}

static struct rank by_start(const struct lx_buffer *b)
{
    return (struct rank){b->start, 1, -b->size};
}

static struct rank (*const orders[])(const struct lx_buffer *) = {by_density, by_thrift, by_size,
                                                                  by_cost,    by_life,   by_start};

struct best {
    const struct lx_problem *p;
    const struct lx_run *run;
    struct lx_answer *answer; /* the best so far, in the caller's array */
    int64_t *trial;           /* addresses of the next candidate */
    int64_t objective, bound;
    bool have;
};

static bool proved(const struct best *b)
{
    return b->have && b->objective <= b->bound;
}

/* Takes the trial over if it is legal and better. */
static void consider(struct best *b)
{
    int64_t objective;
    lx_status why;
    if (!lx_check(b->p, b->trial, &objective, &why) || (b->have && objective >= b->objective)) return;
    memcpy(b->answer->address, b->trial, (size_t)b->p->count * sizeof *b->trial);
    LOG(auto, "better: %" PRId64 ", bound %" PRId64, objective, b->bound);
    b->objective = objective;
    b->have = true;
}

static bool try_solver(struct best *b, const struct lx_solver *solver, int64_t steps)
{
    struct lx_run run = *b->run;
    struct lx_answer trial = {.address = b->trial, .status = LX_FEASIBLE};
    run.options = NULL;
    run.work_limit = steps;
    run.known_bound = b->bound;
    run.incumbent = b->have ? b->answer->address : NULL;
    for (int32_t i = 0; i < b->p->count; i++) b->trial[i] = LX_OFF_CHIP;
    LOG(auto, "try %s, work limit %" PRId64, solver->name, steps);
    bool ok = solver->solve(b->p, &run, &trial);
    b->answer->steps += trial.steps;
    if (!ok) return false;
    if (solver->caps & LX_CAN_PROVE) b->bound = max_i64(b->bound, trial.bound);
    consider(b);
    if (trial.status == LX_INFEASIBLE && (solver->caps & LX_CAN_PROVE)) b->answer->status = LX_INFEASIBLE;
    return true;
}

static bool try_order(struct best *b, struct rank (*rank)(const struct lx_buffer *), bool tightest)
{
    size_t n = (size_t)b->p->count;
    struct rank *ranks = malloc((n + 1) * sizeof *ranks);
    int32_t *order = malloc((n + 1) * sizeof *order);
    struct lx_answer trial = {.address = b->trial};
    bool ok = ranks && order;
    for (size_t i = 0; ok && i < n; i++) ranks[i] = rank(&b->p->buffers[i]);
    for (size_t i = 0; i < n; i++) b->trial[i] = LX_OFF_CHIP;
    ok = ok && rank_order(b->p, ranks, order) &&
         gap_fit_place(b->p, order, b->p->count, tightest, b->run, &trial);
    b->answer->steps += trial.steps;
    free(ranks);
    free(order);
    if (ok) consider(b);
    return ok;
}

static bool climb(struct best *b, const struct effort *e)
{
    static const struct lx_solver *const quick[] = {&lx_solver_greedy, &lx_solver_firstfit,
                                                    &lx_solver_bestfit};
    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++) {
        if (!try_solver(b, quick[i], 0)) return false;
        if (proved(b)) return true;
    }
    for (int i = 0; i < e->orders && !lx_run_stopped(b->run); i++) {
        LOG(auto, "try order %d", i);
        if (!try_order(b, orders[i], i % 2 == 1)) return false;
        if (proved(b)) return true;
    }
    /* Annealing shines at choosing what to keep of a few dozen buffers. It seldom packs tightly, and on large
     * problems exact search and its neighbourhoods improve faster. */
    bool anneal = b->p->objective == LX_SPILL && b->p->count <= ANNEAL_MOST && e->anneal_steps;
    if (anneal && !lx_run_stopped(b->run) && !try_solver(b, &lx_solver_anneal, e->anneal_steps)) return false;
    if (proved(b) || !e->exact_steps || lx_run_stopped(b->run)) return true;
    int64_t limit = b->run->work_limit ? b->run->work_limit : e->exact_steps;
    return try_solver(b, &lx_solver_exact, limit);
}

static bool auto_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    struct best b = {.p = p, .run = run, .answer = answer, .bound = run->known_bound};
    b.trial = malloc(((size_t)p->count + 1) * sizeof *b.trial);
    if (!b.trial) return false;
    answer->status = LX_FEASIBLE;
    bool ok = climb(&b, &levels[lx_run_option(&lx_solver_auto, run, LEVEL)]);
    answer->bound = b.bound;
    if (!b.have && answer->status != LX_INFEASIBLE) answer->status = LX_LIMIT;
    free(b.trial);
    return ok;
}

const struct lx_solver lx_solver_auto = {
    .abi = LX_SOLVER_ABI,
    .name = "auto",
    .summary = "heuristics, then annealing, then exact search, until the bound is met",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | LX_CAN_PROVE | LX_IS_SEEDED,
    .options = auto_options,
    .option_count = OPTION_COUNT,
    .solve = auto_solve,
};
