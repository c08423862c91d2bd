/* What a nest would move, by load alone. Private to the stage. */
#ifndef LX_SCRATCHPAD_NESTS_NEST_GUESS_H
#define LX_SCRATCHPAD_NESTS_NEST_GUESS_H

#include "scratchpad/nests/nest_candidates.h"

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

/* Guesses traffic and holds (one level per tensor; -1: HBM) of levels that cut axes `axis` into `tiles`. */
struct guess {
    int64_t bytes;
    signed char *hold; /* per tensor of the run */
};
void nest_guess(const struct run_tensor *t, int32_t count, int32_t first, int32_t last, int levels,
                const int *axis, const int64_t *tiles, int64_t room, int64_t *load, struct guess *out);

#endif
