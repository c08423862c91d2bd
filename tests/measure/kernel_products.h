/* The products that the kernels are measured on, by our kernels and by OpenBLAS. */
#ifndef LX_TESTS_MEASURE_KERNEL_PRODUCTS_H
#define LX_TESTS_MEASURE_KERNEL_PRODUCTS_H

#include "kernels/kernels.h"
#include "kernels/nest_run.h"

#include <stdbool.h>

enum { TILE = 32 };
enum kind { PEAK, CUBE, BATCH, TILED, RELU };

/* PEAK: what the machine gives, multiply-adds on registers.
 * TILED: C of 1024 x 1024 in 32 x 32 tiles, `depth` tiles summed into each, as a nest of loops for the
 * executor of nests: the sum over tiles is a loop around the product, or part of it (`batched`). */
struct row {
    const char *name;
    enum kind kind;
    int size, depth;
    bool batched;
    enum gemm_first first;
    enum gemm_last last;
};

/* The first is PEAK, the last has no name. */
extern const struct row rows[];

/* Is there somebody to compare with? */
bool row_has_rival(const struct row *r);

/* One row on some threads. */
struct job {
    const struct row *row;
    struct gemm_plan plan;
    struct lx_nest_runner *nest; /* TILED: instead of the plan, with threads of its own */
    struct pool *pool;
    float *a, *b, *c;
    void *memory; /* of the matrices; NULL: they are another's */
    int threads;
};

/* `other`: whose matrices to use, NULL for new ones. */
bool job_open(struct job *j, const struct row *r, int threads, const struct job *other);
void job_close(struct job *j);

double job_flops(const struct job *j);

typedef void run_function(const struct job *);
run_function run_ours, run_rival;

/* Where OpenBLAS does not know the processor, starts the program again with the best that it has. Says in
 * `text` whom we compare with. */
void rival_open(char **argv, char *text, size_t size);
void rival_threads(int threads);

#endif
