/* Orders for gap_fit, and the best of what they and the heuristics lead to. */
#include "base/checked.h"
#include "base/memory.h"
#include "common/gap_fit.h"
#include "solvers.h"

#include <stdlib.h>
#include <string.h>

static struct rank order_plans_by_size(const struct lx_buffer *b)
{
    return (struct rank){-b->size, 1, b->start};
}

static struct rank order_plans_by_life(const struct lx_buffer *b)
{
    return (struct rank){b->start - b->end, 1, -b->size};
}

static struct rank order_plans_by_cost(const struct lx_buffer *b)
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

static struct rank order_plans_by_start(const struct lx_buffer *b)
{
    return (struct rank){b->start, 1, -b->size};
}

static struct rank (*const orders[ORDER_PLANS])(const struct lx_buffer *) = {
    by_density,          by_thrift,           order_plans_by_size,
    order_plans_by_cost, order_plans_by_life, order_plans_by_start};

void order_place(const struct lx_problem *p, int k, const struct lx_run *run, struct lx_answer *answer)
{
    size_t n = (size_t)p->count;
    struct rank *ranks = mem_alloc((n + 1) * sizeof *ranks);
    int32_t *order = mem_alloc((n + 1) * sizeof *order);
    for (size_t i = 0; i < n; i++) ranks[i] = orders[k](&p->buffers[i]);
    rank_order(p, ranks, order);
    gap_fit_place(p, order, p->count, k % 2 == 1, run, answer);
    mem_free(ranks);
    mem_free(order);
}

/* --- The best. --- */

struct contest {
    const struct lx_problem *p;
    struct lx_answer *best;
    int64_t *value;
    bool *have;
};

static void order_plans_enter(const struct contest *c, const struct lx_answer *a)
{
    size_t n = (size_t)c->p->count;
    int64_t value;
    enum lx_rule rule;
    lx_status why;
    if (!lx_check_places(c->p, a->pool, a->address, &value, &rule, &why)) return;
    if (*c->have && value >= *c->value) return;
    memcpy(c->best->address, a->address, n * sizeof *a->address);
    memcpy(c->best->pool, a->pool, n * sizeof *a->pool);
    *c->value = value;
    *c->have = true;
}

static void enter_all(const struct contest *c, const struct lx_run *run, struct lx_answer *trial)
{
    static const struct lx_solver *const solvers[] = {&lx_solver_firstfit, &lx_solver_bestfit,
                                                      &lx_solver_greedy};
    enum { SOLVERS = sizeof solvers / sizeof *solvers };
    struct lx_run quiet = *run;
    quiet.progress = NULL;
    quiet.options = NULL;
    if (run->incumbent) {
        for (int32_t i = 0; i < c->p->count; i++) {
            trial->address[i] = run->incumbent[i];
            trial->pool[i] = run->incumbent_pool ? run->incumbent_pool[i] : 0;
        }
        order_plans_enter(c, trial);
    }
    for (int k = 0; k < SOLVERS + ORDER_PLANS && !(*c->have && lx_run_stopped(run)); k++) {
        struct lx_answer *a = trial;
        *a = (struct lx_answer){.address = a->address, .pool = a->pool, .status = LX_FEASIBLE};
        for (int32_t i = 0; i < c->p->count; i++) a->address[i] = LX_OFF_CHIP, a->pool[i] = 0;
        if (k < SOLVERS)
            solvers[k]->solve(c->p, &quiet, trial);
        else
            order_place(c->p, k - SOLVERS, &quiet, trial);
        c->best->steps += trial->steps;
        order_plans_enter(c, trial);
    }
}

void best_of_orders(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *best,
                    int64_t *value, bool *have)
{
    size_t n = (size_t)p->count + 1;
    struct contest c = {p, best, value, have};
    struct lx_answer trial = {.address = mem_alloc(n * sizeof *trial.address),
                              .pool = mem_alloc(n * sizeof *trial.pool)};
    *have = false;
    enter_all(&c, run, &trial);
    mem_free(trial.address);
    mem_free(trial.pool);
}
