/* The placement problem of a pattern before any search, to compare solvers or to export buffers. */
#pragma once

#include "plan/plan.h"

struct lx_question {
    const struct lx_graph *graph; /* a reference */
    struct lx_passes passes;      /* that shaped the problem; all zero for a buffer list */
    struct lx_problem problem;
    /* HBM bytes of a graph under any placement: its traffic is base_bytes plus the cost. */
    int64_t base_bytes;
    struct draft *draft; /* private, as the next two; NULL for a buffer list */
    struct lx_layouts *layouts;
    struct lx_divisions *divisions;
    struct arena *memory;
};

/* Uses the objective and the passes of `options`. NULL: `st` says why. */
struct lx_question *lx_problem_of(const struct lx_graph *g, const struct lx_plan_options *options,
                                  lx_status *st);
/* Predicted times of the graph with these addresses, on both clocks; false: a buffer list. */
bool lx_question_clocks(const struct lx_question *q, const int64_t *address, double *device_us,
                        double *end_to_end_us);
/* The plan of a graph with these addresses, which must be legal; it must not outlive the question. `packer`
 * packs HBM. NULL: see `st`. */
struct lx_plan *lx_question_plan(const struct lx_question *q, const int64_t *address,
                                 const struct lx_solver *packer, lx_status *st);
void lx_question_free(struct lx_question *q);
