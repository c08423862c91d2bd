/* What our matmul model is measured against: the formula of torch-spyre in three states (A: June to August 2026, B:
 * September, C: late September). Every number of it below is upstream's. */
#ifndef LX_TESTS_SUPPORT_MATMUL_YARDSTICK_H
#define LX_TESTS_SUPPORT_MATMUL_YARDSTICK_H

#include "cost/op.h"

#include <math.h>

enum matmul_model {
    MATMUL_OURS,
    MATMUL_UPSTREAM_A,
    MATMUL_UPSTREAM_B,
    MATMUL_UPSTREAM_C,
    MATMUL_MODEL_COUNT
};

static const char *const matmul_model_names[MATMUL_MODEL_COUNT] = {
    [MATMUL_OURS] = "ours",             /* operand streams, runs and passes; fitted */
    [MATMUL_UPSTREAM_A] = "upstream-a", /* June to August 2026 */
    [MATMUL_UPSTREAM_B] = "upstream-b", /* September 2026: compute doubled where K is split */
    [MATMUL_UPSTREAM_C] = "upstream-c", /* late September 2026: and measured weight delivery for decode */
};

/* The rates that both were fitted and measured with. */
struct cost_rates spyre_rates(void);

/* Bytes that must cross to memory once; a shared weight counts once. */
double matmul_bytes(const struct matmul_shape *s);
double matmul_time(enum matmul_model model, const struct matmul_shape *s, const struct matmul_split *p);

#endif
