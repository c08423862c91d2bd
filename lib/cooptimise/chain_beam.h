/* The search over chains: ops in their order, the best `width` states behind each. */
#ifndef LX_COOPTIMISE_CHAIN_BEAM_H
#define LX_COOPTIMISE_CHAIN_BEAM_H

#include "cooptimise/chain.h"

struct chain_beam_options {
    int32_t width, answers; /* answers: at most so many of the last states are traced back */
    int32_t of_a_kind; /* at most so many states with the same tensors on chip come first; 0: as they rank */
    bool by_time;      /* among equals the fastest comes first, else the one that leaves most room */
    int64_t capacity;  /* at most that of the model; below it nothing is proved */
    int64_t cut;       /* what costs as much is of no use */
    int64_t step_limit;
    const struct lx_run *run;
    double deadline; /* seconds of the monotonic clock; 0: none */
};

struct chain_beam_result {
    bool exact, stopped; /* exact: nothing was dropped but by `cut` */
    int64_t bound;       /* on everything that costs less than `cut`; at most `cut` */
    int64_t steps;
    int32_t found;   /* answers, best first */
    int32_t *choice; /* per answer and op, of the model; from the caller */
    int64_t *bytes;  /* per answer */
};

bool chain_beam(const struct chain_model *m, const struct chain_beam_options *how,
                struct chain_beam_result *out, lx_status *st);

#endif
