/* One run of GLPK on one model, fenced in: silent, limited in work, time and memory, and alive after GLPK's
 * own failures. What comes back is a claim in floating point; ilp.c decides what of it to believe. */
#ifndef LX_SOLVERS_ILP_ILP_SEARCH_H
#define LX_SOLVERS_ILP_ILP_SEARCH_H

#include "common/items.h"

struct ilp_limits {
    const struct lx_run *run;
    double began;   /* on the clock; for run->time_limit */
    int64_t nodes;  /* of the search tree */
    int64_t effort; /* simplex iterations times rows: what a node limit cannot bound */
    int64_t max_rows;
    int memory; /* megabytes */
    bool cuts;
};

enum ilp_outcome {
    ILP_SOLVED,    /* GLPK claims the optimum */
    ILP_NONE,      /* GLPK claims that there is no answer */
    ILP_STOPPED,   /* by a limit */
    ILP_TOO_LARGE, /* not even tried */
    ILP_FAILED,    /* GLPK gave up; `text` says why */
    ILP_NO_MEMORY
};

struct ilp_result {
    enum ilp_outcome outcome;
    bool has_bound;
    double bound;   /* in cost units (spill) or grains (height) */
    bool found;     /* `guess` holds an answer of GLPK's that is better than the one it was given */
    int64_t *guess; /* one base per item, rounded; by the caller */
    int64_t grain, cost_unit, widest;
    int64_t nodes, effort, rows, binaries;
    char text[120];
};

/* `known` is a legal placement, or NULL: the first solution. Height: only answers up to `ceiling` bytes. */
void ilp_search(const struct items *it, bool relaxed, int64_t ceiling, const int64_t *known,
                const struct ilp_limits *limits, struct ilp_result *result);

#endif
