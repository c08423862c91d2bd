/* The state of a check of a team's plan. Private to the stage. */
#ifndef LX_TEAM_TEAM_CHECKER_H
#define LX_TEAM_TEAM_CHECKER_H

#include "team/team_private.h"

/* The readers of an exchange. */
struct served {
    int reads;
    int32_t first;
    int64_t separate; /* bytes that all devices lack of these operands, each on its own */
};

struct checker {
    const struct lx_team_plan *p;
    lx_status *st;
    struct tensor_ops reads, writes;
    struct served *served;   /* per exchange */
    int32_t *writer;         /* per tensor: the last op so far that writes it; -1: none */
    unsigned char *pieces;   /* per op: a bit per piece that is done */
    bool *started, *arrived; /* per exchange */
    bool *combined;          /* per op */
};

/* check_states.c: every tensor is complete, in blocks or as partial sums, ... */
bool check_bounds(const struct checker *c);
/* ... op `o` computes its results in their states, of operands in theirs (`writer` is up to date), ... */
bool check_mode(const struct checker *c, int32_t o);
/* ... and behind the last op there are no partial sums that nobody made. */
bool check_partial(const struct checker *c);

#endif
