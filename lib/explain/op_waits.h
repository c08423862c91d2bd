/* Waits of ops: the predicted end-to-end time of each by cause, as the clock has it. Of what goes on at once
 * only what moves the plan's end counts, so the sums are the bundle's and the plan's time. */
#pragma once

#include "clock/replay.h"
#include "plan/plan.h"

/* Kinds of traffic. Each tensor has one kind, so the kinds add up. */
#define LX_BYTE_KINDS(X)                                                                                     \
    X(LX_BYTES_WEIGHTS, "weights")                                                                           \
    X(LX_BYTES_INPUTS, "inputs")                                                                             \
    X(LX_BYTES_OUTPUTS, "outputs")                                                                           \
    X(LX_BYTES_INTERMEDIATES, "intermediates") /* off chip, wholly or part of the time; barred ones too */   \
    X(LX_BYTES_RELAYOUTS, "relayouts")         /* outputs of restickify ops, off chip */                     \
    X(LX_BYTES_SPILLS, "spills")               /* buffer lists: costs of buffers off chip */                 \
    X(LX_BYTES_LINKED, "linked costs")         /* buffer lists: costs of several buffers together */

#define LX_BYTE_KIND_ENUM(id, word) id,
enum lx_byte_kind { LX_BYTE_KINDS(LX_BYTE_KIND_ENUM) LX_BYTE_KIND_COUNT };
#undef LX_BYTE_KIND_ENUM

const char *lx_byte_kind_word(enum lx_byte_kind k);
/* The kind of a tensor of the graph with layouts. */
enum lx_byte_kind lx_tensor_bytes_for(const struct lx_layouts *l, int32_t tensor);

/* Bytes per kind; the sum is figures.hbm_bytes. */
struct lx_byte_sums {
    int64_t bytes[LX_BYTE_KIND_COUNT];
};

/* HBM bytes per buffer (`moved` has problem.count): of accesses off chip, or of loads and stores; of a buffer
 * list the spill cost. Accesses that no stay serves count for the tensor's first buffer. */
void lx_plan_moved(const struct lx_plan *p, int64_t *moved);
struct lx_byte_sums lx_plan_byte_sums(const struct lx_plan *p, const int64_t *moved);

struct lx_op_wait {
    double us[LX_WAIT_COUNT];
    double of_hbm_us[LX_BYTE_KIND_COUNT]; /* us[LX_WAIT_HBM], by kind of traffic */
    double device_us;                     /* us[] except launch */
    double flops;
    double hbm_bytes; /* without padding, which no matmul's cost model counts */
};

/* Per operand of an op: the share that goes through HBM, 0 to 1; for lx_division_time. */
void lx_plan_hbm_shares(const struct lx_plan *p, int32_t op, double *share);
/* The clock's replay of a plan of a graph. */
struct clock_times lx_plan_clock(const struct lx_plan *p, const struct clock_details *out);
/* One per op of the graph with layouts; not for buffer lists. A plan file's own claims of time are not
 * used. */
void lx_plan_waits(const struct lx_plan *p, struct lx_op_wait *ops);
/* Sum over ops [0, count). */
struct lx_op_wait lx_waits_sum(const struct lx_op_wait *ops, int32_t count);
double lx_wait_us(const struct lx_op_wait *w);
/* The cause of the largest part. */
enum lx_wait lx_wait_longest(const struct lx_op_wait *w);

/* Peaks of a device by its cost table: GB/s of HBM and of all scratchpads; Gflop/s. */
struct lx_roofs {
    double hbm_gb_per_s, lx_gb_per_s, gflop_per_s;
};
struct lx_roofs lx_device_roofs(const struct lx_device *d);
