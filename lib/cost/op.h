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
    /* Matmuls; other kinds leave them alone. */
    struct matmul_shape shape;
    struct matmul_split split;
    int kernel; /* the input that is W: 0 or 1 */
};

/* Time when only some operands go through memory: max(compute, sum of their memory) + extra. With all of them
 * it is what cost_op says. */
struct cost_parts {
    double compute_us, extra_us;
};

/* One constant per row; `origin` says where it is from. */
struct cost_constant {
    const char *name;
    double value;
    const char *unit, *origin;
};

enum cost_constant_id {
    COST_ONE_WAY,    /* GB/s of HBM in one direction */
    COST_TURNAROUND, /* ns per byte that goes both ways */
    COST_ROW_FLOOR,
    COST_ROW_GAIN,
    COST_ROW_SCALE,
    COST_OUTER,
    COST_RESTICK,
    COST_BROADCASTS,
    COST_CONSTANT_COUNT
};

extern const struct cost_constant cost_constants[COST_CONSTANT_COUNT];

/* Microseconds. */
double cost_op(const struct cost_work *w);
/* `bytes` and `memory_us`: one per operand, the output last. `core_bytes`: what one core reads and writes of
 * all operands, which takes its scratchpad port at least some time however little goes through memory. */
void cost_op_parts(const struct cost_work *w, int operand_count, const double *bytes, double core_bytes,
                   double lx_gb_per_s, struct cost_parts *out, double *memory_us);

#endif
