/* How a plan of a graph comes into being: the whole search, step by step. */
#include "plan/plan_make.h"
#include "base/cancel.h"
#include "base/log.h"
#include "search/steps.h"
#include "search/time.h"

typedef bool condition(const struct search *s);
static condition always, nests_are_given, searches_time, divides_anew, may_have_nests, nests_cannot_help,
    searches, engines_may_run, may_be_better_without_nests, has_other_divisions, may_merge_bundles,
    may_raise_bound;

/* Each goes on from the best plan so far and leaves it, or a better one. Steps at the end of time are not begun where the
 * last column says so. combine.c has the engines. */
/* clang-format off */
static const struct step steps[] = {
    /* name                       when                         what it does                  skipped at the end */
    {"first plan",                always,                      first_plan,                   false},
    {"nests asked for",           nests_are_given,             nests_given,                  false},
    {"least time",                searches_time,               least_time_search,            true},
    {"divisions",                 divides_anew,                divisions_search,             true},
    {"bound with nests",          may_have_nests,              bounds_with_nests,            false},
    {"plan without nests",        nests_cannot_help,           first_plan_in_full,           false},
    {"bound",                     searches,                    bounds_find,                  false},
    {"nests, order, cuts, moves", engines_may_run,             combine_engines,              false},
    {"plan without nests",        may_be_better_without_nests, first_plan_in_full,           false},
    {"other divisions",           has_other_divisions,         combine_from_other_divisions, true},
    {"fewer bundles",             may_merge_bundles,           bundles_merge,                true},
    {"higher bound",              may_raise_bound,             bounds_raise,                 true},
};
/* clang-format on */

static bool step_run(const struct step *step, struct search *search)
{
    if (!step->when(search) || (step->may_be_skipped && search_is_over(search))) return true;
    if (!step->run(search)) {
        if (search->st->code != LX_E_STOPPED || !search->best.memory) return false;
        *search->st = (lx_status){0}; /* cancelled: the best so far stands */
    }
    LOG(plan, "%s: HBM %" PRId64 ", bound %" PRId64, step->name, search->best.hbm_bytes, search->bound);
    if (search->offers) search->offers->offer(search, false);
    search->gains[search->gain_count++] =
        (struct lx_gain){step->name, search->best.hbm_bytes, search->best.us};
    return true;
}

bool steps_run(struct search *search)
{
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof steps / sizeof *steps; i++) {
        ok = step_run(&steps[i], search);
        if (i == 0) cancel_reserve(0.5); /* a first plan is there */
    }
    return ok;
}

_Static_assert(sizeof steps / sizeof *steps <= LX_MOST_GAINS, "a gain per step");

static bool always(const struct search *s)
{
    (void)s;
    return true;
}

static bool nests_are_given(const struct search *s)
{
    return *s->request->nests;
}

/* Is more than the first plan asked for, and are the nests open? */
static bool searches(const struct search *s)
{
    return !s->effort.quick && !*s->request->nests;
}

static bool searches_time(const struct search *s)
{
    return searches(s) && asks_time(s);
}

static bool divides_anew(const struct search *s)
{
    return searches(s) && !asks_time(s) && asks_traffic(s) &&
           s->best.draft.how.passes.cooptimise != LX_COOPTIMISE_NONE;
}

static bool may_have_nests(const struct search *s)
{
    return searches(s) && asks_traffic(s) && engine_runs(s, ENGINE_NESTS);
}

static bool nests_cannot_help(const struct search *s)
{
    return s->first_is_brief && !s->bound_with_nests;
}

static bool engines_may_run(const struct search *s)
{
    return !s->effort.quick && asks_traffic(s);
}

static bool may_be_better_without_nests(const struct search *s)
{
    return s->first_is_brief && s->best.hbm_bytes > s->first_least;
}

static bool has_other_divisions(const struct search *s)
{
    return searches(s) && asks_traffic(s) && s->other_count > 0;
}

static bool may_merge_bundles(const struct search *s)
{
    return searches_time(s) && s->bundles_limited;
}

static bool may_raise_bound(const struct search *s)
{
    return searches(s) && asks_traffic(s) && !asks_time(s);
}
