/* Partial choices of what to keep (keep_search.c), as many as there are behind one op: a layer. Private to the
 * search. */
#ifndef LX_SEARCH_KEEP_LAYERS_H
#define LX_SEARCH_KEEP_LAYERS_H

#include "search/keep.h"

struct keep_held {
    int32_t tensor;
    enum keep_state state;
};

struct keep_node {
    int64_t cost, bytes; /* so far; on chip */
    double rest;         /* of what is to come, priced */
    double least;        /* of any choice that goes on from here */
    int32_t parent, op;
    uint32_t at, count;           /* what is held: in the pool of its layer, by tensor */
    const struct keep_held *held; /* the same of one that stayed */
    uint64_t done;                /* ops; any order only */
};

/* One in the making. */
struct keep_list {
    VEC(struct keep_node) nodes;
    VEC(struct keep_held) pool;
};

/* The most promising first: the least that any choice costs that goes on from there. */
void keep_sort_by_promise(struct keep_list *l);
/* Of nodes that hold the same the cheapest stays: they stand by promise, which is then by cost. `*merged`: there were
 * such. False when memory is out. */
bool keep_merge_same(struct keep_list *l, bool *merged);

#endif
