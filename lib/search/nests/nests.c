/* The engine that makes nests of runs of ops: few ops in one search, many in windows, then refined as a
 * whole. */
#include "search/keep.h"
#include "search/nests/nest_search.h"
#include "search/search_steps.h"

void nest_keep_better(struct attempt *best, struct attempt *next)
{
    if (nest_set_is_better(next, best)) {
        struct attempt old = *best;
        *best = *next;
        *next = old;
    }
    attempt_free(next);
}

/* True if the nests come to the plan that the request knows, or almost: other nests seldom move less then. */
static bool nests_meet_rival(const struct search *search)
{
    enum { NEAR = 64 };
    int64_t rival = search->request->rival_bytes, over = search->best.hbm_bytes - rival;
    return rival > 0 && over >= 0 && over <= rival / NEAR;
}

/* Searches all ops at once, several times from the same plan: with nests that fit the whole room, then with
 * nests that fit a smaller one. A tile that fills a scratchpad leaves no room for tensors that are read
 * again. */
static bool nests_search_once(struct search *search, struct nest_menus *menus)
{
    const int least =
        asks_time(search) || search->best.draft.graph->op_count <= FEW_OPS ? ALL_ROOM : LEAST_ROOM;
    SCOPED(attempt_free) struct attempt first;
    bool ok = attempt_copy(search, &search->best, &first);
    for (int quarters = ALL_ROOM; ok && quarters >= least && !nests_suffice(search); quarters--) {
        struct search by = *search;
        struct nest_search s = {0};
        if (quarters < ALL_ROOM && (search_is_over(search) || nests_meet_rival(search))) break;
        menus->round++;
        ok = attempt_copy(search, &first, &by.best) &&
             nest_search_begin(&s, &by, menus, nest_search_tries(search, 1), quarters) && nest_search_end(&s);
        nest_search_free(&s);
        if (by.best.memory) nest_keep_better(&search->best, &by.best);
    }
    return ok;
}

/* Searches few ops at once; many in windows, then refines the whole with fewer plans for more ops. */
static bool search_any(struct search *search, struct nest_menus *menus, const struct effort *full,
                       bool *solved_in_full)
{
    enum { POLISH = 24, USUAL = 400, LEAST = 2, WINDOW = 56 };
    int64_t ops = search->best.draft.graph->op_count,
            tries = is_large(search) ? 0 : max_i64(LEAST, POLISH * USUAL / max_i64(USUAL, ops));
    bool ok = true;
    if (ops <= WINDOW) {
        ok = nests_search_once(search, menus) && nest_search_last(search, menus);
    } else {
        if (search->best.draft.how.nest_count == 0)
            ok = nest_search_windows(search, menus, full, solved_in_full);
        if (ok) nest_set_refine(search, menus, &tries);
    }
    if (ok && !is_large(search)) nest_set_quicken(search, menus);
    return ok;
}

/* The effort for a last plan; less with nests, since the solver proves no bound then. */
static struct effort effort_in_full(const struct search *search, bool nests)
{
    enum { STEPS = 600, STEPS_AROUND = 2000 };
    struct effort effort = search->effort;
    int64_t most = effort.run.work_limit, steps = nests ? STEPS : STEPS_AROUND;
    if (search->divided->count > FEW_OPS && (nests || search->bound_with_nests))
        effort.run.work_limit = most > 0 ? min_i64(most, steps) : steps;
    effort.drafts = DRAFTS_FEW;
    effort.one_round = nests;
    return effort;
}

/* Skipped if the traffic cannot be less under the same decisions, by least_bytes or by the model of
 * keeping. */
bool try_in_full(const struct search *search, struct attempt *a)
{
    const struct decisions *how = &a->draft.how;
    struct effort effort = effort_in_full(search, how->nest_count > 0);
    struct attempt full;
    int64_t there = a->hbm_bytes, priced = 0;
    if (search->rival_bytes > 0) there = min_i64(there, search->rival_bytes);
    if (how->nest_count > 0 && a->draft.least_bytes >= there) return true;
    if (how->nest_count > 0 && !asks_time(search) && how->cut_count == 0 && !is_large(search)) {
        if (!keep_least(search, how, &priced)) return false;
        if (priced >= there) return true;
    }
    if (!try_decisions(search, how, &effort, no_limit, &full)) return false;
    full.perfect_bytes = a->perfect_bytes;
    nest_keep_better(a, &full);
    return true;
}

