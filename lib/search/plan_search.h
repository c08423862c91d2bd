/* The search for a plan of one graph: the best attempt so far, and the one function that makes another,
 * try_decisions. Each step (plan/plan_steps.c) offers better attempts. An attempt is a value, so nothing is
 * ever undone. */
#pragma once

#include "search/request.h"
#include "stays/draft.h"

struct search;

/* plan/make.c: offers complete plans to the waiting thread (base/slot.h). */
enum { OFFERS_FROM = 50 }; /* ops: a smaller graph is planned before an offer would pay */
struct plan_offers {
    /* hand_over: the offer takes the best attempt's memory */
    void (*offer)(struct search *search, bool hand_over);
    struct lx_plan *of; /* the plan in the making */
    double began;       /* of planning, by base/clock.h */
    int64_t bytes;      /* of the last offer, as `us`; INT64_MAX, INFINITY: none yet */
    double us;
};

/* One solved draft. */
struct attempt {
    struct draft draft;
    struct waiting asked;    /* of a lax draft: the solver's problem */
    struct lx_answer answer; /* answer to `asked`, or to the draft's problem */
    int64_t hbm_bytes;
    double us; /* end to end, at least request->fast_us, so that faster plans compare by bytes; 0: by bytes */
    /* Lower bound on HBM bytes of any placement with these cuts, order and divisions; if all buffers must
     * fit: the solver's bound. */
    int64_t bound;
    bool open_relayouts;   /* some ways to decide relayouts were not tried */
    int64_t perfect_bytes; /* no placement of the draft moves less; -1: unknown */
    struct arena *memory;  /* owned; NULL: no attempt */
};

/* By time: the next fastest attempts, no two alike. Early loads may make one of them the fastest. Each level
 * of a search has its own runners, so a higher level never loses runners of a lower one. */
enum { RUNNERS = 3, RUNNER_LEVELS = 4, RUNNERS_MOST_OPS = 300 };
struct runners {
    int level;
    struct attempt at[RUNNER_LEVELS][RUNNERS]; /* fastest first; no memory: free */
};

/* By time: attempts of which none is both slower and moves more than another, none much slower than the
 * fastest. */
enum { LEAN = 4 };
struct lean {
    struct attempt at[LEAN];
    int count;
    double slower, fastest_us;
};

/* Decisions that were tried: no plan of theirs moves less, or takes less time, as far as the search could
 * find. */
struct tried {
    uint64_t hash;
    int64_t least;
    double us; /* -1: the try has not ended */
};
typedef VEC(struct tried) tried_list;
/* A hash of order (of `ops`), cuts, nests, holds and tensors apart, begun with `seed`. */
uint64_t decisions_hash(const struct decisions *how, int32_t ops, uint64_t seed);

/* What an attempt must reach to be of use: less time, or at most this time and these bytes. */
struct limit {
    double us;
    int64_t bytes;
};
static const struct limit no_limit = {INFINITY, INT64_MAX};

/* How a try decides relayouts: as given, or with a few or many drafts. DRAFTS_MANY also sets
 * perfect_bytes. */
enum drafts { DRAFTS_AS_DECIDED, DRAFTS_FEW, DRAFTS_MANY };

/* The effort of a try. */
struct effort {
    const struct lx_solver *solver;
    struct lx_run run; /* limits, options and callbacks of the solver */
    enum drafts drafts;
    int64_t solver_steps; /* limit per draft if `run` has none; 0: no limit */
    bool quick;           /* any legal answer will do: one draft a try, no proof */
    bool one_round;       /* a solver that searches in rounds stops after the first */
};

/* Engines that try whole plans, one after the other (combine.c). */
enum engine { ENGINE_NESTS, ENGINE_ORDER, ENGINE_EVICT, ENGINE_MOVE, ENGINE_COUNT };

struct search {
    const struct lx_divisions *divided; /* divisions of the graph by work division alone */
    const struct lx_plan_options *request;
    struct effort effort; /* of a try, unless the step has its own */
    struct attempt best;
    const struct attempt *given; /* the search starts from it; NULL: from the first plan */
    struct runners *runners;     /* NULL: none are kept */
    struct lean *lean;           /* NULL: none are kept */
    tried_list *tried;           /* by try_and_offer, with this effort; NULL: not noted */
    unsigned skipped;            /* a bit per enum engine: does not run though its pass is on */
    const struct search *whole;  /* the search of the whole graph, if this graph is a window; else NULL */
    int64_t rival_bytes;         /* bytes of a known plan; 0: none */

    int64_t bound;         /* no plan moves less, whatever the steps still find */
    double bound_us;       /* the same for time, if that is the objective */
    bool bound_with_nests; /* later steps may use nests, and `bound` covers them */
    const char *step;      /* at work: for reports */
    const char *unproved;  /* why the bound may not be met, in words; NULL: the solver knows */

