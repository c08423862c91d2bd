/* Where the sticks of an op's operands must run, as a list of ways that the op allows. */
#ifndef LX_LAYOUT_STICK_RULES_H
#define LX_LAYOUT_STICK_RULES_H

#include "layout/op_index.h"

enum {
    STICK_ANY = -2,  /* the op does not look at sticks */
    STICK_NONE = -1, /* no variable along the stick: sparse, or a dimension of one element */
};

struct stick_way {
    int stick_var;  /* of the output; STICK_NONE: none */
    int kernel_row; /* matmul: the summed variable of which a kernel's rows are padded; -1 */
    int kernel;     /* matmul: the operand with those rows */
    bool realigns;  /* elements change their place within the sticks */
    bool turns;     /* a restickify: the input may be in any layout but the output's */
    signed char need[LX_MAX_OPERANDS]; /* per operand: the host dimension of its stick, or one of the above */
};

/* At most this many ways: a stick variable for each, twice (the operands of a matmul may change roles). */
enum { MAX_STICK_WAYS = 2 * LX_MAX_VARS + 2 };

/* The ways in order of preference: aligned before unaligned, the output's last dimension first. */
int stick_ways(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
               struct stick_way *out);

#endif
