/* The nests of a plan as a value that can be edited: nests, holds, and cuts at their ends. Private to the stage. */
#ifndef LX_PLAN_NEST_EDITS_H
#define LX_PLAN_NEST_EDITS_H

#include "plan/planner.h"
#include "scratchpad/nests/nest_candidates.h"

struct nest_set {
    struct decisions how; /* all else; its arrays are shared */
    struct lx_nest *nests;
    struct hold *holds;
    struct cut *cuts;
    int32_t nest_count, hold_count, cut_count;
};

bool nest_set_of(const struct decisions *how, struct arena *memory, struct nest_set *out, lx_status *st);
/* With a candidate more, whose ops are in none of the nests. False: memory is out. */
bool nest_set_add(const struct nest_set *s, const struct nest_candidate *c, struct arena *memory,
                  struct nest_set *out);
/* Plans it; `out` without memory: it is no nest. */
bool nest_set_plan(struct planner *p, const struct nest_set *s, struct attempt *out);
/* Plans it; what is no nest is no better. */
bool nest_set_try(struct planner *p, const struct nest_set *s, bool *better);
/* nest_refine.c: single changes to the best, until none helps or the tries are used up. */
bool nest_set_refine(struct planner *p, int64_t *tries);

#endif
