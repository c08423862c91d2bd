/* Ops that choose by indices (LX_CHOOSES): which operand is chosen from, by which others, along which variables.
 *
 *     gather          y[i.., b..] = x[.., index[i..], ..]       chosen from: the first input
 *     dynamic_slice   y[w.., b..] = x[.., start + w, ..]        chosen from: the first input
 *     dynamic_insert  y[.., start + w, ..] = x[w.., b..]        chosen from: the output, the rest of which is kept
 *     scatter         y[.., index[i..], ..] = x[i.., b..]       chosen from: the output, likewise
 *
 * Sizes: one to eight axes, an index operand for each or one for all. */
#ifndef LX_GRAPH_CHOICE_H
#define LX_GRAPH_CHOICE_H

#include "graph/graph.h"

struct lx_choice {
    int operand; /* that is chosen from */
    int other;   /* that is taken from it, or put into it */
    int index, index_count;
    int axis_count;
    int var[LX_MAX_RANK]; /* per axis: the chosen variable */
    int window
        [LX_MAX_RANK]; /* per axis: the variable of `other` that goes on from the start; -1: one position */
    const int64_t *start; /* per axis, where no operand says it; else NULL */
    int vector; /* the variable of the index operand that counts the axes; -1: an operand each, or one axis */
};

/* False: the op chooses nothing. */
bool lx_choice_of(const struct lx_op *op, struct lx_choice *out);
/* Is it a variable of one of the index operands? */
bool lx_choice_by(const struct lx_op *op, const struct lx_choice *c, int v);
/* How often something is chosen: indices, without the one that counts axes. */
int64_t lx_choice_picks(const struct lx_op *op, const struct lx_choice *c);

/* Ops that order elements along an axis (LX_RANKS): the largest of them, or all, and where they stood. */

struct lx_ranking {
    int from;        /* the variable of the input that is ordered */
    int to;          /* that of the output that counts what came out; a sort's is the same */
    bool descending; /* the largest first */
    bool places;     /* of each its place in the input, not itself */
};

/* False: the op orders nothing. */
bool lx_ranking_of(const struct lx_op *op, struct lx_ranking *out);
/* Is a, which stands at `i`, before b at `j`? Equal ones as they stand; what is no number is the largest. */
bool lx_ranks_before(const struct lx_ranking *r, long double a, int64_t i, long double b, int64_t j);

#endif
