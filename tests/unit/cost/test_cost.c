/* The cost models: what must hold of any times they predict. */
#include "cost/op.h"
#include "base/rng.h"
#include "support/matmul_yardstick.h"

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

/* Every preset names a table that there is, and every number of every table says where it is from. */
static void test_tables_are_complete(void **state)
{
    (void)state;
    for (int i = 0; lx_device_at(i); i++)
        if (!lx_device_at(i)->cost_table || !cost_table_find(lx_device_at(i)->cost_table))
            fail_msg("%s names no cost table", lx_device_at(i)->preset);
    for (int i = 0; cost_table_at(i); i++)
        for (int k = 0; k < COST_CONSTANT_COUNT; k++) {
            const struct cost_number *n = &cost_table_at(i)->number[k];
            assert_true(memchr(n->origin, 0, sizeof n->origin) && strlen(n->origin) > 5 &&
                        n->scale < COST_SCALE_COUNT);
            assert_true(n->value >= cost_rows[k].least && n->value <= cost_rows[k].most);
        }
    assert_null(cost_table_find("unheard of"));
}

/* A device with the nominal rates of its table has the numbers of the table, bit for bit; spyre is one. Twice the rate
 * is twice as fast. */
static void test_rates_scale(void **state)
{
    (void)state;
    struct lx_device d;
    const struct cost_table *t = cost_table_find("spyre");
    assert_true(lx_device_preset("spyre", &d));
    struct cost_rates r = cost_rates_of(&d);
    for (int k = 0; k < COST_CONSTANT_COUNT; k++) {
        assert_true(r.value[k] == t->number[k].value);
        assert_true(cost_rate(&d, (enum cost_constant_id)k) == t->number[k].value);
    }
    d.hbm_gb_per_s *= 2;
    d.psum_ring_gb_per_s /= 2;
    r = cost_rates_of(&d);
    assert_true(r.value[COST_ONE_WAY] == 300 && r.value[COST_TURNAROUND] == 0.00574 / 2);
    assert_true(r.value[COST_PSUM] == 0.0133 * 2 && r.value[COST_MACS] == 1.536e6);
    for (int k = 0; k < COST_CONSTANT_COUNT; k++)
        assert_true(cost_rate(&d, (enum cost_constant_id)k) == r.value[k]);
}

/* A device without measurements: memory at its rate, compute at its peak in whole tiles, the larger of the two. */
static void test_roofline(void **state)
{
    (void)state;
    struct lx_device d = {.cost_table = "roofline",
                          .hbm_gb_per_s = 200,
                          .ring_gb_per_s = 50,
                          .psum_ring_gb_per_s = 100,
                          .lx_gb_per_s = 100,
                          .peak_gflop_per_s = 1000,
                          .tile_rows = 32,
                          .tile_columns = 32};
    struct cost_rates r = cost_rates_of(&d);
    struct cost_work w = {.kind = COST_POINTWISE, .read_bytes = 1e6, .written_bytes = 1e6, .cores_used = 64};
    assert_true(fabs(cost_op(&r, &w) - 10) < 1e-9);
    w.cores_used = 1; /* a core takes no more than its link carries */
    assert_true(fabs(cost_op(&r, &w) - 40) < 1e-9);
    struct matmul_shape s = {1, 64, 64, 64, true, 2, 2, 64, 64};
    struct matmul_split four = {1, 2, 2, 1, 0}, rows = {1, 4, 1, 1, 0}, sums = {1, 1, 1, 2, 0};
    struct matmul_parts p = matmul_parts_with(&r, &s, &four);
    assert_true(fabs(p.compute - 64.0 * 64 * 64 / 4 / 0.5e6) < 1e-9);
    assert_true(fabs(p.rows - 64 * 64 * 2 / 100e3) < 1e-9 && p.sums == 0); /* two streams of 50 GB/s */
    assert_true(fabs(matmul_time_with(&r, &s, &four) - fmax(p.compute, p.rows + p.kernel + p.output)) < 1e-9);
    assert_true(fabs(matmul_parts_with(&r, &s, &rows).compute - 2 * p.compute) < 1e-9); /* half a tile each */
    assert_true(fabs(matmul_parts_with(&r, &s, &sums).sums - 64 * 64 * 2 / 100e3) < 1e-9);
    assert_true(fabs(cost_relayout(&d, 7, 4, 1000) - 0.02) < 1e-9);
    d.cost_table = NULL; /* a device of nobody's is timed like this too */
    assert_true(cost_rate(&d, COST_ONE_WAY) == 200);
}

static void test_slice_rate(void **state)
{
    (void)state;
    struct cost_rates r = spyre_rates();
    assert_true(fabs(matmul_slice_rate(&r, 1) - 5.4) < 1e-9);
    assert_true(fabs(matmul_slice_rate(&r, 4) - 33) < 1e-9);
    assert_true(matmul_slice_rate(&r, 3) > 18.4 && matmul_slice_rate(&r, 3) < 33);
    assert_true(fabs(matmul_slice_rate(&r, 1024) - 41.6) < 1e-9);
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
        struct matmul_split p = {rng_between(&r, 1, 2), rng_between(&r, 1, 4), rng_between(&r, 1, 4), 1, 0};
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
    struct matmul_split winner = {1, 4, 8, 1, 0};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct matmul_shape s = granite(shapes[i].m, shapes[i].n, shapes[i].k);
        double best = matmul_time(MATMUL_OURS, &s, &winner);
        for (int64_t m = 1; m <= 32; m *= 2)
            for (int64_t n = 1; m * n <= 32; n *= 2) {
                struct matmul_split p = {1, m, n, 32 / (m * n), 0};
                if (s.m % m == 0) assert_true(matmul_time(MATMUL_OURS, &s, &p) >= best);
            }
    }
}

static void test_op_model(void **state)
{
    (void)state;
    struct cost_rates r = spyre_rates();
    struct cost_work w = {.kind = COST_POINTWISE, .read_bytes = 1e6, .written_bytes = 1e6, .cores_used = 32};
    /* 2 MB at 150 GB/s and the turnaround of 1 MB: 105 GB/s balanced, as upstream states. */
    assert_true(fabs(cost_op(&r, &w) - 2e6 / 105e3) < 0.1);
    /* Few cores slow a row reduction down, by upstream's table; nothing says so of other ops. */
    double all = cost_op(&r, &w);
    w.cores_used = 1;
    assert_true(cost_op(&r, &w) == all);
    w.kind = COST_ROW_REDUCTION;
    w.rows = 1000;
    double one = cost_op(&r, &w);
    w.cores_used = 32;
    assert_true(one > 8 * cost_op(&r, &w));
    for (int k = 0; k < COST_CLASS_COUNT; k++) {
        w.kind = (enum cost_class)k;
        w.shape = granite(64, 4096, 4096);
        w.split = (struct matmul_split){1, 4, 8, 1, 0};
        w.cores_used = 7;
        w.rows = 100;
        assert_true(isfinite(cost_op(&r, &w)) && cost_op(&r, &w) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_are_complete),
        cmocka_unit_test(test_rates_scale),
        cmocka_unit_test(test_roofline),
        cmocka_unit_test(test_slice_rate),
        cmocka_unit_test(test_times_are_sane),
        cmocka_unit_test(test_known_picks),
        cmocka_unit_test(test_op_model),
    };
    return cmocka_run_group_tests_name("cost", tests, NULL, NULL);
}
