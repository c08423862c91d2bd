/* One run of GLPK on one model, fenced in: silent, limited in work, time and memory, and alive after GLPK's
 * own failures. Its results are floating-point claims; ilp.c checks them. */
#pragma once

#include "common/items.h"

struct ilp_limits {
    const struct lx_run *run;
    double began;   /* by the clock; for run->time_limit */
    int64_t nodes;  /* of the search tree */
    int64_t effort; /* simplex iterations times rows, which a node limit cannot bound */
    int64_t max_rows;
    int memory; /* megabytes */
    bool cuts;
};

enum ilp_outcome {
    ILP_SOLVED,    /* GLPK claims the optimum */
    ILP_NONE,      /* GLPK claims that there is no answer */
    ILP_STOPPED,   /* a limit was reached */
    ILP_TOO_LARGE, /* not tried */
    ILP_FAILED,    /* GLPK gave up; `text` says why */
    ILP_NO_MEMORY
};

struct ilp_result {
    enum ilp_outcome outcome;
    bool has_bound;
    double bound;   /* in cost units (spill) or grains (height) */
    bool found;     /* `guess` is better than the answer that GLPK was given */
    int64_t *guess; /* one base per item, rounded; the caller's array */
    int64_t grain, cost_unit, widest;
    int64_t nodes, effort, rows, binaries;
    char text[120];
};

/* `known` is a legal placement, or NULL: the first solution. Height: only answers up to `ceiling` bytes. */
void ilp_search(const struct items *it, bool relaxed, int64_t ceiling, const int64_t *known,
                const struct ilp_limits *limits, struct ilp_result *result);
