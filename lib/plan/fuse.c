/* A stop that knows the clock. It is the only place where time has a part in what a plan is. */
#include "plan/fuse.h"
#include "base/clock.h"

#include <math.h>

static bool burnt_down(void *context)
{
    struct fuse *f = context;
    if (f->out || lx_run_stopped(f->run)) return true;
    return f->out = clock_seconds() >= f->until;
}

static void pass_on(void *context, const struct lx_progress *so_far)
{
    const struct fuse *f = context;
    f->run->progress(f->run->context, so_far);
}

struct lx_run fuse_light(struct fuse *f, const struct lx_run *run)
{
    struct lx_run lit = *run;
    *f = (struct fuse){.run = run, .began = clock_seconds()};
    f->until = f->began + run->time_limit;
    if (run->time_limit <= 0) return lit;
    lit.stop = burnt_down;
    lit.progress = run->progress ? pass_on : NULL;
    lit.context = f;
    return lit;
}

void fuse_save_some(const struct lx_run *lit)
{
    struct fuse *f = lit->stop == burnt_down ? lit->context : NULL;
    if (!f) return;
    f->until -= fmin((clock_seconds() - f->began) / 2, lit->time_limit / 4);
}

bool fuse_is_out(const struct lx_run *lit)
{
    const struct fuse *f = lit->stop == burnt_down ? lit->context : NULL;
    return f && f->out;
}
