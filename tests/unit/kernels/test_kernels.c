/* Products against plain loops in double: every target that this processor can run, all layouts, touches
 * and tails. */
#include "support/kernel_operands.h"
#include "base/memory.h"
#include "support/sampled.h"

struct shape {
    int64_t m, n, k, batch;
};

struct layouts {
    int a, b, c, init;
    int64_t pad;
    bool lists;
};

/* Elements outside of C must stay as they were: everything in its buffer is compared. Returns how it was
 * computed, so that a test can insist on the path it is there for. */
static struct gemm_plan check_product(struct rng *r, const struct kernel_target *target, struct shape s,
                                      struct layouts l, enum gemm_first first, enum gemm_last last,
                                      struct pool *pool)
{
    struct operand a = operand_make(r, s.m, s.k, s.batch, l.a, l.pad),
                   b = operand_make(r, s.k, s.n, s.batch, l.b, l.pad);
    struct operand c = operand_make(r, s.m, s.n, 1, l.c, l.pad),
                   init = operand_make(r, s.m, s.n, 1, l.init, l.pad);
    int64_t init_row = init.row, init_column = init.column;
    if (rng_below(r, 3) == 0)
        init_row = 0; /* a bias a column */
    else if (rng_below(r, 3) == 0)
        init_column = 0; /* a bias a row */
    float *before = mem_alloc((size_t)c.floats * sizeof *before);
    double *expected = mem_alloc((size_t)(s.m * s.n + 1) * sizeof *expected);
    const float **a_list = mem_alloc((size_t)(s.batch + 1) * sizeof *a_list);
    const float **b_list = mem_alloc((size_t)(s.batch + 1) * sizeof *b_list);
    assert_true(before && expected && a_list && b_list);
    for (int64_t x = 0; x < s.batch; x++) {
        a_list[x] = a.at + x * a.batch;
        b_list[x] = b.at + x * b.batch;
    }
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            double sum = first == GEMM_FIRST_ZERO   ? 0
                         : first == GEMM_FIRST_COPY ? operand_at(init.at, init_row, init_column, i, j)
                         : first == GEMM_FIRST_RELU ? operand_relu(operand_at(c.at, c.row, c.column, i, j))
                                                    : operand_at(c.at, c.row, c.column, i, j);
            for (int64_t x = 0; x < s.batch; x++)
                for (int64_t p = 0; p < s.k; p++)
                    sum += operand_at(a_list[x], a.row, a.column, i, p) *
                           operand_at(b_list[x], b.row, b.column, p, j);
            expected[i * s.n + j] = last == GEMM_LAST_RELU ? operand_relu(sum) : sum;
        }
    if (first == GEMM_FIRST_ZERO || first == GEMM_FIRST_COPY) /* C is not read: poison does no harm */
        for (int64_t i = 0; i < s.m; i++)
            for (int64_t j = 0; j < s.n; j++) c.at[i * c.row + j * c.column] = NAN;
    memcpy(before, c.memory, (size_t)c.floats * sizeof *before);
    struct gemm g = {.m = s.m,
                     .n = s.n,
                     .k = s.k,
                     .batch = s.batch,
                     .first = first,
                     .last = last,
                     .a_m = a.row,
                     .a_k = a.column,
                     .a_batch = a.batch,
                     .b_k = b.row,
                     .b_n = b.column,
                     .b_batch = b.batch,
                     .c_m = c.row,
                     .c_n = c.column,
                     .init_m = init_row,
                     .init_n = init_column};
    struct gemm_operands o = {.a = a.at, .b = b.at, .c = c.at, .init = init.at};
    if (l.lists) { /* then the strides of the batch mean nothing */
        o.a_list = a_list, o.b_list = b_list, o.a = o.b = NULL;
        g.a_batch = INT64_MAX, g.b_batch = INT64_MIN;
    }
    struct gemm_plan plan;
    gemm_prepare(&plan, &g, target, pool_threads(pool));
    gemm_run(&plan, &o, pool);
    const double bound = 1e-6 * (4 + sqrt((double)(s.k * s.batch)) * 4);
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            float *got = &c.at[i * c.row + j * c.column];
            if (!(fabs((double)*got - expected[i * s.n + j]) <= bound))
                fail_msg("%s %ldx%ldx%ld batch %ld layouts %d%d%d%d pad %ld first %d last %d: (%ld,%ld) %g, "
                         "not %g",
                         kernel_target_name(target), (long)s.m, (long)s.n, (long)s.k, (long)s.batch, l.a, l.b,
                         l.c, l.init, (long)l.pad, (int)first, (int)last, (long)i, (long)j, (double)*got,
                         expected[i * s.n + j]);
            *got = before[got - c.memory];
        }
    assert_memory_equal(c.memory, before, (size_t)c.floats * sizeof *before);
    mem_free(a.memory), mem_free(b.memory), mem_free(c.memory), mem_free(init.memory);
    mem_free(before), mem_free(expected), mem_free(a_list), mem_free(b_list);
    return plan;
}

