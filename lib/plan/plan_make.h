/* A plan in the making: the functions that fill its parts. Private to lib/plan and lib/planfile. */
#pragma once

#include "clock/program.h"
#include "plan/plan.h"
#include "search/plan_search.h"

/* plan.c: an empty plan with a reference to its graph. */
struct lx_plan *plan_new(const struct lx_graph *g);
/* A plan that shares everything with `p`, but whose status and figures may change. */
struct lx_plan *plan_twin(const struct lx_plan *p);
/* Makes layouts and divisions of the graph; shares those of options->like if they are equal. */
bool plan_divide(struct lx_plan *p, const struct lx_passes *passes, const struct lx_plan_options *options,
                 lx_status *st);
/* Moves a draft into the plan, without addresses; the draft's memory must be the plan's. */
void plan_adopt(struct lx_plan *p, const struct draft *x);
/* Sets every buffer off chip. */
void plan_off_chip(struct lx_plan *p);
/* question.c: the problem of a buffer list; plan_of_list puts it into a plan, all off chip. */
bool problem_of_list(const struct lx_graph *g, enum lx_objective objective, struct lx_problem *out,
                     lx_status *st);
bool plan_of_list(struct lx_plan *p, enum lx_objective objective, lx_status *st);
/* Sets the status of a graph's plan from its bound, whatever the solver said of its last answer. */
void plan_settle(struct lx_plan *p);

/* make.c: plans the graph without rewriting it. `rival`: bytes of a known plan, which wins unless this one
 * moves less; 0: none. */
struct lx_plan *plan_as_written(const struct lx_graph *g, const struct lx_plan_options *options,
                                int64_t rival, lx_status *st);

/* online_plans.c: the better plan, with or without running sums; runs on this thread. */
struct lx_plan *plan_best(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st);
/* A lower bound on the time of plans of the graph that `p` is not of: with running sums, or without. INFINITY:
 * there is no such graph. */
double plan_other_least_us(const struct lx_plan *p, const struct lx_plan_options *how);

/* balanced_plans.c: the same by the objective `balanced`. */
struct lx_plan *plan_fastest(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st);
struct lx_plan *plan_balanced(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st);

/* reasons.c: sets handovers, traffic, totals and reasons of a placed plan. `quickly`: only short reasons. */
void plan_complete(struct lx_plan *plan, bool quickly);
/* plan_totals.c: sets transfers, traffic per op and all sums of a placed plan that has its
 * perfect_hbm_bytes. */
void plan_totals(struct lx_plan *p);
/* The highest end of a placed buffer or of reserved bytes, summed over pools. */
int64_t plan_height(const struct lx_plan *p);
/* Traffic with everything off chip, without the repeated accesses of nests. */
int64_t all_off_chip(const struct draft *x);
/* plan_syncs.c: the plan as the clock reads it; its bundles are in `memory`. */
struct plan_program plan_program_of_plan(const struct lx_plan *p, struct arena *memory);
/* The least syncs of a placed plan; where tensors have addresses in HBM, for these. */
void plan_sync(struct lx_plan *p);
/* How often its cores wait, in all iterations. */
int64_t plan_sync_times(const struct lx_plan *p);
/* Per op, and one more: the first tick from there on before which all cores have met. */
int64_t *plan_next_syncs(const struct lx_plan *p, struct arena *memory);
/* hbm_segments.c: an address in HBM for each tensor that is ever there. */
bool pool_pack(struct lx_plan *plan, const struct lx_solver *solver, bool quickly, lx_status *st);
/* launches.c: sets the launch of each op from its operands' places. */
bool plan_launch_ops(struct lx_plan *p, lx_status *st);
/* plan.c: true if the pattern puts the tensor in lx. */
bool plan_wants_on_chip(const struct lx_plan *p, int32_t tensor);

/* plan_steps.c: runs all steps; `search` then has the best plan and the bound. False: `search->st`. */
bool steps_run(struct search *search);
