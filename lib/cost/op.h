/* Predicted time of one op by the rates of its kind: the whole-program model of torch-spyre's cost_model.py
 * (August and September 2026). Time is the larger of compute and memory; operands on chip are free; pointwise
 * arithmetic hides behind its traffic. */
#pragma once

#include "cost/rates.h"

/* --- Predicted time of one matmul under one division of its work, in microseconds (matmul.c). --- */

/* C[b,m,n] = sum over k of A[b,m,k] * W[b,k,n]; a shared weight has no b. */
struct matmul_shape {
    int64_t b, m, n, k;
    bool shared_weight;
    int64_t operand_bytes, output_bytes; /* of one element */
    int64_t cores;                       /* of the device */
    int64_t stick_elements;
};

struct matmul_split {
    int64_t b, m, n, k;
    double imbalance; /* as in struct cost_work */
};

struct matmul_parts {
    double rows, kernel, output; /* delivering A and W, and writing C, each through memory */
    double compute;              /* with nothing hidden behind transfers */
    double shown;                /* part of `compute` that transfers do not hide */
    double sums;                 /* reduce steps where K is split */
};

struct matmul_parts matmul_parts_with(const struct cost_rates *r, const struct matmul_shape *s,
                                      const struct matmul_split *p);
double matmul_time_with(const struct cost_rates *r, const struct matmul_shape *s,
                        const struct matmul_split *p);
/* GB/s of one slice of an operand that `sharers` cores want. */
double matmul_slice_rate(const struct cost_rates *r, double sharers);

/* --- Ops. --- */

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
    double read_bytes, written_bytes; /* through HBM, without operands on chip */
    int64_t cores_used;
    double imbalance;     /* by which share the largest core's part exceeds the mean */
    int64_t rows;         /* of a row reduction */
    double flops;         /* of all cores; matmuls have their shape */
    bool contracts;       /* each core takes its parts of the inputs, whoever else takes them */
    int folds, functions; /* reductions of it, and exponentials or the like */
    double sum_bytes;     /* partial sums that one core sends over the reduce ring; unused for matmuls */
    /* Matmuls only. */
    struct matmul_shape shape;
    struct matmul_split split;
    int kernel; /* the input that is W: 0 or 1 */
};

/* Time when only some operands go through memory: max(compute, port, sum of their memory) + extra, and
 * back_us more where the sum of a split reduction stays on chip. */
struct cost_parts {
    double compute_us, extra_us;
    double port_us;  /* one core's reads and writes of all operands, through its scratchpad's port */
    double back_us;  /* returning the total of a sum to the cores that made it */
    double fixed_us; /* part of extra_us that is the same however the op is divided */
};

/* What a core sends of a sum in `parts` parts, as a multiple of its result. */
double cost_sum_parts(bool shares, double parts);
double cost_op(const struct cost_rates *r, const struct cost_work *w);
double cost_copy(const struct lx_device *d, int64_t bytes);
/* A copy of `bytes` within each scratchpad: read and written through its port. */
double cost_local_copy(const struct lx_device *d, int64_t bytes);
/* `bytes`, `memory_us`: per operand, the output last. `core_bytes`: likewise, of one core. */
void cost_op_parts(const struct cost_rates *r, const struct cost_work *w, int operand_count,
                   const double *bytes, const double *core_bytes, struct cost_parts *out, double *memory_us);

/* --- Bundles. A bundle is launched as one kernel. The host prepares it while the device works, but not all
 * of that is hidden: cost_end_to_end is a soft maximum of the two, at most 9 % above the larger. A sharp one
 * would let one percent more bytes cost four percent more time where the device overtakes the launch. --- */

/* Bytes of a plan's HBM traffic that reach the memory. On Spyre 8.39 MB of operands went in 32.51 us, above
 * the memory's peak rate. So a plan has a credit of bytes that cost no HBM time. It fades out linearly. */
double cost_charged_bytes(const struct lx_device *d, double bytes);
/* The most bytes per microsecond that any access has through HBM. */
double cost_hbm_rate(const struct lx_device *d);
/* The launch of a bundle with so many operands through HBM, on the cores of its widest op. */
double cost_launch(const struct lx_device *d, int64_t operands, int64_t cores);
double cost_end_to_end(double launch_us, double device_us);

/* Predicted time on the rings between the cores, in microseconds. */

/* Every core receives `runs` runs of consecutive sticks, `part_bytes` in all, of a tensor cut into
 * `parts`. */
double cost_relayout(const struct lx_device *d, int64_t runs, int64_t parts, int64_t part_bytes);
