/* What a solver reports, on its way to whoever watches: only legal answers that are better than all
 * before, bounds that never fall, and the last answer of those solvers that report nothing themselves. */
#include "placement/solve.h"
#include "base/border.h"
#include "base/checked.h"

struct lx_run incumbents_watch(struct incumbents *w, const struct lx_problem *p, const struct lx_run *run)
{
    struct lx_run watched = *run;
    *w = (struct incumbents){.p = p, .run = run, .best = INT64_MAX};
    if (!run->progress) return watched;
    watched.progress = incumbents_pass;
    watched.stop = run->stop ? incumbents_stop : NULL;
    watched.context = w;
    return watched;
}

bool incumbents_stop(void *context)
{
    const struct incumbents *w = context;
    return w->memory_is_out || lx_run_stopped(w->run);
}

/* A legal and, where all must be placed, complete answer that is better than the best. */
static bool incumbents_is_news(struct incumbents *w, const struct lx_progress *so_far)
{
    int64_t objective;
    lx_status ignored;
    if (!so_far->address || so_far->objective >= w->best) return false;
    if (w->p->objective == LX_FIT && lx_left_out(w->p, so_far->address)) return false;
    if (!check_so_far(w->p, so_far->pool, so_far->address, &objective, &ignored)) return false;
    if (objective >= w->best) return false;
    w->best = objective;
    return true;
}

void incumbents_pass(void *context, const struct lx_progress *so_far)
{
    struct incumbents *w = context;
    struct border border;
    if (w->memory_is_out) return;
    if (border_begin(&border) == 0) {
        bool news = incumbents_is_news(w, so_far);
        w->steps = max_i64(w->steps, so_far->steps);
        w->bound = min_i64(max_i64(w->bound, so_far->bound), w->best);
        struct lx_progress out = {w->steps, w->best, w->bound, NULL, NULL};
        if (news) {
            out.address = so_far->address;
            out.pool = so_far->pool;
        }
        w->run->progress(w->run->context, &out);
        border_end(&border);
    } else {
        w->memory_is_out = true;
    }
}

void incumbents_end(struct incumbents *w, const struct lx_answer *a)
{
    if (!w->run->progress || a->status == LX_ERROR || a->status == LX_INFEASIBLE) return;
    incumbents_pass(w, &(struct lx_progress){a->steps, a->objective, a->bound, a->address, a->pool});
}
