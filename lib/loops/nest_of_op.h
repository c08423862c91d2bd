/* The loop nest of one tile of an op: what a core does in one turn of its persistent loop.
 *
 * Loops are those of the op's variables, as long as the tile, what is summed as one loop; strides are those
 * of the dense fp32 arrays that the device packs a tile's operands into (tile_operand_order). The device makes
 * its nests by lx_nest_of_tile and runs them after the six passes; lx_nest_of is the same for the first tile
 * of an op of a plan. */
#ifndef LX_LOOPS_NEST_OF_OP_H
#define LX_LOOPS_NEST_OF_OP_H

#include "layout/op_index.h"
#include "layout/layout.h"
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
    bool on_chip[LX_LOOP_OPERANDS]; /* where the operands are packed from */
    struct lx_loops nest;           /* no pass has run yet */
};

struct op_index;

/* Does the model of nests cover the op? */
enum lx_nest_kind lx_nest_kind_of(const struct lx_op *op, const struct op_index *x);
/* A tile of `size` elements along each variable of the op, as `x` numbers them. `on_chip` is left false.
 * False: the nest would be too large. */
bool lx_nest_of_tile(const struct lx_layouts *l, int32_t op, const struct op_index *x, const int64_t *size,
                     struct lx_op_nest *out, lx_status *st);
/* What loops around a nest of the op would be: the type of variable `var`. */
enum lx_loop_type lx_nest_type(const struct lx_op_nest *n, const struct op_index *x, int var);

/* The first tile of the op's launch. False only where the plan has no ops, or a nest would be too large. */
bool lx_nest_of(const struct lx_plan *p, int32_t op, struct lx_op_nest *out, lx_status *st);

/* How the device lays out the operands of a tile while it computes: dense fp32 arrays, each the box of its
 * operand that the tile touches, in an order that suits the kernels. The nest of a tile (nest_of_op.h) and
 * the device that packs operands (device/execute) both go by this. */

/* The variables of operand `operand` (inputs in order, then the output) of layout `l`, outermost first;
 * `order` has room for all of them. A contraction has those of both inputs outside and its sums inside, but
 * for a second input whose sticks run along an output dimension: there they stand before that. All others
 * have the order of the output, then sums. */
int tile_operand_order(const struct op_index *x, bool contracts, const struct lx_layout *l, int operand,
                       int *order);
/* Elements per step of each variable in a dense box of `size` (per variable); 0: the operand has it not. */
void tile_operand_strides(const int *order, int count, const struct op_index *x, const int64_t *size,
                          int64_t *stride);

#endif
