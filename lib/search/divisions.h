/* How ops are divided, searched for together with the rest of the plan. */
#ifndef LX_SEARCH_DIVISIONS_H
#define LX_SEARCH_DIVISIONS_H

#include "search/plan_search.h"

/* A step: divisions under which the whole plan moves less, or takes less time (co-optimisation). */
bool divisions_search(struct search *search);
/* Runs `engines` from other divisions on that were tried, too, where the best is not proved. */
bool divisions_try_others(struct search *search, bool (*engines)(struct search *search));

#endif
