/* The state of the search of a pile; see pile_search.c for the idea and the proof. */
#ifndef LX_SOLVERS_EXACT_GENERAL_PILE_SEARCH_H
#define LX_SOLVERS_EXACT_GENERAL_PILE_SEARCH_H

#include "base/rng.h"
#include "base/vec.h"
#include "exact/general/pile.h"

struct pile_change {
    int64_t *where, old;
};

struct pile_search {
    const struct pile *p;
    const struct cliques *cliques;
    int64_t *weight; /* of an item in a clique: the least gap it needs below a partner */
    int64_t *low;    /* the address is at least this */
    int64_t *base;   /* the address, or -1 */
    int64_t *waits;  /* the free address that it does not take, or -1: some partner will lie across it */
    int64_t *left;   /* per clique: the weight of what is not placed */
    double *rank;
    int32_t *twin; /* an equal item that comes first, or -1 */
    int32_t *first_in, *in;
    bool *dirty;
    VEC(int32_t) queue;
    VEC(struct pile_change) trail;
    struct rng rng;
    int rule;
    int64_t nodes, most_nodes;
    bool (*stop)(void *context);
    void *context;
};

void pile_search_open(struct pile_search *s, const struct pile *p, const struct cliques *cliques);
void pile_search_close(struct pile_search *s);
/* From the root; at most `nodes` nodes. */
enum fit_result pile_search_run(struct pile_search *s, int rule, uint64_t seed, int64_t nodes);

#endif
