/* Runs the engines one after the other, in every subset of the engines that are on. */
#include "search/search_steps.h"
#include "search/keep.h"
#include "search/reorder.h"
#include "search/nests/nest_edits.h"

#define BIT(engine) (1u << (engine))

/* In this order. Each starts from the best attempt and may go below its draft's bound. */
static const struct {
    const char *option, *name;
    bool (*search)(struct search *search);
    unsigned beside; /* bits of other engines that it behaves differently beside */
} engines[ENGINE_COUNT] = {
    [ENGINE_NESTS] = {"tile", "nests", nests_search, 0}, /* runs of ops become nests */
    [ENGINE_ORDER] = {"reorder", "orders", reorder_search,
                      BIT(ENGINE_EVICT) | BIT(ENGINE_MOVE)},           /* of the ops */
    [ENGINE_EVICT] = {"evict", "evictions", evict_search, 0},          /* stays are cut */
    [ENGINE_MOVE] = {"move", "moves", move_search, BIT(ENGINE_EVICT)}, /* stays move to other addresses */
};

const char *engine_option(enum engine engine)
{
    return engines[engine].option;
}

/* A bit per engine that runs. */
static unsigned engines_on(const struct search *search)
{
    unsigned bits = 0;
    for (enum engine e = 0; e < ENGINE_COUNT; e++) bits |= (unsigned)engine_runs(search, e) << e;
    return bits;
}

/* A run of an engine, from one attempt to another or, if it found nothing, to the same. */
struct engine_run {
    enum engine engine; /* ENGINE_COUNT: an attempt of the quick solver is solved in full */
    unsigned beside;
    size_t from, to;
};

/* All attempts that runs began or ended with. A run that would repeat another is not made again. */
struct engine_runs {
    VEC(struct attempt) made;
    VEC(struct engine_run) runs;
    tried_list tried;
};

static void combine_free_runs(struct engine_runs *r)
{
    for (size_t i = 0; i < r->made.count; i++) attempt_free(&r->made.at[i]);
    VEC_FREE(&r->made);
    VEC_FREE(&r->runs);
    VEC_FREE(&r->tried);
}

/* The run that began with attempt `from`; NULL: none yet. */
static const struct engine_run *combine_find_run(const struct engine_runs *r, enum engine engine,
                                                 unsigned beside, size_t from)
{
    for (size_t i = 0; i < r->runs.count; i++) {
        const struct engine_run *run = &r->runs.at[i];
        if (run->engine == engine && run->beside == beside && run->from == from) return run;
    }
    return NULL;
}

/* Runs an engine beside the engines `some`, from attempt `*at`; `*at`: its result. */
static bool combine_run_engine(const struct search *search, enum engine engine, unsigned some,
                               struct engine_runs *r, size_t *at)
{
    struct search tries = *search;
    struct engine_run run = {engine, some & engines[engine].beside, *at, *at};
    const struct engine_run *before = combine_find_run(r, engine, run.beside, *at);
    if (before) return *at = before->to, true;
    tries.skipped |= ~some;
    tries.tried = &r->tried;
    tries.step = engines[engine].name;
    if (!attempt_copy(search, &r->made.at[*at], &tries.best)) return false;
    bool ok = engines[engine].search(&tries);
    if (ok && nest_set_is_better(&tries.best, &r->made.at[*at])) {
        *at = run.to = r->made.count;
        VEC_PUSH(&r->made, tries.best);
    } else {
        attempt_free(&tries.best);
    }
    VEC_PUSH(&r->runs, run);
    return ok;
}

static bool combine_run_engines(const struct search *search, unsigned some, struct engine_runs *r, size_t *at)
{
    bool ok = true;
    for (enum engine e = 0; ok && e < ENGINE_COUNT; e++)
        if (some >> e & 1) ok = combine_run_engine(search, e, some, r, at);
    return ok;
}

/* A set of engines and its best attempt, one of those made with the search's solver. */
struct engine_set {
    unsigned engines;
    size_t best;
};

/* The runs of all sets of engines. */
struct combination {
    const struct search *search;
    struct engine_runs full, quick; /* with the search's solver; with the quick one */
    VEC(struct engine_set) sets;
};

/* On a large graph a try with the full solver takes seconds: the quick solver searches, and its best is
 * solved once in full. `*at`: the best of all. */
