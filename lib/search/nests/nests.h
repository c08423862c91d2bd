/* Runs of ops in loops over tiles. */
#ifndef LX_SEARCH_NESTS_NESTS_H
#define LX_SEARCH_NESTS_NESTS_H

#include "search/plan_search.h"

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
