/* Predicted time of one op: what it moves and what it computes, by the rates of its kind.
 *
 * The whole-program model of torch-spyre's cost_model.py (August and September 2026), one op at a time: time
 * is the larger of compute and memory; what stays on chip is free; pointwise arithmetic hides behind its
 * traffic. */
#ifndef LX_COST_OP_H
#define LX_COST_OP_H

#include "cost/rates.h"

#include <stdbool.h>
#include <stdint.h>

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
};

/* The time taken apart. */
struct matmul_parts {
    double rows, kernel, output; /* delivering A and W, and writing C, each through memory */
    double compute;              /* with nothing hidden behind transfers */
    double shown;                /* what of it transfers do not hide */
    double sums;                 /* reduce steps where K is split */
};

struct matmul_parts matmul_parts_with(const struct cost_rates *r, const struct matmul_shape *s,
                                      const struct matmul_split *p);
double matmul_time_with(const struct cost_rates *r, const struct matmul_shape *s,
                        const struct matmul_split *p);
/* GB/s that one slice of an operand is delivered at, when `sharers` cores want the same slice. */
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

/* --- The second clock: how long a bundle of ops takes from end to end, launch and all, in microseconds.
 *
 * A bundle is launched as one kernel. It takes the larger of two times: the launch, by operands through HBM and cores;
 * and the work of the device. But a bundle that moves no more than was ever measured, and whose ops wait for nothing but
 * HBM, takes its launch, even if that is less than its device time: on Spyre 8.39 MB of operands went in 32.51 us, which
 * is 258 GB/s of a memory whose peak is 204.8. The ops of a nest are launched one by one, each once per iteration, and
 * the runs of ops between nests each once. Compute, transfers slower than the memory, and ring traffic are waited for at
 * any size. --- */

struct cost_bundle {
    int64_t times; /* that it is launched: an op in a nest once per iteration; 0: once */
    int64_t
        operands;  /* that go through HBM: accesses off chip, loads and stores, each once; of all launches */
    int64_t cores; /* of the op with most */
    double hbm_bytes;
    double device_us; /* of its ops and copies, one after the other */
    double busy_us;   /* the same if HBM's own rate were no limit */
};

/* Of so many bytes through HBM, those that the launch does not cover: none up to what was measured, all from
 * a quarter more on, and in between ever more, so that a bundle never takes a leap for one more byte. */
double cost_uncovered(const struct lx_device *d, double bytes);
double cost_launch(const struct lx_device *d, int64_t operands, int64_t cores);
double cost_end_to_end(const struct lx_device *d, const struct cost_bundle *b);

/* Predicted time on the rings between the cores, in microseconds. */

/* A relayout: every core receives `runs` runs of consecutive sticks, `part_bytes` in all, of a tensor that is
 * cut into `parts` along the dimension that changes hands. */
double cost_relayout(const struct lx_device *d, int64_t runs, int64_t parts, int64_t part_bytes);

#endif