static bool combine_run_quickly(struct combination *c, unsigned some, size_t *at)
{
    struct search tries = *c->search;
    size_t quick = 0;
    tries.effort = effort_quick_solver(c->search);
    if (!c->quick.made.count) {
        const struct decisions *how = &c->full.made.at[*at].draft.how;
        struct decisions plain = {.passes = how->passes, .divided = how->divided};
        struct attempt first;
        if (!try_with(&tries, DRAFTS_MANY, &plain, &first)) return false;
        VEC_PUSH(&c->quick.made, first);
    }
    if (!combine_run_engines(&tries, some, &c->quick, &quick)) return false;
    const struct engine_run *before = combine_find_run(&c->quick, ENGINE_COUNT, 0, quick);
    struct engine_run run = {ENGINE_COUNT, 0, quick, before ? before->to : c->full.made.count};
    if (!before) {
        struct attempt next;
        if (!attempt_copy(c->search, &c->quick.made.at[quick], &next)) return false;
        /* The first decisions were solved in full already. */
        if (quick > 0 && !try_in_full(c->search, &next)) return attempt_free(&next), false;
        VEC_PUSH(&c->full.made, next);
        VEC_PUSH(&c->quick.runs, run);
    }
    if (attempt_is_better(&c->full.made.at[run.to], &c->full.made.at[*at])) *at = run.to;
    return true;
}

/* The best attempt of all subsets of `some` so far. */
static size_t combine_best_within(const struct combination *c, unsigned some)
{
    size_t best = 0;
    for (size_t i = 0; i < c->sets.count; i++) {
        const struct engine_set *set = &c->sets.at[i];
        if (!(set->engines & ~some) && attempt_is_better(&c->full.made.at[set->best], &c->full.made.at[best]))
            best = set->best;
    }
    return best;
}

/* Runs the engines of `some` from the best of their subsets. Nests of large graphs are found by windows,
 * so they need no quicker solver. */
static bool combine_run_set(struct combination *c, unsigned some)
{
    enum { LARGE = 400 };
    const struct search *search = c->search;
    const struct lx_solver *quick = search->request->quick_solver;
    struct engine_set set = {some, combine_best_within(c, some)};
    bool nests_alone = is_large(search) && some == BIT(ENGINE_NESTS);
    bool plain =
        c->full.made.at[set.best].draft.problem.count <= LARGE || !quick || quick == search->effort.solver;
    bool ok = plain || nests_alone ? combine_run_engines(search, some, &c->full, &set.best)
                                   : combine_run_quickly(c, some, &set.best);
    VEC_PUSH(&c->sets, set);
    return ok;
}

/* Offers an attempt with fewer bundles. */
static bool combine_merge(struct search *search, const struct attempt *made)
{
    struct search merging = *search;
    if (!attempt_copy(search, made, &merging.best)) return false;
    bool ok = bundles_merge(&merging);
    if (ok)
        offer_attempt(search, &merging.best);
    else
        attempt_free(&merging.best);
    return ok;
}

/* Runs every subset of the engines that are on, the empty one first. Each starts from the best of its own
 * subsets, so its result does not depend on other engines, and one more pass never makes the plan worse. If
 * bundles are limited, each result is merged at once, so a cancelled search has the result of fewer
 * engines. */
bool combine_engines(struct search *search)
{
    struct combination c = {.search = search};
    unsigned all = engines_on(search);
    struct attempt first;
    bool merges = search->bundles_limited && !asks_time(search);
    if (!all) return !merges || bundles_merge(search);
    if (!attempt_copy(search, &search->best, &first)) return false;
    VEC_PUSH(&c.full.made, first);
    VEC_PUSH(&c.sets, (struct engine_set){0, 0});
    bool ok = !merges || bundles_merge(search);
    /* (some - all) & all is the next subset of the bits of `all`. */
    for (unsigned some = (0 - all) & all; ok && some; some = some == all ? 0 : (some - all) & all) {
        const struct attempt *best = &c.full.made.at[combine_best_within(&c, all)];
        size_t made = c.full.made.count;
        if (!merges && !asks_time(search) && best->hbm_bytes <= best->perfect_bytes) break;
        ok = combine_run_set(&c, some);
        size_t now = c.sets.at[c.sets.count - 1].best;
        if (ok && merges && now >= made) ok = combine_merge(search, &c.full.made.at[now]);
    }
    struct attempt best = c.full.made.at[combine_best_within(&c, all)];
    c.full.made.at[combine_best_within(&c, all)] = (struct attempt){0};
    offer_attempt(search, &best);
    combine_free_runs(&c.full);
    combine_free_runs(&c.quick);
    VEC_FREE(&c.sets);
    return ok;
}

bool combine_from_other_divisions(struct search *search)
{
    bool merges = search->bundles_limited && !asks_time(search);
    if (search_is_beaten(search) || (!engines_on(search) && !merges)) return true;
    return divisions_try_others(search, combine_engines);
}
