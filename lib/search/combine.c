/* Runs the engines one after the other, in every subset of the engines that are on. */
#include "search/search_steps.h"
#include "base/vec.h"
#include "search/keep.h"
#include "search/reorder.h"

/* In this order. Each starts from the best attempt and may go below its draft's bound. */
static const struct {
    const char *option;
    bool (*search)(struct search *search);
} engines[ENGINE_COUNT] = {
    [ENGINE_NESTS] = {"tile", nests_search},      /* runs of ops become nests */
    [ENGINE_ORDER] = {"reorder", reorder_search}, /* ops are reordered */
    [ENGINE_EVICT] = {"evict", evict_search},     /* stays are cut */
    [ENGINE_MOVE] = {"move", move_search},        /* stays move to other addresses */
};

const char *engine_option(enum engine engine)
{
    return engines[engine].option;
}

static bool run_engines(struct search *search)
{
    bool ok = true;
    for (enum engine e = 0; ok && e < ENGINE_COUNT; e++)
        if (engine_runs(search, e)) ok = engines[e].search(search);
    return ok;
}

/* A bit per engine that runs. */
static unsigned engines_on(const struct search *search)
{
    unsigned bits = 0;
    for (enum engine e = 0; e < ENGINE_COUNT; e++) bits |= (unsigned)engine_runs(search, e) << e;
    return bits;
}

/* On a large graph a try with the full solver takes seconds: the quick solver searches, and its best is
 * solved once in full. */
static bool run_with_quick_solver(struct search *search)
{
    struct search tries = *search;
    struct decisions plain = {.passes = search->best.draft.how.passes,
                              .divided = search->best.draft.how.divided};
    tries.effort = effort_quick_solver(search);
    if (!try_with(&tries, DRAFTS_MANY, &plain, &tries.best)) return false;
    bool ok = run_engines(&tries);
    /* The first decisions were solved in full already. */
    if (ok && (tries.best.draft.how.order || tries.best.draft.how.divided != plain.divided ||
               tries.best.draft.how.nest_count || tries.best.draft.how.cut_count ||
               tries.best.draft.how.move_count || tries.best.draft.how.apart_count ||
               tries.best.draft.how.borders != plain.borders))
        ok = try_in_full(search, &tries.best);
    if (ok)
        offer_attempt(search, &tries.best);
    else
        attempt_free(&tries.best);
    return ok;
}

/* The best attempt of a set of engines. */
struct engine_set {
    unsigned engines;
    struct attempt best;
};
struct engine_sets {
    VEC(struct engine_set) at;
};

/* The best attempt of all subsets of `some` so far. */
static const struct attempt *best_within(const struct engine_sets *sets, unsigned some)
{
    const struct attempt *best = NULL;
    for (size_t i = 0; i < sets->at.count; i++) {
        const struct attempt *a = &sets->at.at[i].best;
        if (sets->at.at[i].engines & ~some) continue;
        if (!best || a->us < best->us || (a->us == best->us && a->hbm_bytes < best->hbm_bytes)) best = a;
    }
    return best;
}

/* Runs the engines of `some` from the best of their subsets. Nests of large graphs are found by windows,
 * so they need no quicker solver. */
static bool combine_run_set(const struct search *search, unsigned some, struct engine_sets *sets)
{
    enum { LARGE = 400 };
    const struct lx_solver *quick = search->request->quick_solver;
    struct search tries = *search;
    tries.skipped |= ~some;
    if (!attempt_copy(search, best_within(sets, some), &tries.best)) return false;
    bool nests_alone = is_large(&tries) && engines_on(&tries) == 1u << ENGINE_NESTS;
    bool plain = tries.best.draft.problem.count <= LARGE || !quick || quick == search->effort.solver;
    bool ok = plain || nests_alone ? run_engines(&tries) : run_with_quick_solver(&tries);
    if (ok)
        VEC_PUSH(&sets->at, ((struct engine_set){some, tries.best}));
    else
        attempt_free(&tries.best);
    return ok;
}

/* Runs every subset of the engines that are on, the empty one first. Each starts from the best of its own
 * subsets, so its result does not depend on other engines, and one more pass never makes the plan worse. If
 * bundles are limited, each result is merged at once, so a cancelled search has the result of fewer
 * engines. */
bool combine_engines(struct search *search)
{
    struct engine_sets sets = {{0}};
    unsigned all = engines_on(search);
    struct attempt first;
    bool merges = search->bundles_limited && !asks_time(search);
    if (!all) return !merges || bundles_merge(search);
    if (!attempt_copy(search, &search->best, &first)) return false;
    VEC_PUSH(&sets.at, ((struct engine_set){0, first}));
    bool ok = !merges || bundles_merge(search);
    /* (some - all) & all is the next subset of the bits of `all`. */
    for (unsigned some = (0 - all) & all; ok && some; some = some == all ? 0 : (some - all) & all) {
        const struct attempt *best = best_within(&sets, all);
        if (!merges && best->hbm_bytes <= best->perfect_bytes) break;
        ok = combine_run_set(search, some, &sets);
        struct search merging = *search;
        if (!ok || !merges) continue;
        ok = attempt_copy(search, &sets.at.at[sets.at.count - 1].best, &merging.best) &&
             bundles_merge(&merging);
        if (ok)
            offer_attempt(search, &merging.best);
        else
            attempt_free(&merging.best);
    }
    for (size_t i = 0; i < sets.at.count; i++) offer_attempt(search, &sets.at.at[i].best);
    VEC_FREE(&sets.at);
    return ok;
}

bool combine_from_other_divisions(struct search *search)
{
    bool merges = search->bundles_limited && !asks_time(search);
    return (!engines_on(search) && !merges) || divisions_try_others(search, combine_engines);
}
