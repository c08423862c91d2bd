/* How the device lays out the operands of a tile while it computes: dense fp32 arrays, each the box of its
 * operand that the tile touches, in an order that suits the kernels. The nest of a tile (nest_of_op.h) and the
 * device that packs operands (device/execute) both go by this. */
#ifndef LX_LOOPS_TILE_OPERANDS_H
#define LX_LOOPS_TILE_OPERANDS_H

#include "layout/layout.h"
#include "layout/op_index.h"

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
