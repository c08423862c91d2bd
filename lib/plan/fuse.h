/* The time of a whole plan, however many solvers, passes and members of a team it takes. Private to the library. */
#ifndef LX_PLAN_FUSE_H
#define LX_PLAN_FUSE_H

#include "placement/problem.h"

struct fuse {
    const struct lx_run *run; /* the caller's */
    double began, until;      /* on the monotonic clock */
    bool out;                 /* it was its time that ended it */
};

/* The caller's run, which also stops when its time is over; `f` and `run` must outlive it. */
struct lx_run fuse_light(struct fuse *f, const struct lx_run *run);
/* A callback, in the context of the caller's run: is what is searched before there is any plan to end? It has a quarter of the
 * time, as a plan takes longer than what comes before it. `lit` is the context. */
bool fuse_is_short(void *lit);
/* Ops are divided, or a first plan is there. To write the last plan down takes about as long again as `share` of what was done
 * until now: the search ends before, by a quarter of the time at most. */
void fuse_save(const struct lx_run *lit, double share);
/* For the next one of so many plans that are to be made in what is left of its time; where nothing is, in haste. `lit` must
 * outlive it. */
struct lx_run fuse_share(const struct lx_run *lit, int plans);
/* As fast as `done` parts of the work went since it was lit: do as many `more` go in what is left of its time, and so many
 * seconds of grace? */
bool fuse_suffices(const struct lx_run *lit, double done, double more, double grace);
/* Was it stopped because its time, or that of which it is a part, was over? */
bool fuse_is_out(const struct lx_run *lit);

#endif
