/* The cost models: what must hold of any times they predict. */
#include "cost/matmul.h"
#include "cost/op.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

static struct matmul_shape granite(int64_t m, int64_t n, int64_t k)
{
    return (struct matmul_shape){1, m, n, k, true, 2, 2, 32, 64};
}

/* The constants' table fills the struct in its order: a value moved would be another constant. */
static void test_constants_have_origins(void **state)
{
    (void)state;
    struct matmul_constants c = matmul_constants_default();
    assert_true(c.stream_cap == matmul_constant_rows[0].value);
    assert_true(c.kernel_passes == matmul_constant_rows[MATMUL_CONSTANT_COUNT - 1].value);
    for (int i = 0; i < MATMUL_CONSTANT_COUNT; i++) {
        assert_true(matmul_constant_rows[i].value > 0);
        assert_true(strlen(matmul_constant_rows[i].origin) > 5);
    }
    for (int i = 0; i < COST_CONSTANT_COUNT; i++) {
        assert_non_null(cost_constants[i].name);
        assert_true(strlen(cost_constants[i].origin) > 5);
    }
}

static void test_slice_rate(void **state)
{
    (void)state;
    assert_true(fabs(matmul_slice_rate(1) - 5.4) < 1e-9);
    assert_true(fabs(matmul_slice_rate(4) - 33) < 1e-9);
    assert_true(matmul_slice_rate(3) > 18.4 && matmul_slice_rate(3) < 33);
    assert_true(fabs(matmul_slice_rate(1024) - 41.6) < 1e-9);
}

/* Times are finite, positive and grow with the work, under every model and split. */
static void test_times_are_sane(void **state)
{
    (void)state;
    struct rng r = rng_seed(11);
    for (int i = 0; i < 20000; i++) {
        struct matmul_shape s = {rng_between(&r, 1, 64),
                                 rng_between(&r, 1, 4096),
                                 rng_between(&r, 1, 8192),
                                 rng_between(&r, 1, 8192),
                                 rng_below(&r, 2) == 0,
                                 2,
                                 2,
                                 32,
                                 64};
        struct matmul_split p = {rng_between(&r, 1, 2), rng_between(&r, 1, 4), rng_between(&r, 1, 4), 1};
        for (int v = 0; v < MATMUL_MODEL_COUNT; v++) {
            double us = matmul_time((enum matmul_model)v, &s, &p);
            assert_true(isfinite(us) && us > 0);
        }
        struct matmul_shape bigger = s;
        bigger.n *= 2;
        assert_true(matmul_time(MATMUL_OURS, &bigger, &p) > matmul_time(MATMUL_OURS, &s, &p));
    }
}

/* The measured winners of the best known shapes. */
static void test_known_picks(void **state)
{
    (void)state;
    static const struct {
        int64_t m, n, k;
    } shapes[] = {
        {512, 4096, 4096}, {512, 12800, 4096}, {512, 4096, 12800}, {64, 12800, 4096}, {16, 4096, 4096}};
    struct matmul_split winner = {1, 4, 8, 1};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct matmul_shape s = granite(shapes[i].m, shapes[i].n, shapes[i].k);
        double best = matmul_time(MATMUL_OURS, &s, &winner);
        for (int64_t m = 1; m <= 32; m *= 2)
            for (int64_t n = 1; m * n <= 32; n *= 2) {
                struct matmul_split p = {1, m, n, 32 / (m * n)};
                if (s.m % m == 0) assert_true(matmul_time(MATMUL_OURS, &s, &p) >= best);
            }
    }
}

static void test_op_model(void **state)
{
    (void)state;
    struct cost_work w = {.kind = COST_POINTWISE, .read_bytes = 1e6, .written_bytes = 1e6, .cores_used = 32};
    /* 2 MB at 150 GB/s and the turnaround of 1 MB: 105 GB/s balanced, as upstream states. */
    assert_true(fabs(cost_op(&w) - 2e6 / 105e3) < 0.1);
    /* Few cores slow a row reduction down, by upstream's table; nothing says so of other ops. */
    double all = cost_op(&w);
    w.cores_used = 1;
    assert_true(cost_op(&w) == all);
    w.kind = COST_ROW_REDUCTION;
    w.rows = 1000;
    double one = cost_op(&w);
    w.cores_used = 32;
    assert_true(one > 8 * cost_op(&w));
    for (int k = 0; k < COST_CLASS_COUNT; k++) {
        w.kind = (enum cost_class)k;
        w.shape = granite(64, 4096, 4096);
        w.split = (struct matmul_split){1, 4, 8, 1};
        w.cores_used = 7;
        w.rows = 100;
        assert_true(isfinite(cost_op(&w)) && cost_op(&w) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_have_origins),
        cmocka_unit_test(test_slice_rate),
        cmocka_unit_test(test_times_are_sane),
        cmocka_unit_test(test_known_picks),
        cmocka_unit_test(test_op_model),
    };
    return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
