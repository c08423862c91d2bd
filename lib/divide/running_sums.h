/* What may be read of a nest's sums before they are complete.
 *
 * A `logsumexp` l over levels of a nest may be read in it by `sub(s, l)` of the very scores s that it is of; the result
 * only by `exp`, and that only by `blend` as its weights, which sums over the same levels: these weights are those of
 * the part of the rows that has been seen, and a blend makes up for the rest when it comes. All of them are in the nest;
 * copies with other sticks count as what they copy. Anybody may read l behind the nest. */
#ifndef LX_DIVIDE_RUNNING_SUMS_H
#define LX_DIVIDE_RUNNING_SUMS_H

#include "divide/op_nest.h"

/* May op `op` of the nest, which reads it, read a tensor whose sum over levels of the nest is incomplete? */
bool nest_reads_running(const struct lx_layouts *l, const struct lx_nest *n, int32_t op, int32_t tensor);
/* Is what the op sums over levels of the nest right in the end: of a blend only where its weights are such? */
bool nest_sums_op(const struct lx_layouts *l, const struct lx_nest *n, int32_t op);

#endif
