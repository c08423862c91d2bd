/* Ops that choose by indices (LX_CHOOSES): the operand chosen from, its index operands, and the chosen
 * variables.
 *
 *     gather          y[i.., b..] = x[.., index[i..], ..]     chosen from: the first input
 *     dynamic_slice   y[w.., b..] = x[.., start + w, ..]      chosen from: the first input
 *     dynamic_insert  y[.., start + w, ..] = x[w.., b..]      chosen from: the output, whose rest is kept
 *     scatter         y[.., index[i..], ..] = x[i.., b..]     chosen from: the output, likewise
 *
 * Sizes: one to eight axes, with one index operand per axis or one for all. */
#pragma once

#include "graph/graph.h"

struct lx_choice {
    int operand; /* the operand chosen from */
    int other;   /* the operand that receives, or provides, the chosen elements */
    int index, index_count;
    int axis_count;
    int var[LX_MAX_RANK];    /* per axis: the chosen variable */
    int window[LX_MAX_RANK]; /* per axis: the variable of `other` counted from the start; -1: one position */
    const int64_t *start;    /* per axis, if no operand gives the start; otherwise NULL */
    /* the variable of the index operand that counts axes; -1: one operand per axis, or one axis */
    int vector;
};

/* False: the op does not choose. */
bool lx_choice_of(const struct lx_op *op, struct lx_choice *out);
/* Whether `v` is a variable of an index operand. */
bool lx_choice_by(const struct lx_op *op, const struct lx_choice *c, int v);
/* The number of choices: indices, without the variable that counts axes. */
int64_t lx_choice_picks(const struct lx_op *op, const struct lx_choice *c);

/* Ops that order elements along an axis (LX_RANKS): all or the largest, or their positions. */

struct lx_ranking {
    int from;        /* the ordered variable of the input */
    int to;          /* the variable of the output that counts results; equals `from` in a sort */
    bool descending; /* the largest first */
    bool places;     /* results are positions in the input, not elements */
};

/* False: the op does not order. */
bool lx_ranking_of(const struct lx_op *op, struct lx_ranking *out);
/* Whether `a` at position `i` comes before `b` at `j`. Equal elements keep their order; NaN is the
 * largest. */
bool lx_ranks_before(const struct lx_ranking *r, long double a, int64_t i, long double b, int64_t j);
