/* The executor of nests against the scalar one: products in rows, of all sizes around those of a row. */
#include "kernels/nest_run.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

/* What one turn of the shared loops computes: size x size elements, sums of `depth` products. */
struct block {
    int64_t size, depth;
};

/* Small integers: sums are exact in any order. Two copies, so that the first loop is none of the two. */
static void check(struct block b, int64_t rows, int64_t columns, int threads, enum lx_touch last)
{
    const int64_t in = b.size * b.depth, tile = b.size * b.size, plane = rows * columns * tile;
    const struct lx_loops nest = {
        .first = LX_TOUCH_ZERO,
        .main = LX_TOUCH_GEMM,
        .last = last,
        .dtype = LX_LOOP_FP32,
        .has_in1 = true,
        .count = 6,
        .loop = {{LX_DIM_C, LX_EXEC_SHARED, 2, {columns * in, rows * in, plane}},
                 {LX_DIM_N, LX_EXEC_SHARED, rows, {0, in, columns * tile}},
                 {LX_DIM_M, LX_EXEC_SHARED, columns, {in, 0, tile}},
                 {LX_DIM_M, LX_EXEC_PRIM, b.size, {1, 0, 1}},
                 {LX_DIM_N, LX_EXEC_PRIM, b.size, {0, b.depth, b.size}},
                 {LX_DIM_K, LX_EXEC_PRIM, b.depth, {b.size, 1, 0}}},
    };
    const int64_t extent[] = {2 * columns * in, 2 * rows * in, 2 * plane};
    float *in0 = calloc((size_t)extent[0], sizeof *in0), *in1 = calloc((size_t)extent[1], sizeof *in1);
    float *out = calloc((size_t)extent[2], sizeof *out);
    double *x0 = calloc((size_t)extent[0], sizeof *x0), *x1 = calloc((size_t)extent[1], sizeof *x1);
    double *y = calloc((size_t)extent[2], sizeof *y);
    assert_true(in0 && in1 && out && x0 && x1 && y);
    for (int64_t i = 0; i < extent[0]; i++) in0[i] = (float)(x0[i] = (double)(i * 37 % 101) - 50);
    for (int64_t i = 0; i < extent[1]; i++) in1[i] = (float)(x1[i] = (double)(i * 53 % 103) - 50);
    for (int64_t i = 0; i < extent[2]; i++) out[i] = (float)(y[i] = (double)(i % 7) + 1);
    lx_status st;
    struct lx_nest_runner *r = lx_nest_runner_make(&nest, threads, &st);
    assert_non_null(r);
    assert_true(lx_nest_runner_run(r, in0, in1, out, &st));
    lx_loops_execute(&nest, x0, x1, y);
    for (int64_t i = 0; i < extent[2]; i++) assert_true((double)out[i] == y[i]);
    lx_nest_runner_free(r);
    free(in0), free(in1), free(out), free(x0), free(x1), free(y);
}

static void test_rows(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 8, 9, 11, 16, 19, 32};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++)
            for (int threads = 1; threads <= 3; threads += 2)
                check((struct block){2, 2}, sizes[i], sizes[j], threads, LX_TOUCH_RELU);
    check((struct block){2, 2}, 9, 9, 64, LX_TOUCH_RELU); /* too few turns for rows */
    check((struct block){2, 2}, 3, 3, 64, LX_TOUCH_RELU); /* fewer than threads */
    check((struct block){2, 2}, 32, 32, 16, LX_TOUCH_ZERO);
}

/* Blocks of whole vectors: a row is one call of the kernel for each tile of a block. */
static void test_rows_of_whole_vectors(void **state)
{
    (void)state;
    static const enum lx_touch lasts[] = {LX_TOUCH_NONE, LX_TOUCH_RELU, LX_TOUCH_ZERO};
    for (int64_t size = 16; size <= 48; size += 16)
        for (int64_t columns = 1; columns <= 9; columns += 4)
            for (int l = 0; l < 3; l++) check((struct block){size, 7}, 3, columns, 1 + l, lasts[l]);
}

/* Sums so long that a few turns fill the cache: several rows, the last of them shorter. */
static void test_long_sums(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++)
        check((struct block){32, 500}, 6, 19, threads, LX_TOUCH_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_rows_of_whole_vectors),
                                       cmocka_unit_test(test_long_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
