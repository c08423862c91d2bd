/* A look at the stop after so much work, wherever that is done: looks cost some ten nanoseconds, steps
 * about one, and nobody may go on for ten milliseconds without one. */
#ifndef LX_SOLVERS_COMMON_POLL_H
#define LX_SOLVERS_COMMON_POLL_H

#include "placement/problem.h"

enum { POLL_STEPS = 1 << 17 };

struct poll {
    const struct lx_run *run; /* NULL: never stopped */
    int64_t work;             /* since the last look */
    bool stopped;             /* and it stays so */
};

static inline bool poll_stopped(struct poll *p, int64_t work)
{
    p->work += work;
    if (p->work < POLL_STEPS || p->stopped) return p->stopped;
    p->work = 0;
    p->stopped = p->run && lx_run_stopped(p->run);
    return p->stopped;
}

#endif
