/* The clock: a replay of a plan on the engines of the device. Every time that is shown, traced, compared or
 * minimised comes from here.
 *
 * Engines are the cores (all ops use core 0, so ops run one after the other), their copies in and out, HBM,
 * the data ring, and the host, which launches bundles. A task is an op or a copy in one iteration. It begins
 * when its engines are free and its operands are there, and ends by its rates. Bytes of one engine go one
 * after the other. In a nest iterations are stepped until two advance the clock alike; the rest is
 * multiplied. Linear in tasks. */
#pragma once

#include "clock/program.h"

/* What an op's part of the time is spent on. */
#define LX_WAITS(X)                                                                                          \
    X(LX_WAIT_HBM, "HBM")                                                                                    \
    X(LX_WAIT_LX, "LX")     /* a scratchpad's port, and moves inside it */                                   \
    X(LX_WAIT_RING, "ring") /* relayouts and partial sums */                                                 \
    X(LX_WAIT_COMPUTE, "compute")                                                                            \
    X(LX_WAIT_SYNC, "sync") /* syncs of all cores, and the overhead of loops */                              \
    X(LX_WAIT_LAUNCH, "launch")

#define LX_WAIT_ENUM(id, word) id,
enum lx_wait { LX_WAITS(LX_WAIT_ENUM) LX_WAIT_COUNT };
#undef LX_WAIT_ENUM

const char *lx_wait_word(enum lx_wait w);

/* How far an op, with the copies of its tick, moves the plan's end. Over all ops these add up to the plan's
 * end-to-end time; without launches to its device time. */
struct clock_op {
    double us[LX_WAIT_COUNT];
};

/* Of a task on the end-to-end axis: the start of its first iteration, the end of its last. */
struct clock_span {
    double start_us, end_us;
};

struct clock_times {
    double device_us, end_to_end_us;
    double hbm_us, ring_us, compute_us; /* each engine at work */
    double credit_bytes;                /* HBM bytes of the plan that cost no time (cost_charged_bytes) */
};

/* Results beyond the times, where the caller wants them. Any may be NULL, and so may the struct. */
struct clock_details {
    struct clock_op *ops;        /* per op */
    struct clock_span *op_spans; /* per op */
    struct clock_span *copies;   /* per transfer */
    struct lx_bundle *bundles;   /* per bundle: first, count and all else */
};

struct clock_times clock_replay(const struct plan_program *p, const struct clock_details *out);
