/* Heavy cliques of a weighted graph: sets of nodes that pairwise exclude each other, so their weights add
 * up. */
#pragma once

#include "base/base.h"

struct clique_graph {
    int32_t count;
    int32_t words; /* of 64 bits per row */
    int64_t *weight;
    uint64_t *rows; /* symmetric */
};

void clique_graph_open(struct clique_graph *g, int32_t count);
void clique_graph_close(struct clique_graph *g);

static inline void clique_graph_join(struct clique_graph *g, int32_t a, int32_t b)
{
    g->rows[(size_t)a * (size_t)g->words + (size_t)(b >> 6)] |= UINT64_C(1) << (b & 63);
    g->rows[(size_t)b * (size_t)g->words + (size_t)(a >> 6)] |= UINT64_C(1) << (a & 63);
}

static inline bool clique_graph_has(const struct clique_graph *g, int32_t a, int32_t b)
{
    return g->rows[(size_t)a * (size_t)g->words + (size_t)(b >> 6)] >> (b & 63) & 1;
}

/* The heaviest clique with `seed`, or the heaviest found in `steps` steps. `members` has room for all;
 * returns their number. */
int32_t clique_through(const struct clique_graph *g, int32_t seed, int64_t steps, int32_t *members);

/* Cliques, stored one after the other. */
struct cliques {
    int32_t count, room, used, member_room;
    int32_t *first; /* count + 1 */
    int32_t *members;
};

/* Finds a clique through every node, each set once. */
void cliques_find(const struct clique_graph *g, int64_t steps, struct cliques *out);
/* Adds the set unless it is stored already. */
void cliques_add(struct cliques *c, int32_t *members, int32_t count);
void cliques_free(struct cliques *c);
