/* The question of terms.h as a network (network/network.h) of whole-number tables, one variable a buffer.
 * Private to the terms.
 *
 * Variables stand by the start of their lives, copies before all whom they serve. The values of one are its
 * choices off chip, then those of its choices on chip that may be; bytes are whole units of the alignment.
 * Costs are whole numbers of 2^-shift, so that sums in any order are the same. */
#ifndef LX_COOPTIMISE_TERM_NETWORK_H
#define LX_COOPTIMISE_TERM_NETWORK_H

#include "cooptimise/terms.h"
#include "network/network.h"

struct term_network {
    struct network net;
    const struct lx_term_problem *p;
    int32_t *var_of, *buffer_of; /* per buffer; per variable */
    int32_t **choice;            /* per variable and value */
    int shift;
};

bool term_network_make(struct term_network *n, const struct lx_term_problem *p, lx_status *st);

/* term_rules.c: who agrees with whom, what copies need, who takes whose place. */
bool term_rules_add(struct term_network *n, lx_status *st);
/* Are all rules kept but those of addresses? */
bool term_is_legal(const struct lx_term_problem *p, const int32_t *choice, const bool *on);
/* May a child take the place of this parent under these choices? */
bool term_fits_parent(const struct lx_term_problem *p, const int32_t *choice, int32_t child, int32_t parent);

/* --- Whole answers: their addresses, and the best so far (term_answers.c). --- */

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
