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

static void fuse_pass_on(void *context, const struct lx_progress *so_far)
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
    lit.progress = run->progress ? fuse_pass_on : NULL;
    lit.context = f;
    return lit;
}

bool fuse_is_short(void *lit)
{
    const struct lx_run *run = lit;
    const struct fuse *f = run->stop == burnt_down ? run->context : NULL;
    return lx_run_stopped(run) || (f && clock_seconds() >= f->began + run->time_limit / 4);
}

void fuse_save(const struct lx_run *lit, double share)
{
    struct fuse *f = lit->stop == burnt_down ? lit->context : NULL;
    if (!f) return;
    double saved = fmin((clock_seconds() - f->began) * share, lit->time_limit / 4);
    f->until = fmin(f->until, f->began + lit->time_limit - saved);
}

struct lx_run fuse_share(const struct lx_run *lit, int plans)
{
    const double least = 1e-3; /* 0 is no limit */
    const struct fuse *f = lit->stop == burnt_down ? lit->context : NULL;
    struct lx_run share = *lit;
    if (f) share.time_limit = fmax((f->until - clock_seconds()) / plans, least);
    share.hasty |= lx_run_stopped(lit);
    return share;
}

bool fuse_suffices(const struct lx_run *lit, double done, double more, double grace)
{
    const struct fuse *f = lit->stop == burnt_down ? lit->context : NULL;
    double now = f ? clock_seconds() : 0;
    return !f || (now - f->began) / done * more <= f->until + grace - now;
}

bool fuse_is_out(const struct lx_run *lit)
{
    const struct fuse *f = lit->stop == burnt_down ? lit->context : NULL;
    return f && (f->out || fuse_is_out(f->run));
}
