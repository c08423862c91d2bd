/* The state of a search: efforts, engines, and the best attempt. */
#include "search/plan_search.h"
#include "base/log.h"

struct effort effort_asked(const struct lx_plan_options *request)
{
    struct effort effort = {
        .solver = request->solver, .run = request->run, .drafts = DRAFTS_FEW, .quick = request->run.hasty};
    effort.run.hasty = false;
    return effort;
}

struct effort effort_quick_solver(const struct search *search)
{
    struct effort effort = search->effort;
    effort.solver = search->request->quick_solver;
    effort.run.options = NULL;
    effort.run.work_limit = 0;
    return effort;
}

struct effort effort_last(const struct search *search)
{
    struct effort effort = search->effort;
    effort.run.stop = NULL;
    effort.run.time_limit = 0;
    effort.quick = true;
    effort.drafts = DRAFTS_AS_DECIDED;
    if (search->request->quick_solver) effort.solver = search->request->quick_solver;
    return effort;
}

bool engine_runs(const struct search *search, enum engine engine)
{
    const struct lx_passes *passes = &search->best.draft.how.passes;
    const bool on[] = {[ENGINE_NESTS] = passes->tile != LX_TILE_NONE,
                       [ENGINE_ORDER] = passes->reorder,
                       [ENGINE_EVICT] = passes->evict,
                       [ENGINE_MOVE] = passes->move};
    return on[engine] && !(search->skipped >> engine & 1);
}

bool offer_attempt(struct search *search, struct attempt *next)
{
    bool better = attempt_keep_better(&search->best, next);
    if (better && search->offers) search->offers->offer(search, false);
    return better;
}

void replace_best(struct search *search, struct attempt *next)
{
    attempt_free(&search->best);
    search->best = *next;
    if (search->offers) search->offers->offer(search, false);
}
