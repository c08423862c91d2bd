/* The loop nest of one core's part of an op of a plan.
 *
 * Extents are those of the division: what the core with the largest part has. Strides are those of the
 * memory that an operand is in: of the whole device layout in HBM, of the core's own box of it on chip. A
 * dimension along which sticks run is two loops, over sticks and inside them, more where operands have sticks
 * of different lengths; a part that ends inside a stick walks all of that stick, padding included, as the
 * device does. Where an operand has no room for that, the nest is the one of row-major boxes without padding
 * instead. */
#ifndef LX_LOOPS_NEST_OF_OP_H
#define LX_LOOPS_NEST_OF_OP_H

#include "loops/loops.h"
#include "plan/plan.h"

enum lx_nest_kind {
    LX_NEST_NONE,        /* the model of nests does not cover it */
    LX_NEST_CONTRACTION, /* a matmul of any shape: zeroed, then summed */
    LX_NEST_MOVE,        /* elements are moved: clone, restickify, relu */
    LX_NEST_KINDS
};

const char *lx_nest_kind_word(enum lx_nest_kind kind);

struct lx_op_nest {
    enum lx_nest_kind kind;
    const char *why; /* of LX_NEST_NONE; else NULL */
    bool swapped;    /* in0 is the op's second input: the one that has the output's fastest dimension */
    bool padded;     /* some loops walk padding */
    bool row_major;  /* the strides are of row-major boxes, not of device layouts */
    bool on_chip[LX_LOOP_OPERANDS];
    struct lx_loops nest; /* no pass has run yet */
};

/* False only where the plan has no ops, or a nest would be too large. */
bool lx_nest_of(const struct lx_plan *p, int32_t op, struct lx_op_nest *out, lx_status *st);

#endif
