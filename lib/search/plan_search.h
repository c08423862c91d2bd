/* The search for a plan of one graph: the best attempt so far, and the one way to make another, try_decisions.
 *
 * Each step of the search (plan/plan_steps.c) tries decisions under which less is moved, or less time is taken, and offers what
 * it gets. An attempt is a value, so nothing is ever undone. */
#ifndef LX_SEARCH_PLAN_SEARCH_H
#define LX_SEARCH_PLAN_SEARCH_H

#include "search/request.h"
#include "stays/draft.h"

struct search;

/* plan/make.c: the best so far becomes a complete plan now and then, and is handed to whoever waits (base/slot.h). */
enum { OFFERS_FROM = 300 }; /* ops: the plan of a smaller graph is there as soon */
struct plan_offers {
    void (*offer)(struct search *search, bool hand_over); /* hand_over: with the memory of the best */
    struct lx_plan *of;                                   /* the plan in the making */
    int64_t bytes; /* of the last one that was offered, and its time; INT64_MAX, INFINITY: none was */
    double us;
};

/* One solved draft. */
struct attempt {
    struct draft draft;
    struct waiting asked;    /* of a lax draft: the problem that the solver was given */
    struct lx_answer answer; /* to that, or to the draft's problem */
    int64_t hbm_bytes;
    double us; /* end to end; known where time is asked for, else 0 */
    /* No placement of the graph with these cuts, order and divisions moves less, however its relayouts are decided. Where
     * all must fit: the solver's own bound. */
    int64_t bound;
    bool open_relayouts;   /* not all ways to decide relayouts were tried */
    int64_t perfect_bytes; /* traffic that no placement of the draft goes below; -1: not measured */
    struct arena *memory;  /* its own; NULL: there is no attempt */
};

/* How relayouts are decided in a try: as the decisions say, or anew, with a few drafts or with many. The last also measures
 * perfect_bytes. */
enum drafts { DRAFTS_AS_DECIDED, DRAFTS_FEW, DRAFTS_MANY };

/* What a try may cost. */
struct effort {
    const struct lx_solver *solver;
    struct lx_run run; /* limits and options of the solver, and who watches it */
    enum drafts drafts;
    int64_t solver_steps; /* that one draft is worth where `run` has no limit; 0: any number */
    bool quick;           /* any legal answer will do: one draft a try, nothing is proved */
    bool one_round;       /* a solver that searches in rounds ends with the first */
};

/* Engines that try whole plans, one after the other (combine.c). */
enum engine { ENGINE_NESTS, ENGINE_ORDER, ENGINE_EVICT, ENGINE_MOVE, ENGINE_COUNT };

struct search {
    const struct lx_divisions *divided; /* the graph as work division alone divides it */
    const struct lx_plan_options *request;
    struct effort effort; /* of a try, unless its step says otherwise */
    struct attempt best;
    unsigned skipped; /* engines that do not run though their passes are on: a bit per enum engine */
    const struct search *whole; /* the graph is a window of this one's; NULL: it is whole */
    int64_t rival_bytes;        /* moved by a plan that there is already; 0: there is none */

    int64_t bound;         /* traffic that no plan goes below, whatever the steps still find */
    double bound_us;       /* and time, where that is asked for */
    bool bound_with_nests; /* nests may be in plans that are still to come, and `bound` holds for them */
    const char *unproved;  /* in words why the bound may not be met; NULL: the solver knows */

    bool first_is_brief;  /* the first plan was made with little effort (first_plan.c), */
    int64_t first_least;  /* and no plan without nests moves less than this */
    bool bundles_limited; /* bundles have more borders than extern ops make (merge_bundles.c) */

    /* divisions.c: what co-optimisation found; divisions of its best plan (NULL: as they are), and others that it tried */
    struct lx_joint joint;
    const struct lx_division *const *divided_anew;
    const struct lx_division *const *tried_last, *const *others[3];
    int other_count;

    struct lx_gain gains[LX_MOST_GAINS];
    int gain_count;
    struct plan_offers *offers; /* to whoever waits for the plan; NULL: none */
    struct arena *memory;       /* the plan's: what decisions point to */
    lx_status *st;
};

/* try.c: the draft of some decisions, solved and weighed by what it really moves. `below`: what moves more is of no use
 * (0: all is), and `out` without memory says that it would. */
bool try_decisions(const struct search *search, const struct decisions *decisions,
                   const struct effort *effort, int64_t below, struct attempt *out);
/* The same with the search's own effort. */
bool try_with(const struct search *search, enum drafts drafts, const struct decisions *decisions,
              struct attempt *out);
/* Tries decisions that differ from the best's in what is on chip only, and offers the attempt. */
bool try_and_offer(struct search *search, const struct decisions *decisions, bool *better);
/* Once more with copies loaded from HBM whose sources found no room, if it may then move as little as `below`. */
bool try_loading_copies(const struct search *search, const struct effort *effort, int64_t below,
                        struct attempt *attempt);
void attempt_free(struct attempt *a);
/* A copy with memory of its own. */
bool attempt_copy(const struct search *search, const struct attempt *from, struct attempt *out);
/* Puts `next` in place of `best` if it takes less time, where that is asked for, or moves less; frees the other. */
bool attempt_keep_better(struct attempt *best, struct attempt *next);

/* try.c: the effort that a request asks for; that with the quick solver instead; that of a search which was stopped and has
 * to end with something. */
struct effort effort_asked(const struct lx_plan_options *request);
struct effort effort_quick_solver(const struct search *search);
struct effort effort_last(const struct search *search);
/* Is the pass of an engine on, and not skipped? */
bool engine_runs(const struct search *search, enum engine engine);
/* Makes `next` the best attempt if it is better, frees the other, and logs which. */
bool offer_attempt(struct search *search, struct attempt *next);
/* The attempt becomes the best, the old one is freed. */
void replace_best(struct search *search, struct attempt *next);

static inline bool search_is_over(const struct search *search)
{
    return lx_run_stopped(&search->effort.run);
}
static inline bool asks_time(const struct search *search)
{
    return search->request->objective == LX_ASK_TIME;
}
/* Does the first draft ask for the least traffic, rather than for all to fit? */
static inline bool asks_traffic(const struct search *search)
{
    return search->best.draft.problem.objective == LX_SPILL;
}
/* Of a graph of more ops each solve takes seconds, and what many of them find beyond two is a hundredth or less. */
enum { LARGE_GRAPH = 2000 };
static inline bool is_large(const struct search *search)
{
    return search->divided->count > LARGE_GRAPH;
}

#endif
