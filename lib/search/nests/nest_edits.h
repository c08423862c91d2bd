/* Editable sets of nests: nests, holds, and cuts at their ends. Private to the stage. */
#pragma once

#include "search/plan_search.h"
#include "nests/nest_candidates.h"
#include "nests/nest_menus.h"

enum { EVERY_NEST = -2 };

struct nest_set {
    struct nest_menus *menus;
    struct decisions how; /* all other decisions */
    int32_t op_count;
    struct lx_nest *nests;
    struct hold *holds;
    struct cut *cuts;
    int32_t nest_count, hold_count, cut_count;
    struct limit limit; /* plans beyond it are dropped */
    /* The nest that differs from the last division; on a large graph only its ops are divided again. -1:
     * none, EVERY_NEST: all. */
    int32_t changed;
};

/* The set of a draft; it shares no memory with the draft. */
void nest_set_of(const struct draft *x, struct nest_menus *menus, struct arena *memory, struct nest_set *out);
/* Adds a candidate whose ops are in no nest. */
void nest_set_add(const struct nest_set *s, const struct nest_candidate *c, struct arena *memory,
                  struct nest_set *out);
void nest_set_drop(const struct nest_set *s, int32_t nest, struct arena *memory, struct nest_set *out);
/* Replaces nest `nest` by `by`; other nests lose the ops that `by` takes. */
void nest_set_replace(const struct lx_layouts *l, const struct nest_set *s, int32_t nest,
                      const struct lx_nest *by, struct arena *memory, struct nest_set *out);
/* Sets the hold of a tensor in a nest; that nest becomes `changed`. */
void nest_set_hold(const struct nest_set *s, struct hold h, struct arena *memory, struct nest_set *out);
/* Resets the holds of a nest to the default. Changes the set's own array. */
void nest_set_forget_holds(struct nest_set *s, int32_t nest);
/* nest_try.c. Plans the set, with new divisions if `divide`. `out` without memory: no plan. */
void nest_set_plan(struct search *search, const struct nest_set *s, bool divide, struct attempt *out);
/* The same for given nests; false with `st` if they cannot be planned. */
bool nest_set_force(struct search *search, const struct nest_set *s, struct attempt *out);
/* The same with its own effort and the set's divisions. */
void nest_set_plan_in_full(struct search *search, const struct nest_set *s, const struct effort *effort,
                           struct attempt *out);
/* True if a set was better than all before not long ago. */
bool nest_set_has_news(const struct nest_menus *menus);
/* True if no plan with nests can be better than the best. */
bool nests_suffice(const struct search *search);
/* True if a is better: less time if that is the objective, then fewer bytes, iterations, levels. */
bool nest_set_is_better(const struct attempt *a, const struct attempt *b);
/* What the set must reach to be better than `than`. */
struct limit nest_set_limit(const struct nest_set *s, const struct attempt *than);
/* Plans the set; the plan becomes the best if it is better. */
bool nest_set_try(struct search *search, const struct nest_set *s);
/* Divides the best plan's nests again for time; keeps the plan if it moves no more. */
void nest_set_quicken(struct search *search, struct nest_menus *menus);
/* nest_refine.c: tries single changes to the best plan until none helps or the tries are used up. */
void nest_set_refine(struct search *search, struct nest_menus *menus, int64_t *tries);
/* The same, but changes holds only. */
void nest_set_refine_holds(struct search *search, struct nest_menus *menus, int64_t *tries);
