/* Whole answers: addresses for them, and the best so far. Private to the terms. */
#ifndef LX_COOPTIMISE_TERM_ANSWERS_H
#define LX_COOPTIMISE_TERM_ANSWERS_H

#include "cooptimise/term_network.h"

/* What is on chip in how many bytes, and was found to fit nowhere. */
struct term_misfit {
    const int64_t *bytes;
    bool proved;
};

struct term_answers {
    const struct term_network *n;
    const struct lx_solver *solver;
    struct lx_run run;
    int32_t *choice, *trial_choice; /* per buffer; the best, and the one that is tried */
    int32_t *values;                /* per variable: scratch */
    int64_t *address, *trial_address;
    bool *on;
    int64_t cost; /* of the best */
    int64_t solves;
    VEC(struct term_misfit) misfits;
    struct arena memory;
};

/* Begins with everything off chip, or with `start`, whichever is cheaper. */
void term_answers_make(struct term_answers *a, const struct term_network *n,
                       const struct lx_term_start *start, const struct lx_solver *solver,
                       const struct lx_run *run);
void term_answers_free(struct term_answers *a);
/* Tries the answers of a sweep from the cheapest on, until one can be placed. `*least`: no other costs less.
 */
bool term_answers_of(struct term_answers *a, const struct net_sweep *s, int64_t most_solves, int64_t *least,
                     lx_status *st);

#endif