/* Searches with little effort. `*beaten`: it found no plan that moves less than the rival; then the search
 * ends. */
static bool nests_scout(struct search *search, struct nest_menus *menus, bool *beaten)
{
    struct search scout = *search;
    bool unused = false;
    scout.effort.quick = true;
    scout.effort.drafts = DRAFTS_AS_DECIDED;
    bool ok = attempt_copy(search, &search->best, &scout.best) && search_any(&scout, menus, NULL, &unused);
    *beaten = ok && search_is_beaten(&scout);
    if (*beaten)
        nest_keep_better(&search->best, &scout.best);
    else
        attempt_free(&scout.best);
    VEC_FREE(&menus->tried); /* with more effort a set may move less */
    menus->least = 0;
    return ok;
}

/* `most_cores`: of any op in a nest; 0: all. */
static bool nests_search_on(struct search *search, int64_t most_cores)
{
    struct nest_menus menus = {.most_cores = most_cores};
    struct effort in_full = effort_in_full(search, true);
    struct search tries = *search;
    /* A caller with another solver than the request's solves the result again. */
    bool solves_again = search->effort.solver != search->request->solver, solved_in_full = false;
    /* On a large graph the nests found in windows are solved as a whole only once. */
    bool once = is_large(search) && !solves_again && search->rival_bytes == 0 && !asks_time(search);
    if (nests_suffice(search)) return true;
    menus.by_memory = asks_time(search);
    /* The request's solver, with less effort for each of the many plans. */
    enum { STEPS = 150 };
    struct effort effort = effort_asked(search->request);
    int64_t most = effort.run.work_limit;
    effort.run.work_limit = most > 0 ? min_i64(most, STEPS) : STEPS;
    effort.quick |= search->divided->count > FEW_OPS;
    if (effort.quick) effort.drafts = DRAFTS_AS_DECIDED;
    tries.effort = effort;
    /* A cancelled search keeps its results so far. */
    bool ok = attempt_copy(search, &search->best, &tries.best), beaten = false;
    if (ok && !tries.effort.quick && search->rival_bytes > 0) ok = nests_scout(&tries, &menus, &beaten);
    if (ok && !beaten) ok = search_any(&tries, &menus, once ? &in_full : NULL, &solved_in_full);
    if (ok && !solves_again && !solved_in_full && tries.best.draft.how.nest_count)
        ok = try_in_full(search, &tries.best);
    if (ok)
        nest_keep_better(&search->best, &tries.best);
    else
        attempt_free(&tries.best);
    arena_adopt(search->memory, &menus.memory); /* decisions point to the divisions */
    nest_menus_free(&menus);
    return ok;
}

/* True if a search by time is so near its bound that another seldom gains. */
static bool nests_meet_bound(const struct search *search)
{
    static const double NEAR = 1.05;
    return search->request->objective == LX_ASK_TIME && search->best.us <= NEAR * search->bound_us;
}

/* By time once more on the cores of the plan without nests, if these are few: fewer cores launch sooner. */
bool nests_search(struct search *search)
{
    const struct draft *x = &search->best.draft;
    struct search few = *search;
    int64_t most = 0;
    for (int32_t o = 0; o < x->graph->op_count; o++) most = max_i64(most, x->divisions->at[o].cores_used);
    bool again = asks_time(search) && 2 * most <= search->divided->cores;
    bool ok = !again || attempt_copy(search, &search->best, &few.best);
    ok = ok && nests_search_on(search, 0);
    if (!again) return ok;
    ok = ok && (search_is_over(search) || nests_meet_bound(search) || nests_search_on(&few, most));
    if (few.best.memory) nest_keep_better(&search->best, &few.best);
    return ok;
}
