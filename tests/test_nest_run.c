/* The executor of nests against the scalar one: tasks that go in squares, of all sizes around theirs. */
#include "device/nest_run.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

enum { TILE = 2 };

/* Small integers: sums are exact in any order. Two copies, so that the first loop is none of the two. */
static void check(int64_t rows, int64_t columns, int threads)
{
    const int64_t tile = TILE * TILE, plane = rows * columns * tile;
    const struct lx_loops nest = {
        .first = LX_TOUCH_ZERO,
        .main = LX_TOUCH_GEMM,
        .last = LX_TOUCH_RELU,
        .dtype = LX_LOOP_FP32,
        .has_in1 = true,
        .count = 6,
        .loop = {{LX_DIM_C, LX_EXEC_SHARED, 2, {columns * tile, rows * tile, plane}},
                 {LX_DIM_N, LX_EXEC_SHARED, rows, {0, tile, columns * tile}},
                 {LX_DIM_M, LX_EXEC_SHARED, columns, {tile, 0, tile}},
                 {LX_DIM_M, LX_EXEC_PRIM, TILE, {1, 0, 1}},
                 {LX_DIM_N, LX_EXEC_PRIM, TILE, {0, TILE, TILE}},
                 {LX_DIM_K, LX_EXEC_PRIM, TILE, {TILE, 1, 0}}},
    };
    const int64_t extent[] = {2 * columns * tile, 2 * rows * tile, 2 * plane};
    float *in0 = calloc((size_t)extent[0], sizeof *in0), *in1 = calloc((size_t)extent[1], sizeof *in1);
    float *out = calloc((size_t)extent[2], sizeof *out);
    double *x0 = calloc((size_t)extent[0], sizeof *x0), *x1 = calloc((size_t)extent[1], sizeof *x1);
    double *y = calloc((size_t)extent[2], sizeof *y);
    assert_true(in0 && in1 && out && x0 && x1 && y);
    for (int64_t i = 0; i < extent[0]; i++) in0[i] = (float)(x0[i] = (double)(i * 37 % 101) - 50);
    for (int64_t i = 0; i < extent[1]; i++) in1[i] = (float)(x1[i] = (double)(i * 53 % 103) - 50);
    lx_status st;
    struct lx_nest_runner *r = lx_nest_runner_make(&nest, threads, &st);
    assert_non_null(r);
    assert_true(lx_nest_runner_run(r, in0, in1, out, &st));
    lx_loops_execute(&nest, x0, x1, y);
    for (int64_t i = 0; i < extent[2]; i++) assert_true((double)out[i] == y[i]);
    lx_nest_runner_free(r);
    free(in0), free(in1), free(out), free(x0), free(x1), free(y);
}

static void test_squares(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 8, 9, 11, 16, 19, 32};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++)
            for (int threads = 1; threads <= 3; threads += 2) check(sizes[i], sizes[j], threads);
    check(9, 9, 64); /* fewer rows of squares than threads */
    check(32, 32, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_squares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
