/* The steps of the search for a plan: the table is in plan_steps.c. */
#ifndef LX_PLAN_PLAN_STEPS_H
#define LX_PLAN_PLAN_STEPS_H

#include "search/plan_search.h"

struct step {
    const char *name;
    bool (*when)(const struct search *search);
    bool (*run)(struct search *search);
    bool may_be_skipped; /* not begun once the search is to end */
};

/* Runs them all; then `search` has the best plan, and what no plan goes below. False: `search->st`. */
bool steps_run(struct search *search);

#endif
