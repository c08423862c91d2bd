/* How a plan comes into being, step by step. Private to the stage. */
#ifndef LX_SEARCH_PLANNER_H
#define LX_SEARCH_PLANNER_H

#include "plan/plan.h"
#include "stays/draft.h"

/* One solved draft. */
struct attempt {
    struct draft draft;
    struct waiting asked;    /* of a lax draft: what the solver was asked */
    struct lx_answer answer; /* to that, or to the draft's problem */
    int64_t hbm_bytes;
    double us;     /* end to end; known where time is asked for, else 0 */
    int64_t bound; /* no placement of the graph with these cuts, order and divisions moves less, however its
                              relayouts are decided; where all must fit: the solver's own */
    bool open_relayouts;   /* not all of these decisions were tried */
    int64_t perfect_bytes; /* traffic that no placement of the draft goes below; -1: not measured */
    struct arena *memory;  /* its own */
};

/* A plan in the making: the best attempt so far, and what others are made with. */
struct planner {
    const struct lx_divisions *divided; /* the graph as work division alone divides it */
    const struct lx_plan_options *options;
    const struct lx_plan_options
        *asked; /* where others are tried with, those that count in the end; or NULL */
    const struct lx_plan_options
        *full;    /* of a large graph: what nests of windows are solved with as a whole, once; or NULL */
    bool in_full; /* and they were */
    struct attempt best;
    struct lx_joint joint;                         /* what co-optimisation found */
    const struct lx_division *const *divided_anew; /* the divisions of its best plan, NULL: as they are */
    const struct lx_division *const *tried_last, *const *others[3]; /* and of others that it tried */
    int other_count;
    unsigned
        left_out;   /* searches that are not run though their passes are on: a bit per row of lx_passes() */
    bool nested;    /* nests may be in plans that are still to come, and `bound` is theirs */
    bool is_window; /* the graph is a part of one */
    bool limited;   /* bundles have more borders than extern ops make, and some may be taken away */
    int64_t bound;  /* traffic that no plan goes below, whatever the passes find */
    int64_t enough; /* and none under the decisions that are being tried; 0: not known */
    int64_t beat;   /* bytes of a plan that there is already; 0: none */
    bool brief;     /* solvers that search do so once */
    bool put_off;   /* the best is, or comes from, a brief plan without nests; */
    int64_t plain_least;  /* none of these moves less */
    int64_t spare;        /* steps that the solver should take for one draft where it has no limit; 0: any */
    const char *unproved; /* in words why it may not be met; NULL: the solver knows */
    struct arena *memory; /* the plan's: what decisions point to */
    lx_status *st;
};

/* Of a graph of more ops each solve takes seconds, and what many of them find beyond two is a hundredth or less. */
enum { LARGE_GRAPH = 2000 };
static inline bool is_large(const struct planner *p)
{
    return p->divided->count > LARGE_GRAPH;
}

/* try_plan.c. An attempt under some decisions; what they say of relayouts is decided anew. */
bool attempt_make(const struct planner *p, const struct decisions *how, struct attempt *out);
/* The same with more tries of that, and with what would be moved without limit. */
bool attempt_plain(const struct planner *p, const struct decisions *how, struct attempt *out);
/* Under all of the decisions, as they stand. */
bool attempt_once(const struct planner *p, const struct decisions *how, struct attempt *out);
/* Like attempt_make, if it may move as little as `below` (0: whatever it moves); `out` without memory: it cannot. */
bool attempt_below(const struct planner *p, const struct decisions *how, int64_t below, struct attempt *out);
/* relayouts.c: the best of the ways to decide relayouts; at most `tries` drafts are solved. */
bool relayout_search(const struct planner *p, const struct decisions *how, int tries, struct attempt *out);
/* Steps that one draft of the planner's graph is worth. */
int64_t relayout_steps(const struct planner *p);
void attempt_free(struct attempt *a);
/* The same once more, with memory of its own. */
bool attempt_copy(const struct planner *p, const struct attempt *from, struct attempt *out);
/* Puts `next` in place of `best` if it moves less (where time is asked for: takes less); frees the other. */
bool attempt_keep_better(struct attempt *best, struct attempt *next);
/* Tries decisions that differ from the best's in what is on chip only; better ones become the best. */
bool planner_try(struct planner *p, const struct decisions *how, bool *better);

