/* The first plan, without nests. */
#ifndef LX_SEARCH_FIRST_PLAN_H
#define LX_SEARCH_FIRST_PLAN_H

#include "search/plan_search.h"

/* A step: the best becomes a plan without nests; a brief one where nests are looked for in a graph that is large. */
bool first_plan(struct search *search);
/* A step: the same in full, where it was brief; it becomes the best if it moves no more. */
bool first_plan_in_full(struct search *search);

#endif
