/* The engines that try whole plans one after the other, combined. */
#ifndef LX_SEARCH_COMBINE_H
#define LX_SEARCH_COMBINE_H

#include "search/plan_search.h"

/* A step: every set of the engines that run. */
bool combine_engines(struct search *search);
/* A step: the same from other divisions on that co-optimisation has tried. */
bool combine_from_other_divisions(struct search *search);
/* The option of its pass, without dashes. */
const char *engine_option(enum engine engine);

#endif
