/* Predicted time of one matmul under one division of its work: ours, and three states of the public
 * torch-spyre formula for comparison. All times in microseconds, all rates in bytes or operations a
 * microsecond; 1 GB/s is 1000 bytes a microsecond. */
#ifndef LX_COST_MATMUL_H
#define LX_COST_MATMUL_H

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

/* In this order in the table of matmul_models. */
enum matmul_model {
    MATMUL_OURS,
    MATMUL_UPSTREAM_A,
    MATMUL_UPSTREAM_B,
    MATMUL_UPSTREAM_C,
    MATMUL_MODEL_COUNT
};

struct matmul_model_row {
    const char *name, *help;
};

extern const struct matmul_model_row matmul_models[MATMUL_MODEL_COUNT];

/* The fitted numbers of ours; the table in matmul.c has each one's origin. */
struct matmul_constants {
    double stream_cap;      /* GB/s: all readers of one operand together */
    double run_overhead;    /* sticks: what beginning a run of consecutive sticks costs */
    double psum_us_per_kb;  /* a core's partial sums through one reduce step */
    double compute_shown;   /* share of the compute time that transfers do not hide */
    double compute_reduced; /* the same when K is split: one corelet, and sums wait for the ring */
    double kernel_passes;   /* a batched kernel of several K sticks per core: added share of its read time */
};

enum { MATMUL_CONSTANT_COUNT = sizeof(struct matmul_constants) / sizeof(double) };

struct matmul_constant_row {
    const char *name;
    double value;
    const char *origin;
};

extern const struct matmul_constant_row matmul_constant_rows[MATMUL_CONSTANT_COUNT];

/* Our time taken apart, in microseconds. */
struct matmul_parts {
    double rows, kernel, output; /* delivering A and W, and writing C, each through memory */
    double compute;              /* with nothing hidden behind transfers */
    double shown;                /* what of it transfers do not hide */
    double sums;                 /* reduce steps where K is split */
};

struct matmul_constants matmul_constants_default(void);
struct matmul_parts matmul_parts_with(const struct matmul_constants *c, const struct matmul_shape *s,
                                      const struct matmul_split *p);
double matmul_time_with(const struct matmul_constants *c, const struct matmul_shape *s,
                        const struct matmul_split *p);
double matmul_time(enum matmul_model model, const struct matmul_shape *s, const struct matmul_split *p);
/* Bytes that must cross to memory once; a shared weight counts once. */
double matmul_bytes(const struct matmul_shape *s);

/* upstream.c */
double matmul_upstream(enum matmul_model version, const struct matmul_shape *s, const struct matmul_split *p);
/* GB/s that one slice of an operand is delivered at, when `sharers` cores want the same slice. */
double matmul_slice_rate(double sharers);

#endif
