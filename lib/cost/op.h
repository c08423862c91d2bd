/* Predicted time of one op: what it moves and what it computes, by the rates of its kind.
 *
 * The whole-program model of torch-spyre's cost_model.py (August and September 2026), one op at a time: time
 * is the larger of compute and memory; what stays on chip is free; pointwise arithmetic hides behind its
 * traffic. */
#ifndef LX_COST_OP_H
#define LX_COST_OP_H

#include "cost/matmul.h"

enum cost_class {
    COST_POINTWISE,
    COST_BROADCAST,
    COST_ROW_REDUCTION,
    COST_OUTER_REDUCTION,
    COST_RESTICKIFY,
    COST_MATMUL,
    COST_OPAQUE,
    COST_CLASS_COUNT
};

struct cost_work {
    enum cost_class kind;
    double read_bytes, written_bytes; /* through HBM; operands that are on chip left out */
    int64_t cores_used;
    int64_t rows; /* of a row reduction */
    double flops; /* of all cores; matmuls have their shape */
    double
        sum_bytes; /* of partial sums that one core passes on over the reduce ring; matmuls have their split */
    /* Matmuls; other kinds leave them alone. */
    struct matmul_shape shape;
    struct matmul_split split;
    int kernel; /* the input that is W: 0 or 1 */
};

/* Time when only some operands go through memory: max(compute, port, sum of their memory) + extra, and
 * back_us more where the sum of a split reduction stays on chip. With all of them it is what cost_op says. */
struct cost_parts {
    double compute_us, extra_us;
    double port_us; /* of what one core reads and writes of all operands: its scratchpad's port */
    double back_us; /* the total of a sum on its way back to the cores that made it */
};

/* Microseconds. */
double cost_op(const struct cost_rates *r, const struct cost_work *w);
/* A copy between HBM and scratchpads. */
double cost_copy(const struct lx_device *d, int64_t bytes);
/* A copy inside each scratchpad of so many bytes on each: read and written through its port. */
double cost_local_copy(const struct lx_device *d, int64_t bytes);
/* `bytes` and `memory_us`: one per operand, the output last. `core_bytes`: what one core reads and writes of
 * all operands. */
void cost_op_parts(const struct cost_rates *r, const struct cost_work *w, int operand_count,
                   const double *bytes, double core_bytes, struct cost_parts *out, double *memory_us);

#endif
