/* The plan without nests of a large graph, put off: it takes longest where little fits, and there nests move so much less that it
 * is not wanted in the end. So the search for nests begins with a brief one, and only if what it finds is above what no
 * plan without nests goes below, that is made in full, too: nests are never worse than none. */
#include "base/checked.h"
#include "search/keep.h"

/* Is nothing searched for but nests, and in a graph large enough for it to matter? */
static bool plain_later_may_wait(const struct planner *p, const struct decisions *how)
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

/* Of a large graph that of the quick solver: where things are on chip in it has no part in which nests there are. */
static bool begin_quickly(struct planner *p, const struct decisions *how)
{
    int64_t least = 0;
    if (!keep_quick(p, how, &p->best) || !keep_least_below(p, how, p->best.hbm_bytes, &least)) return false;
    p->best.bound = min_i64(least, p->best.hbm_bytes);
    p->best.open_relayouts = true;
    return true;
}

static bool begin_briefly(struct planner *p, const struct decisions *how)
{
    enum { STEPS = 300 };
    struct lx_plan_options options = *p->options;
    struct planner brief = *p;
    options.run.work_limit = STEPS;
    brief.options = &options;
    brief.brief = true;
    return attempt_make(&brief, how, &p->best);
}

bool plain_begin(struct planner *p, const struct decisions *how)
{
    p->put_off = plain_later_may_wait(p, how);
    if (!p->put_off) return attempt_plain(p, how, &p->best);
    if (!(is_large(p) ? begin_quickly : begin_briefly)(p, how) ||
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
