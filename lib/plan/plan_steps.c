/* The search for the plan of a graph, step by step. */
#include "plan/plan_make.h"
#include "search/search_steps.h"
#include "search/time.h"

/* When a step runs. */
enum when {
    ALWAYS,
    NESTS_GIVEN,       /* the request names nests */
    TIME,              /* the objective is time */
    DIVIDES,           /* the pass that divides ops anew is on */
    NESTS,             /* the search may choose nests */
    WITHOUT_NESTS,     /* nests cannot help, and the first plan was made quickly */
    SEARCHES,          /* the request wants more than the first plan, and names no nests */
    ENGINES,           /* some engine is on */
    WITHOUT_NESTS_TOO, /* the first plan, in full, may be better than those with nests */
    OTHER_DIVISIONS,   /* the search tried other divisions */
    BUNDLES,           /* there are more bundles than extern ops force */
    TOO_WIDE,          /* an op outside of nests exceeds the span limit */
    BOUND,             /* the bound may be raised */
    STATED,            /* the pattern wants a tensor in lx that is off chip */
    OVERLAPS,          /* the time of the plan counts, and loads may be issued early */
};

struct step {
    const char *name;
    enum when when;
    bool (*run)(struct search *search);
    bool may_be_skipped; /* once the search is over */
};

/* Each step starts from the best plan so far and keeps it or a better one. combine.c has the engines. */
/* clang-format off */
static const struct step steps[] = {
    {"first plan",                ALWAYS,            first_plan,                   false},
    {"nests asked for",           NESTS_GIVEN,       nests_given,                  false},
    {"least time",                TIME,              least_time_search,            true},
    {"divisions",                 DIVIDES,           divisions_search,             true},
    {"bound with nests",          NESTS,             bounds_with_nests,            false},
    {"plan without nests",        WITHOUT_NESTS,     first_plan_in_full,           false},
    {"bound",                     SEARCHES,          bounds_find,                  false},
    {"nests, order, cuts, moves", ENGINES,           combine_engines,              false},
    {"nests for spans",           TOO_WIDE,          nests_for_spans,              false},
    {"plan without nests",        WITHOUT_NESTS_TOO, first_plan_in_full,           false},
    {"other divisions",           OTHER_DIVISIONS,   combine_from_other_divisions, true},
    {"fewer bundles",             BUNDLES,           bundles_merge,                true},
    {"higher bound",              BOUND,             bounds_raise,                 true},
    {"early loads",               OVERLAPS,          prefetch_search,              true},
    {"stated places",             STATED,            places_stated,                false},
};
/* clang-format on */
_Static_assert(sizeof steps / sizeof *steps <= LX_MOST_GAINS, "a gain per step");

static bool step_lacks_places(const struct attempt *a)
{
    const struct draft *x = &a->draft;
    for (int32_t i = 0; i < x->problem.count; i++)
        if (x->graph->tensors[x->stays[i].tensor].memory == 1 + LX_MEMORY_LX && a->answer.address[i] < 0 &&
            lx_may_be_placed(&x->problem, &x->problem.buffers[i]))
            return true;
    return false;
}

static bool step_is_due(const struct search *s, enum when when)
{
    bool searches = !s->effort.quick && !*s->request->nests, time = asks_time(s);
    switch (when) {
    case ALWAYS: return true;
    case NESTS_GIVEN: return *s->request->nests;
    case TIME: return searches && time;
    case DIVIDES:
        return searches && !time && asks_traffic(s) &&
               s->best.draft.how.passes.cooptimise != LX_COOPTIMISE_NONE;
    case NESTS: return searches && asks_traffic(s) && engine_runs(s, ENGINE_NESTS);
    case WITHOUT_NESTS: return s->first_is_quick && !s->bound_with_nests;
    case SEARCHES: return searches;
    case ENGINES: return !s->effort.quick && asks_traffic(s);
    case WITHOUT_NESTS_TOO: return s->first_is_quick && s->best.hbm_bytes > s->first_least;
    case OTHER_DIVISIONS: return searches && asks_traffic(s) && s->other_count > 0;
    case BUNDLES: return searches && time && s->bundles_limited;
    case TOO_WIDE: return ops_too_wide(&s->best.draft) > 0;
    case BOUND: return searches && asks_traffic(s) && !time;
    case STATED: return asks_traffic(s) && step_lacks_places(&s->best);
    case OVERLAPS:
        return !s->effort.quick && asks_traffic(s) && (time || s->request->overlaps) &&
               s->best.draft.how.passes.prefetch == LX_PREFETCH_AUTO;
    }
    return false;
}

/* The state of a search before its engines run, as a hash: all that their result depends on. */
static uint64_t steps_state(const struct search *s)
{
    const struct attempt *a = &s->best;
    const struct draft *x = &a->draft;
    const struct decisions *how = &x->how;
    struct lx_passes passes = how->passes;
    const int64_t numbers[] = {s->request->objective,  s->rival_bytes, s->given && how->nest_count > 0,
                               x->graph->tensor_count, a->hbm_bytes,   how->loaded_count,
                               how->kept_count};
    const double times[] = {a->us, s->request->fast_us};
    passes.cooptimise = LX_COOPTIMISE_NONE; /* it ran before */
    uint64_t hash = decisions_hash(how, x->graph->op_count, 6);
    hash = hash_bytes(hash, times, sizeof times);
    for (const struct lx_pass *row = lx_passes(); row->name; row++)
        hash = hash_number(hash, lx_pass_get(&passes, row));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) hash = hash_number(hash, numbers[i]);
    for (int32_t o = 0; o < x->graph->op_count; o++) {
        const struct lx_division *d = &x->divisions->at[o];
        for (int i = 0; i < d->split_count; i++) hash = hash_number(hash, d->splits[i].split);
    }
    return hash_words(hash, a->answer.address, (size_t)x->problem.count * sizeof *a->answer.address);
}

static bool steps_state_known(const struct search_states *states, uint64_t state)
{
    for (size_t i = 0; i < states->of.count; i++)
        if (states->of.at[i] == state) return true;
    return false;
}

bool steps_run(struct search *search)
{
    struct search_states *states = search->request->states;
    uint64_t state = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct step *step = &steps[i];
        if (!step_is_due(search, step->when) || (step->may_be_skipped && search_is_over(search))) continue;
        if (step->when == ENGINES && states && !ops_too_wide(&search->best.draft)) {
            state = steps_state(search);
            if (steps_state_known(states, state)) return true;
        }
        search->step = step->name;
        if (!step->run(search)) {
            if (search->st->code != LX_E_STOPPED || !search->best.memory) return false;
            *search->st = (lx_status){0}; /* cancelled: the best so far stands */
        }
        LOG(plan, "%s: HBM %" PRId64 ", bound %" PRId64, step->name, search->best.hbm_bytes, search->bound);
        if (search->offers) search->offers->offer(search, false);
        if (!ops_too_wide(&search->best.draft))
            search->gains[search->gain_count++] =
                (struct lx_gain){step->name, search->best.hbm_bytes, search->best.us};
        if (i == 0) cancel_reserve(0.5); /* a first plan exists */
    }
    if (state && !search_is_over(search)) VEC_PUSH(&states->of, state);
    return true;
}
