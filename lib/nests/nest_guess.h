/* What a nest would move, by load alone. Private to the stage. */
#ifndef LX_NESTS_NEST_GUESS_H
#define LX_NESTS_NEST_GUESS_H

#include "nests/nest_candidates.h"

/* One tensor of a run, whatever its nest. */
struct run_tensor {
    int32_t tensor, first, last; /* ticks of its accesses in the run */
    int32_t reads, writes;       /* accesses */
    int64_t bytes;               /* whole */
    bool made, wanted;           /* by an op of the run; and after it */
    bool gives_way;              /* the last op may write over it */
    signed char dim[MOST_AXES];  /* per axis of the run: the dimension that it indexes, or -1 */
    bool summed[MOST_AXES];      /* the op that makes it sums over the axis */
};

/* One way to have a tensor. */
struct hold_way {
    bool is;
    int64_t bytes, cost;
    int32_t from, to; /* ticks of the run */
};

/* All ways to have a tensor, by hold; and while holds are chosen the cheapest that fits beside what is
 * there. */
struct tensor_ways {
    struct hold_way at[LX_MAX_LEVELS + 1];
    int64_t off;  /* what it costs in HBM */
    int best;     /* -1: HBM */
    double worth; /* what a byte of that saves per tick */
};

/* Guesses of nests with levels that cut axes `axis` into `tiles`. */
struct guessing {
    const struct run_tensor *t;
    int32_t count, first, last; /* tensors; and ops of the run */
    int levels;
    const int *axis;
    const int64_t *tiles;
    int64_t room;
    int64_t *load;            /* per op of the run */
    struct tensor_ways *ways; /* per tensor */
    signed char *hold;        /* per tensor: its level; -1: HBM */
};

/* Tensors of the run that cost the same byte by byte, whatever the tiles, as one: `groups` has room for
 * all of them. */
int32_t nest_guess_groups(const struct guessing *g, struct run_tensor *groups);
/* Bytes that such a nest moves at least, if all had room. */
int64_t nest_guess_least(const struct guessing *g, const struct run_tensor *groups, int32_t count);
/* Bytes that it moves by load, with the holds. */
int64_t nest_guess(const struct guessing *g);

#endif
