/* The solver `exact`. */
#include "exact/exact.h"
#include "common/items.h"

enum { OPTION_FIT_NODES, OPTION_CORE_NODES, OPTION_IMPROVE, OPTION_COUNT };

/* Steps spent on the question whether all buffers fit, before choosing which to spill. */
enum { FIRST_FIT_STEPS = 200000 };

static const struct lx_option exact_options[OPTION_COUNT] = {
    [OPTION_FIT_NODES] = {"fit_nodes", 200000, 1, INT64_MAX / 4,
                          "search nodes to decide whether one choice packs"},
    [OPTION_CORE_NODES] = {"core_nodes", 5000, 1, INT64_MAX / 4,
                           "search nodes for each step of shrinking a core"},
    [OPTION_IMPROVE] = {"improve", 1, 0, 1, "large-neighbourhood search where the proof does not come"},
};

static const struct lx_stat_row exact_stats[EXACT_STAT_COUNT] = {
#define EXACT_ROW(field, name, unit, help) [EXACT_##field] = {name, unit, help},
    EXACT_STATS(EXACT_ROW)
#undef EXACT_ROW
};

void exact_report(const struct search_stats *stats, int rows, struct lx_answer *answer)
{
    const int64_t values[EXACT_STAT_COUNT] = {
#define EXACT_VALUE(field, name, unit, help) [EXACT_##field] = stats->field,
        EXACT_STATS(EXACT_VALUE)
#undef EXACT_VALUE
    };
    for (int row = 0; row < rows; row++) lx_answer_count(answer, &lx_solver_exact, row, values[row]);
}

static bool exact_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer);

const struct lx_solver lx_solver_exact = {
    .abi = LX_SOLVER_ABI,
    .name = "exact",
    .summary = "branch and bound with proof, for all three questions",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | LX_CAN_PROVE | LX_IS_SEEDED | LX_CAN_ALL,
    .options = exact_options,
    .option_count = OPTION_COUNT,
    .stats = exact_stats,
    .stat_count = EXACT_STAT_COUNT,
    .solve = exact_solve,
};

/* Does the bound allow that all placeable buffers fit? */
static bool may_all_fit(const struct lx_problem *p, int64_t bound)
{
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!b->reason && b->size > p->capacity) return false;
        if (b->reason) bound -= b->spill_cost;
    }
    return bound <= 0;
}

static void solve_general(const struct lx_problem *p, const struct lx_run *run, struct exact_options options,
                          struct lx_answer *answer)
{
    /* Proofs for parts of more than some hundred buffers are out of reach: fewer steps. */
    enum { MOST = 20000000, PROVABLE = 400 };
    int64_t together = largest_part(p);
    options.step_limit = together <= PROVABLE ? MOST : (int64_t)MOST * PROVABLE / together;
    if (run->work_limit > 0) options.step_limit = run->work_limit;
    general_solve(p, run, &options, answer);
}

/* True: items are off chip and some are pinned, so the pins may collide. Clears the answer then. */
static bool pins_collide(const struct lx_problem *p, struct lx_answer *answer)
{
    bool pinned = false;
    for (int32_t i = 0; i < p->count; i++) pinned |= p->buffers[i].fixed >= 0;
    if (!pinned || !lx_left_out(p, answer->address)) return false;
    for (int32_t i = 0; i < p->count; i++) answer->address[i] = LX_OFF_CHIP;
    answer->stat_count = 0;
    answer->message[0] = 0;
    return true;
}

static bool exact_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    const unsigned links = LX_CAN_LINKED_COSTS | LX_CAN_MUST | LX_CAN_TOGETHER, needs = lx_problem_needs(p);
    struct exact_options options = {
        .step_limit = run->work_limit > 0 ? run->work_limit : 1000000,
        .fit_nodes = lx_run_option(&lx_solver_exact, run, OPTION_FIT_NODES),
        .core_nodes = lx_run_option(&lx_solver_exact, run, OPTION_CORE_NODES),
        .improve = lx_run_option(&lx_solver_exact, run, OPTION_IMPROVE) != 0,
    };
    /* The capacity of a named pool holds for the height, too. */
    bool capped = p->objective == LX_HEIGHT && p->pool_count > 0 && p->pools[0].capacity != LX_NO_LIMIT;
    if ((needs & ~links) || capped) {
        solve_general(p, run, options, answer);
        return true;
    }
    if (p->objective != LX_SPILL && placing_all_is_wrong(p)) {
        answer->status = LX_INFEASIBLE;
        return true;
    }
    if (p->objective == LX_FIT) {
        whole_fit(p, run, &options, answer);
        return true;
    }
    if (p->objective == LX_HEIGHT) {
        whole_height(p, run, &options, answer);
        if (!lx_run_stopped(run) && pins_collide(p, answer)) solve_general(p, run, options, answer);
        return true;
    }
    /* With links the best answer need not place all buffers. */
    if (!(needs & links) && may_all_fit(p, run->known_bound)) {
        if (options.step_limit > FIRST_FIT_STEPS) options.step_limit = FIRST_FIT_STEPS;
        whole_fit(p, run, &options, answer);
        if (!lx_left_out(p, answer->address)) {
            answer->status = LX_FEASIBLE; /* optimal by the caller's bound, not by a proof here */
            return true;
        }
        for (int32_t i = 0; i < p->count; i++) answer->address[i] = LX_OFF_CHIP;
        answer->stat_count = 0;
    }
    options.step_limit = run->work_limit > 0 ? run->work_limit : 2000000;
    spill_solve(p, run, &options, answer);
    return true;
}
