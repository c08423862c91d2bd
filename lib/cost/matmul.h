/* Predicted time of one matmul under one division of its work, in microseconds. */
#ifndef LX_COST_MATMUL_H
#define LX_COST_MATMUL_H

#include "cost/rates.h"

#include <stdbool.h>
#include <stdint.h>

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

#endif