static void random_product(struct rng *r, const struct kernel_target *target, struct shape s,
                           struct pool *pool)
{
    struct layouts l = {(int)rng_below(r, LAYOUTS), (int)rng_below(r, LAYOUTS), (int)rng_below(r, LAYOUTS),
                        (int)rng_below(r, LAYOUTS), rng_between(r, 0, 5),       rng_below(r, 4) == 0};
    check_product(r, target, s, l, (enum gemm_first)rng_below(r, 4), (enum gemm_last)rng_below(r, 2), pool);
}

/* Column-major and row-major without gaps: the path without packing. */
static void test_tails(void **state)
{
    (void)state;
    struct rng r = rng_seed(1);
    const struct kernel_target *t;
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (int64_t m = 1; m <= 40; m++)
            for (int64_t n = 1; n <= 40; n++) {
                int layout = (int)((m + n) & 1);
                struct layouts l = {.a = layout, .b = layout, .c = layout, .init = layout};
                check_product(&r, t, (struct shape){m, n, (m * 7 + n) % 41, 1}, l, (enum gemm_first)(n % 4),
                              (enum gemm_last)(m % 2), NULL);
            }
}

static void test_random_layouts(void **state)
{
    (void)state;
    struct rng r = rng_seed(2);
    const struct kernel_target *t;
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (int k = 0; k < 1500; k++)
            random_product(&r, t,
                           (struct shape){rng_between(&r, 1, 70), rng_between(&r, 1, 40),
                                          rng_between(&r, 0, 40), rng_between(&r, 0, 5)},
                           NULL);
}

/* Every layout with every other one, every touch; sizes at the edges of tiles. */
static void test_every_layout_and_touch(void **state)
{
    (void)state;
    struct rng r = rng_seed(3);
    const struct kernel_target *t;
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (int code = 0; code < LAYOUTS * LAYOUTS * LAYOUTS; code++)
            for (int touch = 0; touch < 8; touch++) {
                struct layouts l = {code % LAYOUTS,
                                    code / LAYOUTS % LAYOUTS,
                                    code / LAYOUTS / LAYOUTS,
                                    touch % LAYOUTS,
                                    touch,
                                    touch == 5};
                struct shape s = {64 + touch % 3, 24 + code % 3, 17, 2};
                check_product(&r, t, s, l, (enum gemm_first)(touch / 2), (enum gemm_last)(touch % 2), NULL);
            }
}

/* Several blocks and chunks in every direction, packed and not, with a pool and without. */
static void test_blocks(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {300, 70, 600, 1},  {129, 131, 127, 1}, {37, 530, 1030, 1}, {530, 37, 300, 3},
        {200, 100, 13, 70}, {1, 600, 700, 1},   {600, 1, 700, 1},   {257, 259, 520, 1},
        {64, 64, 64, 16},   {96, 48, 640, 2},   {31, 3100, 9, 1},
    };
    struct rng r = rng_seed(4);
    const struct kernel_target *t;
    struct pool *pool = pool_create(3);
    assert_non_null(pool);
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (size_t s = SAMPLED ? (size_t)i % 3 : 0; s < sizeof shapes / sizeof *shapes;
             s += SAMPLED ? 3 : 1) {
            random_product(&r, t, shapes[s], pool);
            random_product(&r, t, shapes[s], NULL);
        }
    pool_destroy(pool);
}

