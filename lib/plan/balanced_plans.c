/* The objective `balanced`: least bytes among plans at most SLOWER times as slow as the fastest.
 *
 * A plan by bytes is the answer if its time is near the bound of time. Else a plan by time says how fast the
 * graph can be, and where the first is slower, a third search looks for the least bytes within the limit. */
#include "base/cancel.h"
#include "base/checked.h"
#include "plan/plan_make.h"
#include "plan/plan_slot.h"
#include "nests/nest_candidates.h"
#include "search/time.h"

#include <math.h>

static const double SLOWER = 1.1;

static bool balanced_is_better(const struct lx_plan *p, const struct lx_plan *than, double fast_us)
{
    double us = fmax(p->figures.end_to_end_us, fast_us), other = fmax(than->figures.end_to_end_us, fast_us);
    return us != other ? us < other : p->figures.hbm_bytes < than->figures.hbm_bytes;
}

/* Plans again by `objective` and keeps the better plan of the two in `kept`. Cancelled: `kept` stands. */
static bool balanced_try(const struct lx_graph *g, const struct lx_plan_options *asked, enum lx_ask objective,
                         double fast_us, int left, struct lx_plan **kept, double *fastest, lx_status *st)
{
    struct lx_plan_options how = *asked;
    how.objective = objective;
    how.passes.by_time = true;
    how.fast_us = fast_us;
    how.keeps_quiet = true;
    how.run = plan_run_share(&asked->run, left);
    how.like = *kept;
    if (cancel_requested()) return true;
    struct lx_plan *next = plan_best(g, &how, st), *old = *kept;
    if (!next && st->code == LX_E_STOPPED) return *st = (lx_status){0}, true;
    if (!next) return false;
    *fastest = fmin(*fastest, next->figures.end_to_end_us);
    bool better = balanced_is_better(next, old, *fastest * SLOWER);
    next->seconds += old->seconds;
    *kept = better ? next : old;
    lx_plan_free(better ? old : next);
    return true;
}

/* Judges the plan by bytes; `least` of them is proved, and `least_us` of time. */
static void balanced_settle(struct lx_plan *p, int64_t least, double least_us)
{
    p->asks_time = false;
    p->balanced = true;
    p->figures.bound_us = least_us;
    p->figures.perfect_hbm_bytes =
        p->figures.perfect_hbm_bytes < 0 ? least : min_i64(p->figures.perfect_hbm_bytes, least);
    p->figures.bound_bytes = least - p->figures.perfect_hbm_bytes;
    p->figures.spill_bytes = p->figures.hbm_bytes - p->figures.perfect_hbm_bytes;
    plan_settle(p);
    if (p->answer.status != LX_OPTIMAL && !p->unproved)
        p->unproved = "not proved optimal: a plan with fewer bytes may be as fast";
}

/* Faster plans than `first`, which is by bytes. */
static struct lx_plan *balanced_search(const struct lx_graph *g, const struct lx_plan_options *options,
                                       struct lx_plan *first, lx_status *st)
{
    const int64_t bytes = first->figures.hbm_bytes;
    const double by_bytes_us = first->figures.end_to_end_us, least_us = first->figures.bound_us;
    int64_t least = lx_plan_least(first);
    struct lx_plan *p = first;
    double fastest = by_bytes_us;
    /* The bound of given divisions is none of plans with others. */
    if (!first->joint.searched) least = min_i64(least, crossing_traffic(first->draft));
    lx_plan_ref(first); /* the thread that waits may have it; then it must not change */
    plan_offer(first);
    bool ok = balanced_try(g, options, LX_ASK_TIME, 0, 2, &p, &fastest, st) &&
              (by_bytes_us <= SLOWER * fastest ||
               balanced_try(g, options, LX_ASK_BALANCED, SLOWER * fastest, 1, &p, &fastest, st));
    if (!ok) return lx_plan_free(p), NULL;
    if (p == first) return p;
    balanced_settle(p, least, least_us);
    if (bytes < p->figures.hbm_bytes) {
        p->fewer_bytes = bytes;
        p->fewer_bytes_us = by_bytes_us;
    }
    return p;
}

struct lx_plan *plan_balanced(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st)
{
    struct lx_plan_options how = *options;
    how.objective = LX_ASK_TRAFFIC;
    how.run = plan_run_share(&options->run, 3);
    struct lx_plan *p = plan_best(g, &how, st);
    if (!p || p->graph->list || p->problem.objective != LX_SPILL || p->answer.status == LX_ERROR || !p->draft)
        return p;
    double least_us = time_bound_divided(p->draft, NULL);
    balanced_settle(p, lx_plan_least(p), least_us);
    bool fast = p->figures.end_to_end_us <= SLOWER * least_us || how.run.quick;
    return fast || cancel_requested() ? p : balanced_search(g, options, p, st);
}
