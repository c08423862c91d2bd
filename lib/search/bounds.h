/* What no plan goes below. */
#ifndef LX_SEARCH_BOUNDS_H
#define LX_SEARCH_BOUNDS_H

#include "search/plan_search.h"

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

#endif
