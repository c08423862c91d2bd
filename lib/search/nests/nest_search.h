/* The search for nests in one graph or window, in two parts: what a first look gives, and all that comes after it. Of many windows
 * all can so be looked at before the first is searched to its end. Private to the stage. */
#ifndef LX_SEARCH_NEST_SEARCH_H
#define LX_SEARCH_NEST_SEARCH_H

#include "search/nests/nest_pool.h"

/* Ops of graphs so small that all that is possible is tried. */
enum { FEW_OPS = 12 };

struct nest_search {
    struct search *search; /* its best is that of the search at any time */
    struct nest_menus *menus;
    struct nest_pool pool;
    int64_t tries, kept, left; /* in all; a share for each later part; of the part that is under way */
    int quarters;              /* of the room, that candidates are guessed to fit into */
    bool better;               /* the last round of one nest more was */
};

/* Plans that may be tried of the planner's ops, if as many such are looked at. */
int64_t nest_search_tries(const struct search *search, int32_t windows);
/* The ops divided together, and one nest or path of nests more. */
bool nest_search_begin(struct nest_search *s, struct search *search, struct nest_menus *menus, int64_t tries);
/* All the rest. Whether it came to that or not, the memory is given back. */
bool nest_search_end(struct nest_search *s);
void nest_search_free(struct nest_search *s);
/* Stopped before any nests were found: a few plans with those that promise most are made all the same. */
bool nest_search_hastily(struct search *search, struct nest_menus *menus);
/* What each op moves in an attempt. */
int64_t *nest_op_bytes(const struct attempt *a, struct arena *memory);

/* window_search.c: nests of a graph of many ops, looked for in windows. */
/* `full`: they are solved as a whole with this, once (NULL: as they are tried); `*solved_in_full`: they were. */
bool nest_search_windows(struct search *search, struct nest_menus *menus, const struct effort *full,
                         bool *solved_in_full);
/* nests.c: the better of the two becomes `best`, the other is freed. */
void nest_keep_better(struct attempt *best, struct attempt *next);

#endif
