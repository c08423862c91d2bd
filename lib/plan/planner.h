/* How a plan comes into being, step by step. Private to the stage. */
#ifndef LX_PLAN_PLANNER_H
#define LX_PLAN_PLANNER_H

#include "plan/plan.h"
#include "scratchpad/stays/draft.h"

/* One solved draft. */
struct attempt {
    struct draft draft;
    struct lx_answer answer;
    int64_t hbm_bytes;
    int64_t bound;        /* on its spill, of the draft before anything was taken apart or cut */
    struct arena *memory; /* its own */
};

bool attempt_make(const struct lx_divisions *d, const struct decisions *how,
                  const struct lx_plan_options *options, struct attempt *out, lx_status *st);
/* The same, and again with relayouts taken apart of which only one side found a place. */
bool attempt_plain(const struct lx_divisions *d, const struct decisions *how,
                   const struct lx_plan_options *options, struct attempt *out, lx_status *st);
void attempt_free(struct attempt *a);
/* Puts `next` in place of `best` if it moves less; frees the other. */
bool attempt_keep_better(struct attempt *best, struct attempt *next);

/* evict.c: cuts that lower the traffic; `best` is replaced by better attempts. */
bool evict_search(const struct lx_divisions *d, const struct lx_plan_options *options, struct attempt *best,
                  lx_status *st);
/* reorder.c: another order of the ops in layouts and divisions, if one lowers the traffic. `*order`, in
 * `memory`: per tick the op's former place, or NULL. */
bool reorder_search(struct lx_layouts *l, struct lx_divisions *d, const struct lx_plan_options *options,
                    struct attempt *best, struct arena *memory, const int32_t **order, lx_status *st);
/* Does every op still read what it read before? */
bool reorder_legal(const struct lx_graph *g, const int32_t *order);
/* Op order[t] comes to place t, in all that is kept per op. */
bool reorder_apply(struct lx_layouts *l, struct lx_divisions *d, const int32_t *order, lx_status *st);

/* hbm_segments.c: an address in HBM for each tensor that is ever there. */
bool pool_pack(struct lx_plan *plan, const struct lx_solver *solver, lx_status *st);
/* Does every tensor that is in HBM at the same time have bytes of its own? */
bool pool_check(const struct lx_plan *plan, lx_status *st);

/* plan.c: a plan with a reference to its graph and nothing else. */
struct lx_plan *plan_new(const struct lx_graph *g, lx_status *st);
/* Layouts and divisions of the plan's graph. */
bool plan_divide(struct lx_plan *p, const struct lx_passes *passes, lx_status *st);
/* Takes over what a draft says; the draft's memory must be the plan's. All off chip. */
bool plan_adopt(struct lx_plan *p, const struct draft *x, lx_status *st);
/* A problem of a bare list, all off chip. */
bool plan_of_list(struct lx_plan *p, enum lx_objective objective, lx_status *st);
/* reasons.c: reasons, handovers, traffic and totals of a plan with its problem and addresses. */
bool plan_complete(struct lx_plan *plan, lx_status *st);
/* predict_time.c: fills in the predicted time of each op; the sum. */
double predict_times(const struct draft *x, const int64_t *address, const struct lx_transfer *transfers,
                     int32_t transfer_count, struct lx_op_traffic *ops);
bool attempt_us(const struct attempt *a, double *us, lx_status *st);
/* plan_totals.c: transfers, per-op traffic and all sums of a plan that has its addresses. */
bool plan_totals(struct lx_plan *p, lx_status *st);

/* check_stays.c: every op finds the latest value of what it reads, where it thinks it is. */
bool check_stays(const struct lx_plan *p, lx_status *st);

#endif
