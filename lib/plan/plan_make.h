/* A plan in the making: what its parts are filled in by. Private to lib/plan and lib/planfile. */
#ifndef LX_PLAN_PLAN_MAKE_H
#define LX_PLAN_PLAN_MAKE_H

#include "plan/plan.h"
#include "stays/draft.h"
#include "search/plan_search.h"

/* plan.c: a plan with a reference to its graph and nothing else. */
struct lx_plan *plan_new(const struct lx_graph *g);
/* Layouts and divisions of the graph; shared with `like` of the options where they are the same. */
bool plan_divide(struct lx_plan *p, const struct lx_passes *passes, const struct lx_plan_options *options,
                 lx_status *st);
/* Takes over what a draft says, with the draft; its memory must be the plan's. No addresses. */
void plan_adopt(struct lx_plan *p, const struct draft *x);
/* All off chip. */
void plan_off_chip(struct lx_plan *p);
/* question.c: the problem of a bare list; the same in a plan, all off chip. */
bool problem_of_list(const struct lx_graph *g, enum lx_objective objective, struct lx_problem *out,
                     lx_status *st);
bool plan_of_list(struct lx_plan *p, enum lx_objective objective, lx_status *st);
/* Of a graph it is the plan that is proved or not, whatever the solver says of its last answer. */
void plan_settle(struct lx_plan *p);

/* make.c: a plan of the graph as it is. `rival`: bytes of a plan that is taken if this one moves no less;
 * 0: none. */
struct lx_plan *plan_as_written(const struct lx_graph *g, const struct lx_plan_options *options,
                                int64_t rival, lx_status *st);

/* online_plans.c: the better plan, with or without running sums, made by this thread. */
struct lx_plan *plan_best(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st);

/* reasons.c: handovers, traffic, totals and reasons of a placed plan. `quickly`: without detailed
 * reasons. */
void plan_complete(struct lx_plan *plan, bool quickly);
/* plan_totals.c: transfers, traffic per op and all sums of a placed plan with its perfect_hbm_bytes. */
void plan_totals(struct lx_plan *p);
/* Traffic with nothing on chip, and without nests, which repeat accesses. */
int64_t all_off_chip(const struct draft *x);
/* plan_syncs.c: the least syncs of a placed plan; where tensors have addresses in HBM, for these. */
void plan_sync(struct lx_plan *p);
/* How often its cores wait, in all iterations. */
int64_t plan_sync_times(const struct lx_plan *p);
/* Per op, and one more: the first tick from there on before which all cores have met. */
int64_t *plan_next_syncs(const struct lx_plan *p, struct arena *memory);
/* hbm_segments.c: an address in HBM for each tensor that is ever there. */
bool pool_pack(struct lx_plan *plan, const struct lx_solver *solver, bool quickly, lx_status *st);
/* launches.c: how each op is launched, its operands being where they are. */
bool plan_launch_ops(struct lx_plan *p, lx_status *st);
/* plan.c: does the pattern say that the tensor is in lx? */
bool plan_wants_on_chip(const struct lx_plan *p, int32_t tensor);

/* plan_steps.c: runs all steps; `search` then has the best plan and the bound. False: `search->st`. */
bool steps_run(struct search *search);

#endif
