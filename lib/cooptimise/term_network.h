/* The problem of terms.h as a network (network/network.h) of integer tables, one variable a buffer. Private
 * to the terms. Variables are ordered by the start of their lives, copies before their readers. The values of
 * a variable are its choices off chip, then its choices on chip. Bytes are in units of the alignment; costs
 * are multiples of 2^-shift, so sums in any order are equal. */
#pragma once

#include "cooptimise/terms.h"
#include "network/network.h"

struct term_network {
    struct network net;
    const struct lx_term_problem *p;
    int32_t *var_of, *buffer_of; /* per buffer; per variable */
    int32_t **choice;            /* per variable and value: choice of the buffer */
    int shift;
};

bool term_network_make(struct term_network *n, const struct lx_term_problem *p, lx_status *st);

/* term_rules.c: adds the rules for pairs of choices, copies, and shared places. */
bool term_rules_add(struct term_network *n, lx_status *st);
/* True if all rules except those about addresses hold. */
bool term_is_legal(const struct lx_term_problem *p, const int32_t *choice, const bool *on);
/* May a child take the place of this parent under these choices? */
bool term_fits_parent(const struct lx_term_problem *p, const int32_t *choice, int32_t child, int32_t parent);

/* --- Whole answers: their addresses, and the best so far (term_answers.c). --- */

/* Bytes of the buffers on chip for which no placement was found. */
struct term_misfit {
    const int64_t *bytes;
    bool proved;
};

struct term_answers {
    const struct term_network *n;
    const struct lx_solver *solver;
    struct lx_run run;
    int32_t *choice, *trial_choice; /* per buffer: of the best answer; of the one being tried */
    int32_t *values;                /* per variable: scratch */
    int64_t *address, *trial_address;
    bool *on;
    int64_t cost; /* of the best */
    int64_t solves;
    VEC(struct term_misfit) misfits;
    struct arena memory;
};

/* Starts with everything off chip, or with `start` if that is cheaper. */
void term_answers_make(struct term_answers *a, const struct term_network *n,
                       const struct lx_term_start *start, const struct lx_solver *solver,
                       const struct lx_run *run);
void term_answers_free(struct term_answers *a);
/* Places answers of a sweep, cheapest first, until one succeeds. `*least`: no other answer costs less. */
bool term_answers_of(struct term_answers *a, const struct net_sweep *s, int64_t most_solves, int64_t *least,
                     lx_status *st);
