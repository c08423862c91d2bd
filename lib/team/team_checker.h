/* A team's plan under check: what is known of it so far. Private to the stage. */
#ifndef LX_TEAM_TEAM_CHECKER_H
#define LX_TEAM_TEAM_CHECKER_H

#include "team/team_private.h"
#include "team/tensor_ops.h"

/* Whom an exchange serves. */
struct served {
    int reads;
    int32_t first;
    int64_t separate; /* what all devices lack of these operands, each on its own */
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

/* check_states.c: every tensor is all there, in blocks or in parts of sums, ... */
bool check_bounds(const struct checker *c);
/* ... op `o` computes its results in the state that they are in, of operands in theirs (`writer` is up to date), ... */
bool check_mode(const struct checker *c, int32_t o);
/* ... and behind the last op nothing is in parts that nobody made. */
bool check_partial(const struct checker *c);

#endif
