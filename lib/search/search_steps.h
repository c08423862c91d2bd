/* The steps of a search (plan/plan_steps.c has them in order), its engines, and bounds. */
#pragma once

#include "search/plan_search.h"

/* A step: makes a plan without nests; a quick one on a large graph if nests are searched. */
bool first_plan(struct search *search);
/* A step: makes that plan in full, after a quick one; it becomes the best if it moves no more. */
bool first_plan_in_full(struct search *search);

/* A step: other divisions, if the whole plan moves less or takes less time (co-optimisation). */
bool divisions_search(struct search *search);
/* Runs `engines` from other divisions that were tried, if the best plan is not proved optimal. */
bool divisions_try_others(struct search *search, bool (*engines)(struct search *search));

/* A step: runs every subset of the engines that are on. */
bool combine_engines(struct search *search);
/* A step: the same from other divisions that co-optimisation tried. */
bool combine_from_other_divisions(struct search *search);
/* The option of the engine's pass, without dashes. */
const char *engine_option(enum engine engine);

/* An engine: evicts buffers and loads them again, if the plan moves less. */
bool evict_search(struct search *search);
/* A lower bound on traffic under any cuts of stays. */
int64_t evict_least(const struct draft *x);

/* A step: removes borders of bundles that the tensors left in HBM do not require. */
bool bundles_merge(struct search *search);
/* Bundles with stated borders that have more tensors in HBM than the device allows: a placement with some is no
 * plan. */
int32_t bundles_too_large(const struct draft *x, const int64_t *address);
/* True if there are more bundles than extern ops require. */
bool bundles_are_limited(const struct search *search);

/* A step: puts tensors on chip that the pattern wants there (solve_draft.c). */
bool places_stated(struct search *search);

/* A step: issues loads before they are due, if the plan takes less time; its bytes stay. */
bool prefetch_search(struct search *search);
/* Loads operands early that ops would stream from HBM, where there is room and the plan takes less time than
 * `*us`; sets that. */
bool stream_loads(struct search *search, double *us);
/* Lets solvers place operands that are read once and that an op takes far longer to stream than HBM does. */
void stream_slow_operands(struct draft *x);
/* prefetch.c, as far as HBM and bundles allow: the first tick at which a load that is due at `due` may be
 * issued, and whether a load may be issued at `tick`. */
int32_t load_source_ready(const struct draft *x, int32_t tensor, int32_t due);
bool load_may_issue(const struct draft *x, int32_t tick);

/* Steps that set bounds: bounds_with_nests for plans with nests, if nests may help; bounds_find for all plans
 * that the engines may still find, with the reason in `unproved`; bounds_raise by the model of keeping
 * (keep.h), if higher. */
bool bounds_with_nests(struct search *search);
bool bounds_find(struct search *search);
bool bounds_raise(struct search *search);

/* The least traffic with this order and these divisions under any cuts of stays. */
bool perfect_traffic(const struct draft *x, int64_t *bytes, lx_status *st);
/* A lower bound on the traffic of plans with nests, if nests may help. */
bool nest_bound(const struct search *search, bool *may_help, int64_t *bytes);
/* The same for this order of the ops, where tensors share the scratchpads. It takes longer; `known`: bytes of
 * a plan, which the bound does not exceed. */
bool nest_bound_below(const struct search *search, int64_t known, int64_t *bytes);

/* An engine: makes nests of runs of ops, if the plan moves less. */
bool nests_search(struct search *search);
/* A step: makes a plan with the nests of the request. */
bool nests_given(struct search *search);
/* A step: gives each op that exceeds the span limit a nest of its own. False: `st` says what one core would
 * address. */
bool nests_for_spans(struct search *search);
/* Solves an attempt's decisions with full effort (less with nests) unless nothing can be gained; keeps the
 * better. */
bool try_in_full(const struct search *search, struct attempt *attempt);

/* given_nests.c: parses nests: "scores-mixed:h/16,s/64;up-down:f/64", ops by name or number, variables of the
 * first op, outermost level first. Adds them to `list`; an earlier entry of the same run is replaced. */
bool nest_option_set(char list[LX_NESTS_TEXT], const char *text, lx_status *st);
