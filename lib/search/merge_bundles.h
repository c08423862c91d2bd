/* Ops that are launched together. */
#ifndef LX_SEARCH_MERGE_BUNDLES_H
#define LX_SEARCH_MERGE_BUNDLES_H

#include "search/plan_search.h"

/* A step: takes borders of bundles away that the tensors left in HBM do not need. */
bool bundles_merge(struct search *search);
/* Are there more bundles than extern ops make? */
bool bundles_are_limited(const struct search *search);

#endif