/* Every way through the code by itself, on every target, alone and shared, with lists and without. */
static void test_paths(void **state)
{
    (void)state;
    enum { SMALL = 1, BLOCKS = 2, PACKED_B = 4, CHUNKS = 8, WIDE = 16, FETCHES = 32, ROW_BLOCKS = 64 };
    enum { RUNS = 128, ONE_THREAD = SMALL, SHARED = RUNS }; /* what is only so on one thread, on several */
    static const struct {
        struct shape shape;
        struct layouts layouts;
        int path;
    } cases[] = {
        {{32, 25, 32, 8}, {0, 0, 0, 0, 0, false}, SMALL | FETCHES},
        {{48, 30, 60, 8}, {0, 0, 0, 0, 0, false}, SMALL | FETCHES},
        {{530, 9, 1600, 1}, {1, 0, 0, 0, 0, false}, BLOCKS | CHUNKS | FETCHES | ROW_BLOCKS},
        {{90, 20, 1600, 1}, {1, 0, 0, 0, 0, false}, BLOCKS | CHUNKS | FETCHES},
        {{70, 3100, 5, 2}, {1, 0, 0, 0, 0, false}, BLOCKS | WIDE},
        {{300, 150, 900, 1}, {0, 1, 0, 0, 1100, false}, BLOCKS | PACKED_B | CHUNKS | FETCHES},
        {{140, 3100, 7, 2}, {1, 1, 0, 0, 1100, false}, BLOCKS | PACKED_B | WIDE},
        {{140, 40, 600, 2}, {0, 1, 0, 0, 0, false}, PACKED_B | CHUNKS | FETCHES},
        {{583, 290, 201, 1}, {1, 0, 0, 0, 3, false}, BLOCKS | ROW_BLOCKS | RUNS},
        {{450, 521, 37, 4}, {1, 0, 2, 2, 0, false}, BLOCKS | ROW_BLOCKS | RUNS},
    };
    struct rng r = rng_seed(6);
    const struct kernel_target *t;
    struct pool *pool = pool_create(2);
    assert_non_null(pool);
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (size_t c = SAMPLED ? (size_t)i % 4 : 0; c < sizeof cases / sizeof *cases; c += SAMPLED ? 4 : 1)
            for (int how = 0; how < 4; how += SAMPLED ? 3 : 1) {
                struct layouts l = cases[c].layouts;
                l.lists = how / 2;
                struct gemm_plan p =
                    check_product(&r, t, cases[c].shape, l, (enum gemm_first)(how + (int)c) % 4,
                                  GEMM_LAST_RELU, how % 2 ? pool : NULL);
                const int taken = (p.small ? SMALL : 0) | (p.block_a ? BLOCKS : 0) |
                                  (p.pack_b ? PACKED_B : 0) | (p.chunks > 1 ? CHUNKS : 0) |
                                  (p.g.n > p.n_block ? WIDE : 0) | (p.prefetch ? FETCHES : 0) |
                                  (p.block_a && p.g.m > p.m_block ? ROW_BLOCKS : 0) |
                                  (p.own_rows > 0 ? RUNS : 0);
                /* Wider targets have larger blocks, narrower ones more of them. */
                const int path = cases[c].path & ~(how % 2 ? ONE_THREAD : SHARED);
                if ((taken & path) != path)
                    fail_msg("%s, case %d, %d: path %d, not %d", kernel_target_name(t), (int)c, how, taken,
                             path);
            }
    pool_destroy(pool);
}

