#include "ilp/ilp_row.h"
#include "solvers.h"

static const struct lx_option options[OPTIONS] = {
    [NODES] = {"nodes", 10000, 1, INT32_MAX, "nodes of each search tree"},
    [EFFORT] = {"effort", 3000000, 1, INT64_C(1) << 50, "simplex iterations times rows, of each search"},
    [MAX_BUFFERS] = {"max-buffers", 400, 1, 100000, "larger problems only get the starting heuristics"},
    [MAX_ROWS] = {"max-rows", 3000, 1, 1000000, "larger models are not tried"},
    [START_STEPS] = {"start-steps", 20000, 1, 1000000000,
                     "annealing steps for the first answer, if none is given"},
    [CUTS] = {"cuts", 0, 0, 1, "GLPK's cuts; its bounds are then not believed"},
    [MEMORY] = {"memory", 1024, 1, 1000000, "megabytes that GLPK may take"},
};

static const struct lx_stat_row stats[STATS] = {
    [STAT_ROWS] = {"rows", "rows", "constraints of the largest model"},
    [STAT_BINARIES] = {"binaries", "variables", "its variables that are 0 or 1"},
    [STAT_NODES] = {"nodes", "nodes", "of GLPK's branch and bound, over all models"},
    [STAT_EFFORT] = {"effort", "iterations x rows", "simplex iterations times rows, over all models"},
};

const struct lx_solver lx_solver_ilp = {
    .abi = LX_SOLVER_ABI,
    .name = "ilp",
    .summary = "integer programming with GLPK: optimal for a few dozen buffers",
    .caps = LX_CAN_SPILL | LX_CAN_FIT | LX_CAN_HEIGHT | LX_CAN_PROVE | LX_CAN_LINKED_COSTS | LX_CAN_MUST |
            LX_CAN_TOGETHER,
    .options = options,
    .option_count = OPTIONS,
    .stats = stats,
    .stat_count = STATS,
    .solve = ILP_SOLVE,
};
