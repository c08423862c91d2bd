/* The solver `exact`. */
#include "exact/exact.h"
#include "exact/spill.h"
#include "exact/whole.h"

enum { OPTION_FIT_NODES, OPTION_CORE_NODES, OPTION_IMPROVE, OPTION_THREADS, OPTION_COUNT };

static const struct lx_option exact_options[OPTION_COUNT] = {
    [OPTION_FIT_NODES] = {"fit_nodes", 200000, 1, INT64_MAX / 4,
                          "search nodes to decide whether one choice packs"},
    [OPTION_CORE_NODES] = {"core_nodes", 5000, 1, INT64_MAX / 4,
                           "search nodes for each step of shrinking a core"},
    [OPTION_IMPROVE] = {"improve", 1, 0, 1, "large-neighbourhood search where the proof does not come"},
    [OPTION_THREADS] = {"threads", 1, 1, 2, "threads of the fit question; the answer is the same"},
};

static bool exact_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer);

const struct lx_solver lx_solver_exact = {
    .abi = LX_SOLVER_ABI,
    .name = "exact",
    .summary = "branch and bound with proof, for all three questions",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | LX_CAN_PROVE | LX_IS_SEEDED,
    .options = exact_options,
    .option_count = OPTION_COUNT,
    .solve = exact_solve,
};

static bool exact_solve(const struct lx_problem *p, const struct lx_run *run, struct lx_answer *answer)
{
    if (p->objective != LX_SPILL) {
        struct whole_options whole = {
            .step_limit = run->work_limit > 0 ? run->work_limit : 40000000,
            .core_nodes = lx_run_option(&lx_solver_exact, run, OPTION_CORE_NODES),
            .threads = (int)lx_run_option(&lx_solver_exact, run, OPTION_THREADS),
        };
        return p->objective == LX_FIT ? whole_fit(p, run, &whole, answer)
                                      : whole_height(p, run, &whole, answer);
    }
    struct spill_options options = {
        .step_limit = run->work_limit > 0 ? run->work_limit : 4000000,
        .fit_nodes = lx_run_option(&lx_solver_exact, run, OPTION_FIT_NODES),
        .core_nodes = lx_run_option(&lx_solver_exact, run, OPTION_CORE_NODES),
        .improve = lx_run_option(&lx_solver_exact, run, OPTION_IMPROVE) != 0,
    };
    return spill_solve(p, run, &options, answer);
}