    /* The first plan was made with little effort (first_plan.c). */
    bool first_is_quick;
    /* No plan without nests moves less. */
    int64_t first_least;
    bool bundles_limited; /* bundles have more borders than extern ops require (merge_bundles.c) */

    /* divisions.c: the result of co-optimisation; divisions of its best plan (NULL: unchanged), and others
     * tried */
    struct lx_joint joint;
    const struct lx_division *const *divided_anew;
    const struct lx_division *const *tried_last, *const *others[3];
    int other_count;

    struct lx_gain gains[LX_MOST_GAINS];
    int gain_count;
    struct plan_offers *offers; /* to the waiting thread; NULL: none */
    struct arena *memory;       /* the plan's: divisions and decisions live in it */
    lx_status *st;
};

/* try.c: makes and solves a draft under some decisions. An attempt beyond the limit is dropped early, and
 * `out` then has no memory. */
bool try_decisions(const struct search *search, const struct decisions *decisions,
                   const struct effort *effort, struct limit limit, struct attempt *out);
/* The same with the search's own effort. */
bool try_with(const struct search *search, enum drafts drafts, const struct decisions *decisions,
              struct attempt *out);
/* Tries decisions with the search's effort and offers an attempt that moves less (or, by time, any); it
 * inherits the best attempt's perfect_bytes. `*better`: it became the best. */
bool try_and_offer(struct search *search, const struct decisions *decisions, bool *better);
/* Tries again with copies loaded from HBM if their ring source found no room, and if that may reach the
 * limit. */
bool try_loading_copies(const struct search *search, const struct effort *effort, struct limit limit,
                        struct attempt *attempt);
/* span_nests.c: ops outside of nests that exceed the span limit. An attempt with such ops is no plan yet. */
int32_t ops_too_wide(const struct draft *x);
/* The traffic of an attempt, plus a penalty per op that is too wide and per bundle that is too large. False: it
 * cannot be counted. */
bool attempt_bytes(const struct draft *x, const int64_t *address, int64_t *bytes);
void attempt_free(struct attempt *a);
/* A copy with memory of its own. */
bool attempt_copy(const struct search *search, const struct attempt *from, struct attempt *out);
/* The most bytes within the limit; INT64_MAX: an attempt that takes less time may move any. */
int64_t limit_bytes(const struct search *search, struct limit limit);
/* True if it takes less time, if that is the objective, then if it moves less. */
bool attempt_is_better(const struct attempt *a, const struct attempt *b);
/* `best` becomes the better of the two, by time if that is the objective; the other is freed. */
bool attempt_keep_better(struct attempt *best, struct attempt *next);

/* try.c: the effort of a request; the same with the quick solver; the effort for a last plan after a
 * cancel. */
struct effort effort_asked(const struct lx_plan_options *request);
struct effort effort_quick_solver(const struct search *search);
struct effort effort_last(const struct search *search);
/* True if the pass of the engine is on and `skipped` is not set. */
bool engine_runs(const struct search *search, enum engine engine);
/* Makes `next` the best attempt if it is better; the other becomes a runner, or is freed. */
bool offer_attempt(struct search *search, struct attempt *next);
/* The time below which an attempt becomes the best one or a runner. */
double useful_us(const struct search *search);
void runners_free(struct runners *runners);
/* lean.c: keeps a copy of the attempt if it is one. lean_take: the one with the fewest bytes; without memory:
 * there is none. */
void lean_note(const struct search *search, const struct attempt *a);
struct attempt lean_take(const struct search *search);
void lean_free(struct lean *lean);
/* Makes `next` the best attempt and frees the old one. */
void replace_best(struct search *search, struct attempt *next);

static inline bool search_is_over(const struct search *search)
{
    return lx_run_stopped(&search->effort.run);
}
/* True if a plan that is known moves no more. */
static inline bool search_is_beaten(const struct search *search)
{
    return search->rival_bytes > 0 && search->best.hbm_bytes >= search->rival_bytes;
}
/* Are attempts compared by time? */
static inline bool asks_time(const struct search *search)
{
    return search->request->objective == LX_ASK_TIME || search->request->objective == LX_ASK_BALANCED;
}
/* The best plan may have dropped copies of inputs to move less; other divisions and bounds start with the
 * requested copies. */
static inline struct lx_passes asked_passes(const struct search *search)
{
    struct lx_passes passes = search->best.draft.how.passes;
    if (!asks_time(search)) passes.clone = passes_of_stage(&search->request->passes).clone;
    return passes;
}
/* True if the problem asks for the least traffic, not for all buffers to fit. */
static inline bool asks_traffic(const struct search *search)
{
    return search->best.draft.problem.objective == LX_SPILL;
}
/* Ops above which a solve takes seconds, and more than two solves gain little. */
enum { LARGE_GRAPH = 2000 };
static inline bool is_large(const struct search *search)
{
    return search->divided->count > LARGE_GRAPH;
}
