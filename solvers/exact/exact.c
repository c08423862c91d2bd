/* The solver `exact`. */
#include "exact/exact.h"
#include "common/items.h"

enum { OPTION_FIT_NODES, OPTION_CORE_NODES, OPTION_IMPROVE, OPTION_COUNT };

/* Before choosing what to spill, this much is spent on the question whether anything must be. */
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

/* No spill is forced beyond what may not be placed at all: perhaps the rest fits as it is. */
static bool may_all_fit(const struct lx_problem *p, int64_t bound)
{
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!b->reason && b->size > p->capacity) return false;
        if (b->reason) bound -= b->spill_cost;
    }
    return bound <= 0;
}

/* What the other engine may take. Beyond some hundred buffers that belong together its proofs are out of
 * reach, and it is given less. */
static int64_t general_steps(const struct lx_problem *p)
{
    enum { MOST = 20000000, PROVABLE = 400 };
    int64_t together = largest_part(p);
    return together <= PROVABLE ? MOST : (int64_t)MOST * PROVABLE / together;
}

static void solve_general(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    struct general_options options = {
        .step_limit = run->work_limit > 0 ? run->work_limit : general_steps(p),
        .pack_nodes = lx_run_option(&lx_solver_exact, run, OPTION_FIT_NODES),
        .core_nodes = lx_run_option(&lx_solver_exact, run, OPTION_CORE_NODES),
    };
    general_solve(p, run, &options, answer);
}

/* Perhaps: something is pinned, and nothing was found. */
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
    /* Than the engines for one pool and one life have. Where a pool is named its capacity holds for the
 * height, too. */
    unsigned known = LX_CAN_CHARGES | LX_CAN_MUST | LX_CAN_TOGETHER;
    if (lx_problem_needs(p) & ~known ||
        (p->objective == LX_HEIGHT && p->pool_count > 0 && p->pools[0].capacity != LX_NO_LIMIT)) {
        solve_general(p, run, answer);
        return true;
    }
    struct whole_options whole = {
        .step_limit = run->work_limit > 0 ? run->work_limit : 1000000,
        .core_nodes = lx_run_option(&lx_solver_exact, run, OPTION_CORE_NODES),
    };
    if (p->objective != LX_SPILL && placing_all_is_wrong(p)) {
        answer->status = LX_INFEASIBLE;
        return true;
    }
    if (p->objective == LX_FIT) {
        whole_fit(p, run, &whole, answer);
        return true;
    }
    if (p->objective == LX_HEIGHT) {
        whole_height(p, run, &whole, answer);
        /* Pins that collide: the other engine proves it. */
        if (!(lx_run_stopped(run) || !pins_collide(p, answer))) solve_general(p, run, answer);
        return true;
    }
    /* Prices that are no sum of what is off chip: then the best answer need not place all it can. */
    if (!(lx_problem_needs(p) & (LX_CAN_CHARGES | LX_CAN_MUST | LX_CAN_TOGETHER)) &&
        may_all_fit(p, run->known_bound)) {
        if (whole.step_limit > FIRST_FIT_STEPS) whole.step_limit = FIRST_FIT_STEPS;
        whole_fit(p, run, &whole, answer);
        if (!lx_left_out(p, answer->address)) {
            answer->status = LX_FEASIBLE; /* optimal by the bound, which is not ours to claim */
            return true;
        }
        for (int32_t i = 0; i < p->count; i++) answer->address[i] = LX_OFF_CHIP;
        answer->stat_count = 0;
    }
    struct spill_options options = {
        .step_limit = run->work_limit > 0 ? run->work_limit : 2000000,
        .fit_nodes = lx_run_option(&lx_solver_exact, run, OPTION_FIT_NODES),
        .core_nodes = lx_run_option(&lx_solver_exact, run, OPTION_CORE_NODES),
        .improve = lx_run_option(&lx_solver_exact, run, OPTION_IMPROVE) != 0,
    };
    spill_solve(p, run, &options, answer);
    return true;
}