/* A row of products has the bits of one product after the other: A in place or copied, C turned or not. */
static void test_products_in_a_row(void **state)
{
    (void)state;
    enum { SIDE = 48, MATRIX = SIDE * SIDE, BATCH = 2, COUNT = 20, FLOATS = BATCH * COUNT * MATRIX };
    struct rng r = rng_seed(11);
    static float a[FLOATS], b[FLOATS], init[FLOATS], one[FLOATS], row[FLOATS];
    for (int i = 0; i < FLOATS; i++) {
        a[i] = (float)rng_unit(&r) - 0.5f;
        b[i] = (float)rng_unit(&r) - 0.5f;
        init[i] = (float)rng_unit(&r) - 0.5f;
    }
    const struct kernel_target *t;
    int in_one_call = 0, turned = 0, copied = 0;
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (int turn = 0; turn < 600; turn++) {
            const int64_t unit = turn % 4 ? 16 : 1, count = rng_between(&r, 0, COUNT);
            const bool c_by_rows = rng_below(&r, 2), a_by_rows = rng_below(&r, 3) ? c_by_rows : !c_by_rows,
                       b_by_rows = rng_below(&r, 3) ? c_by_rows : !c_by_rows, splat = rng_below(&r, 4) == 0;
            struct gemm g = {.m = unit * rng_between(&r, 1, SIDE / unit),
                             .n = unit * rng_between(&r, 1, SIDE / unit),
                             .k = rng_between(&r, 0, SIDE),
                             .batch = rng_between(&r, 1, BATCH),
                             .a_m = a_by_rows ? SIDE : 1,
                             .a_k = a_by_rows ? 1 : SIDE,
                             .a_batch = MATRIX,
                             .b_k = b_by_rows ? SIDE : 1,
                             .b_n = b_by_rows ? 1 : SIDE,
                             .b_batch = MATRIX,
                             .c_m = c_by_rows ? SIDE : 1,
                             .c_n = c_by_rows ? 1 : SIDE,
                             .init_m = splat       ? 0
                                       : c_by_rows ? SIDE
                                                   : 1,
                             .init_n = c_by_rows ? 1 : SIDE,
                             .first = (enum gemm_first)rng_below(&r, 4),
                             .last = (enum gemm_last)rng_below(&r, 2)};
            const struct gemm_steps steps = {.a = rng_below(&r, 2) ? BATCH * MATRIX : 0,
                                             .b = rng_below(&r, 2) ? BATCH * MATRIX : 0,
                                             .init = rng_below(&r, 2) ? MATRIX : 0,
                                             .c = MATRIX};
            struct gemm_plan plan;
            gemm_prepare(&plan, &g, t, 1);
            const bool single = plan.small && count > plan.tiles;
            in_one_call += single;
            turned += single && plan.swapped;
            copied += plan.pack_a;
            memcpy(one, init, sizeof one);
            memcpy(row, init, sizeof row);
            for (int64_t x = 0; x < count; x++)
                gemm_run(&plan,
                         &(struct gemm_operands){.a = a + x * steps.a,
                                                 .b = b + x * steps.b,
                                                 .init = init + x * steps.init,
                                                 .c = one + x * steps.c},
                         NULL);
            gemm_run_row(&plan, &(struct gemm_operands){.a = a, .b = b, .init = init, .c = row}, count,
                         &steps, NULL);
            assert_memory_equal(one, row, sizeof one);
        }
    assert_true(in_one_call > 100 && turned > 10 && copied > 100);
}

static void test_targets(void **state)
{
    (void)state;
    assert_ptr_equal(kernel_target_best(), kernel_target_at(0));
    const struct kernel_target *t, *last = NULL;
    for (int i = 0; (t = kernel_target_at(i)); i++) {
        for (int k = 0; k < i; k++)
            assert_string_not_equal(kernel_target_name(kernel_target_at(k)), kernel_target_name(t));
        last = t;
    }
    assert_non_null(last); /* what every processor can run comes last */
    assert_string_equal(kernel_target_name(last), "portable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_products_in_a_row),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_random_layouts),
        cmocka_unit_test(test_every_layout_and_touch),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
