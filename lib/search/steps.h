/* The steps of a search (plan/plan_steps.c has them in order), its engines, and bounds. */
#ifndef LX_SEARCH_STEPS_H
#define LX_SEARCH_STEPS_H

#include "search/plan_search.h"

/* A step: the best becomes a plan without nests; a brief one where nests are looked for in a graph that is large. */
bool first_plan(struct search *search);
/* A step: the same in full, where it was brief; it becomes the best if it moves no more. */
bool first_plan_in_full(struct search *search);

/* A step: divisions under which the whole plan moves less, or takes less time (co-optimisation). */
bool divisions_search(struct search *search);
/* Runs `engines` from other divisions on that were tried, too, where the best is not proved. */
bool divisions_try_others(struct search *search, bool (*engines)(struct search *search));

/* A step: every set of the engines that run. */
bool combine_engines(struct search *search);
/* A step: the same from other divisions on that co-optimisation has tried. */
bool combine_from_other_divisions(struct search *search);
/* The option of its pass, without dashes. */
const char *engine_option(enum engine engine);

/* An engine: buffers leave the scratchpad and come back, where that moves less. */
bool evict_search(struct search *search);
/* Traffic that no placement goes below wherever stays are cut. */
int64_t evict_least(const struct draft *x);

/* A step: takes borders of bundles away that the tensors left in HBM do not need. */
bool bundles_merge(struct search *search);
/* Are there more bundles than extern ops make? */
bool bundles_are_limited(const struct search *search);

/* Steps: whether nests may help, and what no plan with nests moves less than; what no plan moves less than that the engines
 * may still find, and in words what keeps this from being more; then the same by the model of keeping (keep.h), where the
 * solver's own bound says less. */
bool bounds_with_nests(struct search *search);
bool bounds_find(struct search *search);
bool bounds_raise(struct search *search);

/* Traffic that no placement of this graph in this order, so divided, goes below, however stays are cut; and the same if
 * bundles had no limit of tensors. */
bool perfect_traffic(const struct draft *x, int64_t *bytes, lx_status *st);
bool borderless_traffic(const struct draft *x, int64_t *bytes, lx_status *st);
/* Traffic that no plan with nests goes below, if they may be in it; where they cannot help it is not looked for. */
bool nest_bound(const struct search *search, bool *may_help, int64_t *bytes);

/* An engine: runs of ops become nests, where that moves less. */
bool nests_search(struct search *search);
/* A step: the best becomes a plan with the nests that are asked for. */
bool nests_given(struct search *search);
/* The decisions of an attempt tried once more with full effort, unless no less can be moved under them; the better stays. With
 * nests less effort is spent: the solver's bound is none then. */
bool try_in_full(const struct search *search, struct attempt *attempt);

/* given_nests.c: nests as they are asked for: "scores-mixed:h/16,s/64;up-down:f/64", ops by name or number, variables as the
 * einsum of a run's first op has them, outermost level first. Adds one or several to `list`, with ';' between them; what was
 * asked for a run before is replaced. */
bool nest_option_set(char list[LX_NESTS_TEXT], const char *text, lx_status *st);

#endif
