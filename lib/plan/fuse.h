/* The time of a whole plan, however many solvers, passes and members of a team it takes. Private to the library. */
#ifndef LX_PLAN_FUSE_H
#define LX_PLAN_FUSE_H

#include "scratchpad/placement/problem.h"

struct fuse {
    const struct lx_run *run; /* the caller's */
    double began, until;      /* on the monotonic clock */
    bool out;                 /* it was its time that ended it */
};

/* The caller's run, which also stops when its time is over; `f` and `run` must outlive it. */
struct lx_run fuse_light(struct fuse *f, const struct lx_run *run);
/* A first plan is there. To write the last one down takes about as long again as a part of that: the search ends before. */
void fuse_save_some(const struct lx_run *lit);
/* Was it stopped because its time was over? */
bool fuse_is_out(const struct lx_run *lit);

#endif