/* solve_draft.c: the draft of an attempt solved; its bytes and bound. */
bool attempt_solve(const struct planner *by, struct attempt *a);
/* unlinked.c: a problem with charges solved by one who takes none. */
bool solve_unlinked(const struct lx_problem *p, const struct lx_solver *solver, const struct lx_run *run,
                    struct lx_answer *answer, lx_status *st);
/* price_time.c: what a buffer is worth in nanoseconds on one of three clocks; which one counts depends on all of the
 * plan, so that each is tried. `out`: the buffers of the draft, priced; those that cost time on chip are barred. */
enum price { PRICE_LAUNCH, PRICE_DEVICE, PRICE_SLOW, PRICE_COUNT };
bool price_buffers(const struct draft *x, enum price clock, struct lx_buffer *out, lx_status *st);
/* time_bound.c: end-to-end time that no plan of the graph goes below, however it is divided; and none with these
 * divisions (`x`: a draft of the same ops). */
bool time_bound(const struct draft *x, double *us, lx_status *st);
bool time_bound_divided(const struct draft *x, const struct lx_divisions *d, double *us, lx_status *st);
/* merge_bundles.c: takes borders away that the tensors left in HBM do not need. */
bool merge_bundles(struct planner *p);
/* least_time.c: from the best attempt on, other divisions and passes left out, where that takes less time. */
bool least_time_search(struct planner *p);
static inline bool asks_time(const struct planner *p)
{
    return p->options->objective == LX_ASK_TIME;
}

/* pass_sets.c: is a pass that searches on, and is this its search? */
bool planner_is_on(const struct planner *p, const struct lx_pass *row);
bool planner_runs(const struct planner *p, bool (*search)(struct planner *));
/* The passes of one sort in their order; those that try many plans in every set of them; and from other divisions on. */
bool run_searches(struct planner *p, enum lx_pass_tries tries);
bool search_many(struct planner *p);
bool search_others(struct planner *p);

/* plan_bound.c: are there more bundles than extern ops make? */
bool bundles_are_limited(const struct planner *p);
/* What no plan goes below that the passes still to come may find, and in words what keeps it from being more; then what
 * the passes that search cannot go below, where the solver's own bound says less. */
bool planner_find_bound(struct planner *p, bool limited);
bool planner_raise_bound(struct planner *p, bool limited);

/* The searches of passes: each looks for decisions under which less is moved, from the best attempt on. */
bool cooptimise_search(struct planner *p); /* divide_anew.c: how ops are divided */
/* The searches of `search` from other divisions on, too, where the best is not proved. */
bool cooptimise_others(struct planner *p, bool (*search)(struct planner *));
bool reorder_search(struct planner *p); /* reorder.c: the order of the ops */
bool evict_search(struct planner *p);   /* evict.c: where stays are cut */
bool move_search(struct planner *p);    /* move_buffers.c: where stays change their addresses */
bool tile_search(struct planner *p);    /* tile_nests.c: runs of ops that become nests */
/* tile_nests.c: the same decisions solved once more, if less could be moved under them; with less effort where there are
 * nests: the solver's bound is none then. */
bool attempt_in_full(const struct planner *p, struct attempt *a);
/* evict.c: what is moved at least wherever stays are cut. nest_bound.c: whatever is tiled. */
int64_t evict_least(const struct draft *x);
int64_t tile_least(const struct draft *x);
/* plain_later.c: the best becomes a plan without nests, a brief one where nests are looked for; and, unless a plan that moves `found`
 * bytes is better than any without nests (0: none is), one in full where that is better. */
bool plain_begin(struct planner *p, const struct decisions *how);
bool plain_end(struct planner *p, const struct decisions *how, int64_t found);
/* forced_nests.c: the best becomes one with the nests that are asked for. */
bool force_nests(struct planner *p);
/* nest_bound.c: what no plan goes below if nests may be in it; not known where they cannot help. */
bool nest_bound(const struct planner *p, bool *holds, int64_t *bytes);
/* op_order.c: does every op still read what it read before? */
bool reorder_legal(const struct lx_graph *g, const int32_t *order);

