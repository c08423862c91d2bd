/* What the beam over chains chooses among: a state behind an op, and where it comes from. */
#ifndef LX_COOPTIMISE_CHAIN_CANDIDATES_H
#define LX_COOPTIMISE_CHAIN_CANDIDATES_H

#include "base/checked.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain_node {
    int64_t rank, cost, ahead, load, time, tie; /* tie: what decides among equal ranks */
    int128 owed;                                /* load times the prices up to each one's next op */
    uint64_t hash;
    uint64_t kind; /* which tensors are on chip, whatever their labels */
};

struct chain_candidate {
    struct chain_node then;
    int32_t from, choice, nexts; /* nexts: where its states of the touches begin; no two have the same */
};

/* What the first figures of a candidate say of its place, and where it is. */
struct chain_key {
    int64_t rank, tie;
    size_t at;
};

/* By rank, then what decides among equals; never equal. */
bool chain_before(const struct chain_candidate *a, const struct chain_candidate *b);
/* In that order. `keys`: room for twice as many. */
void chain_sort(struct chain_candidate *list, size_t count, struct chain_key *keys);

#endif
