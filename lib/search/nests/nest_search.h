/* The search for nests in one graph or window, in two parts: what a first look gives, and all that comes after it. Of many windows
 * all can so be looked at before the first is searched to its end. Private to the stage. */
#ifndef LX_SEARCH_NEST_SEARCH_H
#define LX_SEARCH_NEST_SEARCH_H

#include "search/nests/nest_edits.h"

/* The best few plans with nests that a search goes on from, best first. */
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
/* Cancelled before any nests were found: a few plans with those that promise most are made all the same. */
bool nest_search_last(struct search *search, struct nest_menus *menus);
/* What each op moves in an attempt. */
int64_t *nest_op_bytes(const struct attempt *a, struct arena *memory);

/* window_search.c: nests of a graph of many ops, looked for in windows. */
/* `full`: they are solved as a whole with this, once (NULL: as they are tried); `*solved_in_full`: they were. */
bool nest_search_windows(struct search *search, struct nest_menus *menus, const struct effort *full,
                         bool *solved_in_full);
/* nests.c: the better of the two becomes `best`, the other is freed. */
void nest_keep_better(struct attempt *best, struct attempt *next);

struct nest_window {
    int32_t first, last;   /* ops of the draft */
    const int32_t *tensor; /* per tensor of the window: that of the draft */
    struct lx_graph graph;
    struct lx_layouts layouts;
    struct lx_divisions divided;
};

/* The ops of a draft without nests; all memory is the arena's, and what the draft has is shared. */
void nest_window_make(const struct draft *x, int32_t first, int32_t last, struct arena *memory,
                      struct nest_window *out);
/* Do both have the same ops on the same tensors? */
bool nest_windows_alike(const struct nest_window *a, const struct nest_window *b);
/* What was decided for the window (or one like it) goes into a set of the whole, behind what it has. `divided`: the set's. */
bool nest_window_carry(const struct nest_window *w, const struct draft *whole, const struct decisions *found,
                       struct arena *memory, struct nest_set *to, const struct lx_division **divided,
                       lx_status *st);
/* Where windows end: per window its last op. At most `most` ops each, where little crosses; the same for what repeats. */
void nest_windows_cut(const struct draft *x, int32_t most, struct arena *memory, int32_t **last,
                      int32_t *count);

#endif
