/* The placement problem of a pattern before any search, to compare solvers or to export buffers. */
#ifndef LX_PLAN_QUESTION_H
#define LX_PLAN_QUESTION_H

#include "plan/plan.h"

struct lx_question {
    const struct lx_graph *graph; /* a reference */
    struct lx_passes passes;      /* that shaped the problem; all zero for a list */
    struct lx_problem problem;
    int64_t
        base_bytes; /* that a graph moves through HBM whatever is placed: its traffic is this and the cost */
    struct draft *draft; /* private; NULL for a list, as the next two */
    struct lx_layouts *layouts;
    struct lx_divisions *divisions;
    struct arena *memory;
};

/* Of `options` the objective and the passes count. NULL: `st` says why. */
struct lx_question *lx_problem_of(const struct lx_graph *g, const struct lx_plan_options *options,
                                  lx_status *st);
/* Predicted times of the graph so placed, on both clocks; false: it is a bare list, or memory is out. */
bool lx_question_clocks(const struct lx_question *q, const int64_t *address, double *device_us,
                        double *end_to_end_us);
void lx_question_free(struct lx_question *q);

#endif
