/* Where stays are cut. */
#ifndef LX_SEARCH_EVICT_H
#define LX_SEARCH_EVICT_H

#include "search/plan_search.h"

/* An engine: buffers leave the scratchpad and come back, where that moves less. */
bool evict_search(struct search *search);
/* Traffic that no placement goes below wherever stays are cut. */
int64_t evict_least(const struct draft *x);

#endif
