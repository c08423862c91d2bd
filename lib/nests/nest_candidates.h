/* Candidates for nests: runs of ops, axes and counts of tiles, with what each would move by load alone. A
 * candidate is priced as if all scratchpads were one, and as if nothing were on chip when it begins: each
 * tensor of the run is read and written in HBM, or held with one of its levels, so that on every tick of
 * the body what is held fits. That is a rough guess: who chooses plans the best few in full. Runs of some
 * dozen ops, three axes, some divisors each. */
#ifndef LX_NESTS_NEST_CANDIDATES_H
#define LX_NESTS_NEST_CANDIDATES_H

#include "nests/axes.h"
#include "stays/draft.h"

struct nest_candidate {
    struct lx_nest nest;
    const struct hold *holds; /* of nest 0: those that differ from the usual; in order of tensors */
    int32_t hold_count;
    int64_t bytes; /* that it is guessed to move */
    int64_t gain;  /* less than now */
};

struct nest_asks {
    const struct draft *now; /* with the nests that there are */
    const int64_t *op_bytes; /* per op: HBM bytes that it moves now */
    int64_t room;            /* bytes of all scratchpads */
    int32_t longest;         /* ops of a run */
    int levels;              /* at most */
    int counts;              /* of tiles per axis */
    int32_t most;            /* candidates that are wanted */
    int32_t most_runs;       /* and runs with their best one; 0: none */
    int64_t least_gain;      /* guesses may be wrong: below 0, they need not promise anything */
};

struct nest_list {
    struct nest_candidate *at;
    int32_t count, most;
};

/* The best by gain, then fewer iterations, fewer levels, the earlier run; of all, and of each run one. In
 * `memory`. */
void nest_candidates(const struct nest_asks *a, struct arena *memory, struct nest_list *all,
                     struct nest_list *runs);

/* Nests over other runs: with ops more or less at either end, with a level more. */

/* The same levels over [first, last], which shares an op with the nest's own run; what is new has the
 * axes by the tensors that it shares. False: an op is not reached,. What else makes it no nest,
 * nest_valid tells. */
bool nest_over(const struct lx_layouts *l, const struct lx_nest *n, int32_t first, int32_t last,
               struct arena *memory, struct lx_nest *out);
/* With a level more before level `at`, of the axis that variable `var` of the first op seeds. False: it
 * is no axis. */
bool nest_deeper(const struct lx_layouts *l, const struct lx_nest *n, int at, int var, int64_t tiles,
                 struct arena *memory, struct lx_nest *out);
/* Without level `at`; two levels changed for each other. */
bool nest_shallower(const struct lx_nest *n, int at, struct arena *memory, struct lx_nest *out);
bool nest_swapped(const struct lx_nest *n, int one, int two, struct arena *memory, struct lx_nest *out);

/* alone.c: HBM bytes that no plan goes below, with nests or without. */
struct alone_asks {
    int64_t room;   /* bytes of all scratchpads together */
    bool any_order; /* ops may change places */
};

/* The sum, over all tensors, of the least that any nests and hold levels let each cost if it were alone
 * on chip. `x`: a draft without nests, in the order of the graph. */
int64_t alone_traffic(const struct draft *x, const struct alone_asks *asks);
/* The same where all has room and ops may change places: what must cross once. */
int64_t crossing_traffic(const struct draft *x);
/* Could a plan with nests move less than every one without? Only if some nest cuts a tensor that two of
 * its ops access, or one of them twice: else a plan without them has all whole stays that it has, and
 * what it has as a tile for one access moves as much off chip. */
bool nests_help(const struct draft *x, bool any_order);

#endif
