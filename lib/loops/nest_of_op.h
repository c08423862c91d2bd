/* The loop nest of one tile of an op: the work of a core in one turn of its persistent loop.
 *
 * The loops are the op's variables with the tile's sizes; summed loops merge into one where strides allow.
 * Strides belong to the dense fp32 arrays into which the device packs a tile's operands (tile_operand_order).
 * The device makes its nests by lx_nest_of_tile and runs them after the six passes; lx_nest_of does the same
 * for the first tile of an op of a plan. */
#pragma once

#include "layout/op_index.h"
#include "loops/loops.h"
#include "plan/plan.h"

enum lx_nest_kind {
    LX_NEST_NONE,        /* not covered by the model of nests */
    LX_NEST_CONTRACTION, /* a matmul of any shape: zeroed, then summed */
    LX_NEST_MOVE,        /* elements are moved: clone, restickify, relu */
    LX_NEST_KINDS
};

const char *lx_nest_kind_word(enum lx_nest_kind kind);

struct lx_op_nest {
    enum lx_nest_kind kind;
    const char *why;                /* reason of LX_NEST_NONE; else NULL */
    bool swapped;                   /* in0 is the op's second input: it has the output's fastest dimension */
    bool on_chip[LX_LOOP_OPERANDS]; /* packed from a scratchpad */
    struct lx_loops nest;           /* before any pass */
};

struct op_index;

/* Does the model of nests cover the op? */
enum lx_nest_kind lx_nest_kind_of(const struct lx_op *op, const struct op_index *x);
/* A tile of size[v] elements along each variable v of `x`. Leaves `on_chip` false. False: too many loops. */
bool lx_nest_of_tile(const struct lx_layouts *l, int32_t op, const struct op_index *x, const int64_t *size,
                     struct lx_op_nest *out, lx_status *st);
/* Type of a loop over variable `var`, also for loops around the nest. */
enum lx_loop_type lx_nest_type(const struct lx_op_nest *n, const struct op_index *x, int var);

/* The first tile of the op's launch. False only where the plan has no ops, or a nest would be too large. */
bool lx_nest_of(const struct lx_plan *p, int32_t op, struct lx_op_nest *out, lx_status *st);

/* Layout of a tile's operands while the device computes: dense fp32 arrays, each the box of its operand that
 * the tile touches, in an order that suits the kernels. lx_nest_of_tile and device/execute share it. */

/* Writes the variables of operand `operand` (inputs in order, then the output) of layout `l` to `order`,
 * outermost first; returns their number. An input of a contraction has variables of both inputs outside and
 * its sums inside; a second input whose sticks run along an output dimension has sums before output
 * variables. All others have the order of the output, then sums. */
int tile_operand_order(const struct op_index *x, bool contracts, const struct lx_layout *l, int operand,
                       int *order);
/* stride[v]: elements per step of variable v in a dense box of `size`; 0: the operand lacks v. */
void tile_operand_strides(const int *order, int count, const struct op_index *x, const int64_t *size,
                          int64_t *stride);
