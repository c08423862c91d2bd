/* The best few plans with nests that a search goes on from, best first. Private to the stage. */
#ifndef LX_SEARCH_NEST_POOL_H
#define LX_SEARCH_NEST_POOL_H

#include "search/nests/nest_edits.h"

enum { WIDEST_POOL = 12 };

struct nest_pool {
    struct attempt at[WIDEST_POOL];
    bool done[WIDEST_POOL]; /* it was gone on from */
    int count, width;
};

void nest_pool_free(struct nest_pool *b);
/* Takes the attempt over, if it is one of the best and not there already; frees it if not. */
void nest_pool_add(struct nest_pool *b, struct attempt *a);
/* What the set may move to come in; 0: anything. */
int64_t nest_pool_limit(const struct nest_pool *b, const struct nest_set *s);
/* A copy of the first becomes the planner's best, if it is better. */
bool nest_pool_take_best(struct search *search, const struct nest_pool *b, bool *better);

/* nest_chase.c: from every plan of the pool on, changes that could spare what tensors move more than they must; until nothing new
 * comes into the pool. */
void nest_pool_chase(struct search *search, struct nest_menus *menus, struct nest_pool *b, int64_t *tries);

#endif
