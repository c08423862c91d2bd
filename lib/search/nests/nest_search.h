/* The search for nests in one graph or window: a first look, then the rest, so that all windows get a first
 * look before one is searched to its end. Private to the stage. */
#pragma once

#include "search/nests/nest_edits.h"

/* The best few plans with nests, from which a search goes on; best first. */
enum { WIDEST_POOL = 12 };

struct nest_pool {
    struct attempt at[WIDEST_POOL];
    bool done[WIDEST_POOL]; /* the search went on from it */
    int count, width;
};

void nest_pool_free(struct nest_pool *b);
/* Takes the attempt if it is among the best and new; else frees it. */
void nest_pool_add(struct nest_pool *b, struct attempt *a);
/* What the set must reach to enter the pool. */
struct limit nest_pool_limit(const struct nest_pool *b, const struct nest_set *s);
/* If the pool's first attempt is better than search->best, a copy replaces it. */
bool nest_pool_take_best(struct search *search, const struct nest_pool *b, bool *better);

/* nest_chase.c: reduces losses of every plan in the pool, until no new plan enters the pool. */
void nest_pool_chase(struct search *search, struct nest_menus *menus, struct nest_pool *b, int64_t *tries);

/* Ops of graphs so small that every possibility is tried. */
enum { FEW_OPS = 12 };

/* Quarters of the room. */
enum { LEAST_ROOM = 2, ALL_ROOM = 4 };

struct nest_search {
    struct search *search; /* always has the best attempt */
    struct nest_menus *menus;
    struct nest_pool pool;
    int64_t tries, kept, left; /* total; reserved for each later part; left in the current part */
    int quarters;              /* of the room, into which candidates must fit */
    bool better;               /* the last round found a better plan */
};

/* The number of plans to try, if `windows` windows share the effort. */
int64_t nest_search_tries(const struct search *search, int32_t windows);
/* Divides the ops together, then adds one nest or one path of nests. */
bool nest_search_begin(struct nest_search *s, struct search *search, struct nest_menus *menus, int64_t tries,
                       int quarters);
/* Runs the rest of the search. The caller frees `s` in any case. */
bool nest_search_end(struct nest_search *s);
void nest_search_free(struct nest_search *s);
/* If the search was cancelled before it found nests, plans a few of the most promising ones all the same. */
bool nest_search_last(struct search *search, struct nest_menus *menus);
/* The HBM bytes of each op in an attempt. */
int64_t *nest_op_bytes(const struct attempt *a, struct arena *memory);

/* window_search.c: searches nests of a large graph in windows. `full`: effort to solve all nests together
 * once (NULL: the search's own); `*solved_in_full`: that was done. */
bool nest_search_windows(struct search *search, struct nest_menus *menus, const struct effort *full,
                         bool *solved_in_full);
/* nests.c: the better of the two becomes `best`, the other is freed. */
void nest_keep_better(struct attempt *best, struct attempt *next);

struct nest_window {
    int32_t first, last;   /* ops [first, last] of the draft */
    const int32_t *tensor; /* per tensor of the window: its number in the draft */
    struct lx_graph graph;
    struct lx_layouts layouts;
    struct lx_divisions divided;
};

/* Makes a window of a draft without nests. All memory comes from the arena; data of the draft is shared. */
void nest_window_make(const struct draft *x, int32_t first, int32_t last, struct arena *memory,
                      struct nest_window *out);
/* True if both have the same ops on the same tensors. */
bool nest_windows_alike(const struct nest_window *a, const struct nest_window *b);
/* Adds the decisions for a window, or for one like it, to a set of the whole graph; `divided`: the set's. */
bool nest_window_carry(const struct nest_window *w, const struct draft *whole, const struct decisions *found,
                       struct arena *memory, struct nest_set *to, const struct lx_division **divided,
                       lx_status *st);
/* Sets `last` to the last op of each window: at most `most` ops each, cut where few bytes cross; repeated ops
 * are cut alike. */
void nest_windows_cut(const struct draft *x, int32_t most, struct arena *memory, int32_t **last,
                      int32_t *count);