/* question.c: the problem of a bare list; and is that of a draft one that a solver and a plan file can take? */
bool problem_of_list(const struct lx_graph *g, enum lx_objective objective, struct lx_problem *out,
                     lx_status *st);
bool draft_valid(const struct draft *x, lx_status *st);

/* passes.c: the passes without what the stage that is asked for leaves out. */
struct lx_passes passes_of_stage(const struct lx_passes *asked);

/* hbm_segments.c: an address in HBM for each tensor that is ever there. */
bool pool_pack(struct lx_plan *plan, const struct lx_solver *solver, bool hasty, lx_status *st);

/* plan.c: a plan with a reference to its graph and nothing else. */
struct lx_plan *plan_new(const struct lx_graph *g);
/* A plan of the graph as it is. `beat`: bytes of another that is taken if this one moves no less; 0: none. */
struct lx_plan *plan_as_written(const struct lx_graph *g, const struct lx_plan_options *options, int64_t beat,
                                lx_status *st);
/* Of a graph it is the plan that is proved or not, whatever the solver says of its last answer. */
void plan_settle(struct lx_plan *p);
/* Layouts and divisions of the plan's graph; those of `like` of the options, where they are the same. `options`: NULL, none. */
bool plan_divide(struct lx_plan *p, const struct lx_passes *passes, const struct lx_plan_options *options,
                 lx_status *st);
/* Takes over what a draft says, with the draft; its memory must be the plan's. No addresses. */
bool plan_adopt(struct lx_plan *p, const struct draft *x, lx_status *st);
/* All off chip. */
bool plan_off_chip(struct lx_plan *p, lx_status *st);
/* A problem of a bare list, all off chip. */
bool plan_of_list(struct lx_plan *p, enum lx_objective objective, lx_status *st);
/* reasons.c: reasons, handovers, traffic and totals of a plan with its problem and addresses. */
bool plan_complete(struct lx_plan *plan, lx_status *st);
/* The same with the same words for all that found no room: to tell why takes longer than the rest. */
bool plan_complete_hastily(struct lx_plan *plan, lx_status *st);
/* The same without the reasons. */
bool plan_places(struct lx_plan *plan, lx_status *st);
/* predict_time.c: the times of each op, whose traffic is known, and of each bundle of the draft. */
bool predict_times(const struct draft *x, const int64_t *address, const struct traffic *t,
                   struct lx_op_traffic *ops, struct lx_bundle *bundles, lx_status *st);
/* Both clocks of a placement. */
struct clocks {
    double device_us, end_to_end_us;
};
/* The same of a placement; `bundles`: zeros, one per bundle of the draft. */
bool draft_bundle_times(const struct draft *x, const int64_t *address, struct lx_bundle *bundles,
                        lx_status *st);
struct clocks bundle_clocks(const struct lx_bundle *bundles, int32_t count);
bool draft_clocks(const struct draft *x, const int64_t *address, struct clocks *out, lx_status *st);
/* stated_memory.c: does the pattern say that the tensor is in lx? */
bool plan_wants_on_chip(const struct lx_plan *p, int32_t tensor);
/* launches.c: how each op is launched, its operands being where they are. */
bool plan_launch_ops(struct lx_plan *p, lx_status *st);
/* plan_totals.c: transfers, per-op traffic and all sums of a plan that has its addresses and its perfect_hbm_bytes. */
bool plan_totals(struct lx_plan *p, lx_status *st);
/* Traffic with nothing on chip, and without nests, which repeat accesses. */
int64_t all_off_chip(const struct draft *x);
/* What no placement of this graph in this order, so divided, goes below, however stays are cut. */
bool perfect_traffic(const struct draft *x, int64_t *bytes, lx_status *st);
/* The same if bundles had no limit of tensors. */
bool borderless_traffic(const struct draft *x, int64_t *bytes, lx_status *st);

#endif
