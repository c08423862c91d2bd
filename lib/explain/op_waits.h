/* Waits of the ops of a plan: the predicted end-to-end time of each, split by the model that made it. Of
 * things that overlap only the longest counts, so that the parts add up to the bundle's and the plan's end-
 * to-end time. Where a launch covers part of the traffic (cost/op.h), the wait for HBM is shorter. */
#ifndef LX_EXPLAIN_OP_WAITS_H
#define LX_EXPLAIN_OP_WAITS_H

#include "explain/moved_bytes.h"

#define LX_WAITS(X)                                                                                          \
    X(LX_WAIT_HBM, "HBM")                                                                                    \
    X(LX_WAIT_LX, "LX")     /* a scratchpad's port, and moves inside it */                                   \
    X(LX_WAIT_RING, "ring") /* relayouts and partial sums */                                                 \
    X(LX_WAIT_COMPUTE, "compute")                                                                            \
    X(LX_WAIT_LAUNCH, "launch")

#define LX_WAIT_ENUM(id, word) id,
enum lx_wait { LX_WAITS(LX_WAIT_ENUM) LX_WAIT_COUNT };
#undef LX_WAIT_ENUM

const char *lx_wait_word(enum lx_wait w);

struct lx_op_wait {
    double us[LX_WAIT_COUNT];
    double of_hbm_us[LX_BYTE_KIND_COUNT]; /* us[LX_WAIT_HBM], by kind of traffic */
    double covered_us;                    /* of HBM that the launch covers: in no part */
    double device_us;                     /* all parts except launch, and covered time */
    double flops;
    double
        hbm_bytes; /* that the time is of: without the padding of tensors, which no matmul's model counts */
};

/* Per operand of an op the share that goes through HBM, 0 to 1: for lx_division_time. */
void lx_plan_hbm_shares(const struct lx_plan *p, int32_t op, double *share);
/* One per op of the graph with layouts; not for lists. Nothing is taken from a plan's claims of time. */
void lx_plan_waits(const struct lx_plan *p, struct lx_op_wait *ops);
/* Sum over ops [0, count). */
struct lx_op_wait lx_waits_sum(const struct lx_op_wait *ops, int32_t count);
double lx_wait_us(const struct lx_op_wait *w);
/* The largest part. */
enum lx_wait lx_wait_longest(const struct lx_op_wait *w);

/* Peaks of a device by its cost table: GB/s of HBM and of all scratchpads, Gflop/s. */
struct lx_roofs {
    double hbm_gb_per_s, lx_gb_per_s, gflop_per_s;
};
struct lx_roofs lx_device_roofs(const struct lx_device *d);

#endif
