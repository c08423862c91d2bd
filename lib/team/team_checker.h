/* State of the check of a team's plan. Private to the stage. */
#ifndef LX_TEAM_TEAM_CHECKER_H
#define LX_TEAM_TEAM_CHECKER_H

#include "team/team_private.h"

/* Readers of an exchange. */
struct served {
    int reads;
    int32_t first;
    int64_t separate; /* bytes that all devices lack, summed over operands */
};

struct checker {
    const struct lx_team_plan *p;
    lx_status *st;
    struct tensor_ops reads, writes;
    struct served *served;   /* per exchange */
    int32_t *writer;         /* per tensor: its last writer so far, or -1 */
    unsigned char *pieces;   /* per op: a bit per finished piece */
    bool *started, *arrived; /* per exchange */
    bool *combined;          /* per op */
};

/* check_states.c: every tensor is covered by blocks or partial sums. */
bool check_bounds(const struct checker *c);
/* Op `o` computes its results in their states from operands in theirs; needs a current `writer`. */
bool check_mode(const struct checker *c, int32_t o);
/* After the last op: all partial sums have a writer. */
bool check_partial(const struct checker *c);

#endif
