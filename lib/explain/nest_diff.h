/* Where the nests of two plans differ, and what that changes: runs of ops, matched by name, that either plan has in other
 * nests than the other. What the ops of such a run move in either plan, and what all others do, adds up to the plans'
 * traffic. */
#ifndef LX_EXPLAIN_NEST_DIFF_H
#define LX_EXPLAIN_NEST_DIFF_H

#include "plan/plan.h"

struct lx_nest_change {
    /* Nests of the run, by number: `count` from `first` on; a count of 0: none. */
    int32_t first_before, count_before, first_after, count_after;
    int64_t bytes_before, bytes_after; /* that its ops move */
};

struct lx_nest_diff {
    struct lx_nest_change *all; /* in order of time */
    int32_t count;
    struct lx_nest_change others; /* all other ops, in nests or not */
};

/* Of plans of graphs. False with `st` when memory is out. */
bool lx_nest_diff(const struct lx_plan *before, const struct lx_plan *after, struct lx_nest_diff *out,
                  lx_status *st);
void lx_nest_diff_free(struct lx_nest_diff *d);

#endif
