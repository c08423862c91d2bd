/* The second clock: how long a bundle of ops takes from end to end, launch and all, in microseconds.
 *
 * A bundle is launched as one kernel. It takes the larger of two times: what the launch costs, by operands
 * through HBM and cores; and what the device works. But one that moves no more than was ever measured, and
 * whose ops wait for nothing but HBM, or not for as long, takes its launch, even if that is less than its
 * device time: on Spyre 8.39 MB of operands went in 32.51 us, which is 258 GB/s of a memory whose peak is
 * 204.8, and no model that adds them up is right there. The ops of a nest are launched one by one, each once
 * per iteration, and the runs of ops between nests each once. What ops compute, are slower than the memory,
 * and send over rings is waited for at any size. */
#ifndef LX_COST_BUNDLE_H
#define LX_COST_BUNDLE_H

#include "graph/target.h"

#include <stdint.h>

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
