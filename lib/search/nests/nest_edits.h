/* The nests of a plan as a value that can be edited: nests, holds, and cuts at their ends. Private to the stage. */
#ifndef LX_SEARCH_NEST_EDITS_H
#define LX_SEARCH_NEST_EDITS_H

#include "search/plan_search.h"
#include "nests/nest_candidates.h"
#include "nests/nest_menus.h"

enum { EVERY_NEST = -2 };

struct nest_set {
    struct nest_menus *menus;
    struct decisions how; /* all else */
    int32_t op_count;
    struct lx_nest *nests;
    struct hold *holds;
    struct cut *cuts;
    int32_t nest_count, hold_count, cut_count;
    int64_t below; /* what moves more is of no use; 0: all is */
    int32_t
        changed; /* the nest that differs from what was divided before: of many ops only it is divided anew; -1: none,
                     EVERY_NEST: all */
};

/* That of a draft; nothing is shared with it. */
void nest_set_of(const struct draft *x, struct nest_menus *menus, struct arena *memory, struct nest_set *out);
/* With a candidate more, whose ops are in none of the nests. */
void nest_set_add(const struct nest_set *s, const struct nest_candidate *c, struct arena *memory,
                  struct nest_set *out);
void nest_set_drop(const struct nest_set *s, int32_t nest, struct arena *memory, struct nest_set *out);
/* With another nest in place of one; others lose the ops that it takes. */
void nest_set_replace(const struct lx_layouts *l, const struct nest_set *s, int32_t nest,
                      const struct lx_nest *by, struct arena *memory, struct nest_set *out);
/* With a tensor held so in a nest, however it was; that nest is then the one that changed. */
void nest_set_hold(const struct nest_set *s, struct hold h, struct arena *memory, struct nest_set *out);
/* The holds of a nest are the usual ones again. Changes the set's own array. */
void nest_set_forget_holds(struct nest_set *s, int32_t nest);
/* nest_try.c. Plans it; `divide`: anew, else with the divisions that it has. `out` without memory: it is no
 * nest. */
void nest_set_plan(struct search *search, const struct nest_set *s, bool divide, struct attempt *out);
/* The same of nests that are asked for: false with `st` where they cannot be planned. */
bool nest_set_force(struct search *search, const struct nest_set *s, struct attempt *out);
/* The same with the effort that such a plan is worth in the end. */
void nest_set_plan_in_full(struct search *search, const struct nest_set *s, const struct effort *effort,
                           struct attempt *out);
/* Is the best as good as any plan with nests? */
bool nests_suffice(const struct search *search);
/* Less time where that is asked for, less bytes, fewer iterations, fewer levels. */
bool nest_set_is_better(const struct attempt *a, const struct attempt *b);
/* What the set may move to be better than that. */
int64_t nest_set_limit(const struct nest_set *s, const struct attempt *than);
/* Plans it, and makes it the best if it is better. */
bool nest_set_try(struct search *search, const struct nest_set *s);
/* The same nests in less time, if they move no more then. */
void nest_set_quicken(struct search *search, struct nest_menus *menus);
/* nest_refine.c: single changes to the best, until none helps or the tries are used up. */
void nest_set_refine(struct search *search, struct nest_menus *menus, int64_t *tries);
/* The same with the nests as they are: only what is held. */
void nest_set_refine_holds(struct search *search, struct nest_menus *menus, int64_t *tries);

#endif
