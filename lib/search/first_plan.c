/* The first plan, without nests. On a large graph a full one takes long, and nests usually beat it. So the
 * search for nests starts from a quick one; the full one is made only if the result is above the bound for
 * plans without nests. */
#include "search/search_steps.h"
#include "nests/nest_candidates.h"
#include "search/keep.h"

/* If a thread waits for the plan, offers one of the quick solver before any search. */
static bool offer_quick_plan(struct search *search, const struct decisions *decisions)
{
    struct effort effort = {.solver = search->request->quick_solver,
                            .run = {.seed = search->effort.run.seed, .quick = true},
                            .one_round = true};
    if (!search->offers || !effort.solver || search->divided->count <= OFFERS_FROM ||
        lx_asked(search->request->objective, LX_SPILL) != LX_SPILL)
        return true;
    if (!try_decisions(search, decisions, &effort, no_limit, &search->best)) return false;
    search->bound = crossing_traffic(&search->best.draft);
    search->offers->offer(search, true);
    search->bound = 0;
    attempt_free(&search->best);
    return true;
}

/* On a large graph the quick solver makes it: the choice of nests does not depend on addresses. */
static bool quick_plan(struct search *search, const struct decisions *decisions)
{
    enum { STEPS = 300 };
    struct effort quick = search->effort;
    int64_t least = 0;
    quick.run.work_limit = STEPS;
    quick.one_round = true;
    if (!is_large(search)) return try_decisions(search, decisions, &quick, no_limit, &search->best);
    if (!keep_quick(search, decisions, &search->best) ||
        !keep_least_below(search, decisions, search->best.hbm_bytes, &least))
        return false;
    search->best.bound = min_i64(least, search->best.hbm_bytes);
    search->best.open_relayouts = true;
    return true;
}

static bool first_plan_given(struct search *search)
{
    search->bound = 0;
    return attempt_copy(search, search->given, &search->best) &&
           perfect_traffic(&search->best.draft, &search->best.perfect_bytes, search->st);
}

bool first_plan(struct search *search)
{
    if (search->given) return first_plan_given(search);
    struct decisions decisions = {.passes = passes_of_stage(&search->request->passes)};
    if (!offer_quick_plan(search, &decisions)) return false;
    /* A quick plan only if nests alone are searched, on a graph of some size. */
    const struct lx_passes *passes = &decisions.passes;
    enum { LARGE = 64 };
    const struct lx_plan_options *request = search->request;
    bool only_nests = passes->tile != LX_TILE_NONE && passes->cooptimise == LX_COOPTIMISE_NONE &&
                      !passes->reorder && !passes->evict && !passes->move;
    if (!only_nests || *request->nests || search->effort.quick || asks_time(search) ||
        request->run.work_limit != 0 || !request->quick_solver || request->quick_solver == request->solver ||
        search->divided->count < LARGE || passes->clone == LX_CLONE_HEURISTIC ||
        lx_asked(request->objective, LX_SPILL) != LX_SPILL) {
        if (!try_with(search, DRAFTS_MANY, &decisions, &search->best)) return false;
    } else {
        if (!quick_plan(search, &decisions) ||
            !perfect_traffic(&search->best.draft, &search->best.perfect_bytes, search->st))
            return false;
        search->first_is_quick = true;
        search->first_least = search->best.bound;
        if (bundles_are_limited(search) && !first_plan_in_full(search)) return false;
    }
    search->bound = asks_traffic(search) ? search->best.perfect_bytes : 0;
    return true;
}

bool first_plan_in_full(struct search *search)
{
    struct decisions decisions = {.passes = passes_of_stage(&search->request->passes)};
    struct attempt full;
    search->first_is_quick = false;
    if (!try_with(search, DRAFTS_MANY, &decisions, &full)) return false;
    if (full.hbm_bytes <= search->best.hbm_bytes)
        replace_best(search, &full);
    else
        attempt_free(&full);
    return true;
}
