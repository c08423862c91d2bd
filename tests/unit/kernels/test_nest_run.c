/* The executor of nests against the scalar one: products in rows, of all sizes around those of a row. */
#include "kernels/nest_run.h"
#include "base/memory.h"
#include "support/random_nest.h"

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
    float *in0 = mem_zeroed((size_t)extent[0], sizeof *in0),
          *in1 = mem_zeroed((size_t)extent[1], sizeof *in1);
    float *out = mem_zeroed((size_t)extent[2], sizeof *out);
    double *x0 = mem_zeroed((size_t)extent[0], sizeof *x0), *x1 = mem_zeroed((size_t)extent[1], sizeof *x1);
    double *y = mem_zeroed((size_t)extent[2], sizeof *y);
    assert_true(in0 && in1 && out && x0 && x1 && y);
    for (int64_t i = 0; i < extent[0]; i++) in0[i] = (float)(x0[i] = (double)(i * 37 % 101) - 50);
    for (int64_t i = 0; i < extent[1]; i++) in1[i] = (float)(x1[i] = (double)(i * 53 % 103) - 50);
    for (int64_t i = 0; i < extent[2]; i++) out[i] = (float)(y[i] = (double)(i % 7) + 1);
    lx_status st;
    struct lx_nest_runner *r = lx_nest_runner_make(&nest, threads, &st);
    assert_non_null(r);
    lx_nest_runner_run(r, in0, in1, out);
    lx_loops_execute(&nest, x0, x1, y);
    for (int64_t i = 0; i < extent[2]; i++) assert_true((double)out[i] == y[i]);
    lx_nest_runner_free(r);
    mem_free(in0), mem_free(in1), mem_free(out), mem_free(x0), mem_free(x1), mem_free(y);
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

/* A random nest of which some loops are turns around the others, against all of it in the scalar executor. */
static void check_turns(struct rng *r)
{
    struct lx_loops whole = random_nest(r, ANY_MAIN), nest = whole, sorted = whole;
    struct lx_loop turns[LX_LOOPS_MAX];
    int count = 0;
    nest.count = 0;
    for (int i = 0; i < whole.count; i++)
        if (whole.loop[i].type != LX_DIM_K && rng_below(r, 2) && (i + 1 < whole.count || nest.count > 0))
            turns[count++] = whole.loop[i];
        else
            nest.loop[nest.count++] = whole.loop[i];
    for (int i = 0; i < whole.count; i++) sorted.loop[i] = i < count ? turns[i] : nest.loop[i - count];
    lx_status st = {0};
    assert_true(lx_loops_optimise(&nest, lx_loop_rules_at(0), 1, &st));
    struct lx_nest_runner *run = lx_nest_runner_turns(&nest, turns, count, &st);
    if (!run) fail_msg("%s", st.text);
    float *single[LX_LOOP_OPERANDS];
    double *exact[LX_LOOP_OPERANDS];
    int64_t extent[LX_LOOP_OPERANDS];
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) {
        extent[o] = lx_loops_extent(&whole, (enum lx_loop_operand)o);
        single[o] = mem_zeroed((size_t)extent[o], sizeof *single[o]);
        exact[o] = mem_zeroed((size_t)extent[o], sizeof *exact[o]);
        assert_true(single[o] && exact[o]);
        for (int64_t i = 0; i < extent[o]; i++)
            single[o][i] = (float)(exact[o][i] = (double)((i * 29 + o) % 19) - 9);
    }
    lx_nest_runner_run(run, single[0], single[1], single[2]);
    lx_loops_execute(&sorted, exact[0], exact[1], exact[2]);
    for (int64_t i = 0; i < extent[2]; i++) assert_true((double)single[2][i] == exact[2][i]);
    lx_nest_runner_free(run);
    for (int o = 0; o < LX_LOOP_OPERANDS; o++) mem_free(single[o]), mem_free(exact[o]);
}

static void test_turns(void **state)
{
    (void)state;
    struct rng r = rng_seed(11);
    for (int i = 0; i < 2000; i++) check_turns(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns), cmocka_unit_test(test_rows),
                                       cmocka_unit_test(test_rows_of_whole_vectors),
                                       cmocka_unit_test(test_long_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
