/* Candidates for nests: runs of ops, axes and counts of tiles, with what each would move by load alone.
 *
 * A candidate is priced as if all scratchpads were one, and as if nothing were on chip when it begins: each tensor of the
 * run is read and written in HBM, or held with one of its levels, so that on every tick of the body what is held fits. That
 * is a rough guess: who chooses plans the best few in full. Runs of some dozen ops, three axes, some divisors each. */
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

/* The best by gain, then fewer iterations, fewer levels, the earlier run; of all, and of each run one. In `memory`. */
void nest_candidates(const struct nest_asks *a, struct arena *memory, struct nest_list *all,
                     struct nest_list *runs);

#endif
