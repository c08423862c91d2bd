/* The plan without nests of a large graph, put off: it takes longest where little fits, and there nests move so much less that it
 * is not wanted in the end. So the search for nests begins with a brief one, and only if what it finds is above what no
 * plan without nests goes below, that is made in full, too: nests are never worse than none. */
#include "plan/planner.h"

/* Is nothing searched for but nests, and in a graph large enough for it to matter? */
static bool may_wait(const struct planner *p, const struct decisions *how)
{
    enum { LARGE = 64 };
    const struct lx_plan_options *o = p->options;
    bool nests = false;
    for (const struct lx_pass *row = lx_passes(); row->name; row++) {
        bool on = row->search && lx_pass_on(&how->passes, row);
        if (on && row->search != tile_search) return false;
        nests |= on;
    }
    return nests && !*o->nests && !o->run.hasty && !asks_time(p) && o->run.work_limit == 0 &&
           o->quick_solver && o->quick_solver != o->solver && p->divided->count >= LARGE &&
           how->passes.clone != LX_CLONE_HEURISTIC && lx_asked(o->objective, LX_SPILL) == LX_SPILL;
}

bool plain_begin(struct planner *p, const struct decisions *how)
{
    enum { STEPS = 300 };
    struct lx_plan_options options = *p->options;
    struct planner brief = *p;
    p->put_off = may_wait(p, how);
    if (!p->put_off) return attempt_plain(p, how, &p->best);
    options.run.work_limit = STEPS;
    brief.options = &options;
    brief.brief = brief.sketch = true;
    if (!attempt_make(&brief, how, &p->best) ||
        !perfect_traffic(&p->best.draft, &p->best.perfect_bytes, p->st))
        return false;
    p->plain_least = p->best.bound;
    return !bundles_are_limited(p) || plain_end(p, how, 0);
}

bool plain_end(struct planner *p, const struct decisions *how, int64_t found)
{
    struct attempt full;
    if (!p->put_off || (found > 0 && found <= p->plain_least)) return true;
    p->put_off = false;
    if (!attempt_plain(p, how, &full)) return false;
    if (full.hbm_bytes <= p->best.hbm_bytes) {
        attempt_free(&p->best);
        p->best = full;
    } else
        attempt_free(&full);
    return true;
}
