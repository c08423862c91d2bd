/* The kernels against plain loops in double: every target that this processor can run, all layouts, touches
 * and tails; conversions exhaustively; the pool with more threads than processors. */
#include "device/kernels/kernels.h"
#include "base/rng.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- operands ---- */

/* `count` matrices of rows x columns in a buffer with a margin of its own value around every element in use.
 */
struct operand {
    float *memory, *at;
    int64_t row, column, batch, floats;
};

static float small_value(struct rng *r)
{
    return (float)rng_between(r, -64, 64) * 0x1p-6f;
}

/* Layouts: 0 column-major, 1 row-major, 2 neither contiguous, 3 rows backwards. `pad` elements between
 * vectors. */
enum { LAYOUTS = 4 };

static struct operand make(struct rng *r, int64_t rows, int64_t columns, int64_t count, int layout,
                           int64_t pad)
{
    struct operand o = {0};
    int64_t unit = layout == 2 ? 3 : 1;
    if (layout == 1)
        o.column = unit, o.row = columns * unit + pad;
    else
        o.row = unit, o.column = rows * unit + pad;
    o.batch = (layout == 1 ? rows * o.row : columns * o.column) + pad;
    o.floats = o.batch * count + 1;
    o.memory = malloc((size_t)o.floats * sizeof *o.memory);
    assert_non_null(o.memory);
    for (int64_t i = 0; i < o.floats; i++) o.memory[i] = small_value(r);
    o.at = o.memory;
    if (layout == 3) {
        o.at += (rows - 1) * o.row;
        o.row = -o.row;
    }
    return o;
}

static double at(const float *p, int64_t row, int64_t column, int64_t i, int64_t j)
{
    return (double)p[i * row + j * column];
}

static double relu(double x)
{
    return x > 0 ? x : 0;
}

/* ---- products ---- */

struct shape {
    int64_t m, n, k, batch;
};

struct layouts {
    int a, b, c, init;
    int64_t pad;
    bool lists;
};

/* Elements outside of C must stay as they were: everything in its buffer is compared. */
static void check_product(struct rng *r, const struct kernel_target *target, struct shape s, struct layouts l,
                          enum gemm_first first, enum gemm_last last, struct pool *pool)
{
    struct operand a = make(r, s.m, s.k, s.batch, l.a, l.pad), b = make(r, s.k, s.n, s.batch, l.b, l.pad);
    struct operand c = make(r, s.m, s.n, 1, l.c, l.pad), init = make(r, s.m, s.n, 1, l.init, l.pad);
    int64_t init_row = init.row, init_column = init.column;
    if (rng_below(r, 3) == 0)
        init_row = 0; /* a bias a column */
    else if (rng_below(r, 3) == 0)
        init_column = 0; /* a bias a row */
    float *before = malloc((size_t)c.floats * sizeof *before);
    double *expected = malloc((size_t)(s.m * s.n + 1) * sizeof *expected);
    const float **a_list = malloc((size_t)(s.batch + 1) * sizeof *a_list);
    const float **b_list = malloc((size_t)(s.batch + 1) * sizeof *b_list);
    assert_true(before && expected && a_list && b_list);
    for (int64_t x = 0; x < s.batch; x++) {
        a_list[x] = a.at + x * a.batch;
        b_list[x] = b.at + x * b.batch;
    }
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            double sum = first == GEMM_FIRST_ZERO   ? 0
                         : first == GEMM_FIRST_COPY ? at(init.at, init_row, init_column, i, j)
                         : first == GEMM_FIRST_RELU ? relu(at(c.at, c.row, c.column, i, j))
                                                    : at(c.at, c.row, c.column, i, j);
            for (int64_t x = 0; x < s.batch; x++)
                for (int64_t p = 0; p < s.k; p++)
                    sum += at(a_list[x], a.row, a.column, i, p) * at(b_list[x], b.row, b.column, p, j);
            expected[i * s.n + j] = last == GEMM_LAST_RELU ? relu(sum) : sum;
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
    if (l.lists) o.a_list = a_list, o.b_list = b_list, o.a = o.b = NULL;
    struct gemm_plan plan;
    gemm_prepare(&plan, &g, target, pool_threads(pool));
    assert_true(gemm_run(&plan, &o, pool));
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
    free(a.memory), free(b.memory), free(c.memory), free(init.memory);
    free(before), free(expected), free(a_list), free(b_list);
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
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            random_product(&r, t, shapes[s], pool);
            random_product(&r, t, shapes[s], NULL);
        }
    /* Far apart in memory, so that both operands are packed. */
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (int layout = 0; layout < 2; layout++) {
            struct layouts l = {.a = layout, .b = layout, .c = layout, .init = layout, .pad = 1100};
            check_product(&r, t, (struct shape){300, 150, 500, 1}, l, GEMM_FIRST_COPY, GEMM_LAST_RELU, pool);
        }
    pool_destroy(pool);
}

static void test_bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    enum { M = 260, N = 150, K = 1100 };
    struct rng r = rng_seed(5);
    float *a = malloc(sizeof *a * M * K), *b = malloc(sizeof *b * K * N);
    float *one = malloc(sizeof *one * M * N), *many = malloc(sizeof *many * M * N);
    assert_true(a && b && one && many);
    for (int i = 0; i < M * K; i++) a[i] = (float)rng_unit(&r) - 0.5f;
    for (int i = 0; i < K * N; i++) b[i] = (float)rng_unit(&r) - 0.5f;
    const struct kernel_target *t;
    for (int i = 0; (t = kernel_target_at(i)); i++)
        for (int threads = 1; threads <= 7; threads++) {
            struct pool *pool = pool_create(threads);
            struct gemm g = {.m = M,
                             .n = N,
                             .k = K,
                             .batch = 1,
                             .a_m = 1,
                             .a_k = M,
                             .b_k = 1,
                             .b_n = K,
                             .c_m = 1,
                             .c_n = M,
                             .first = GEMM_FIRST_ZERO};
            struct gemm_plan plan;
            gemm_prepare(&plan, &g, t, threads);
            assert_true(gemm_run(
                &plan, &(struct gemm_operands){.a = a, .b = b, .c = threads == 1 ? one : many}, pool));
            if (threads > 1) assert_memory_equal(one, many, sizeof *one * M * N);
            pool_destroy(pool);
        }
    free(a), free(b), free(one), free(many);
}

/* ---- moves ---- */

static void test_moves(void **state)
{
    (void)state;
    struct rng r = rng_seed(6);
    for (int k = 0; k < 2000; k++) {
        int64_t rows = rng_between(&r, 0, 40), columns = rng_between(&r, 0, 40);
        struct operand from =
            make(&r, rows + 1, columns + 1, 1, (int)rng_below(&r, LAYOUTS), rng_between(&r, 0, 3));
        struct operand to =
            make(&r, rows + 1, columns + 1, 1, (int)rng_below(&r, LAYOUTS), rng_between(&r, 0, 3));
        struct operand turned = make(&r, columns + 1, rows + 1, 1, (int)rng_below(&r, LAYOUTS), 1);
        struct view v = {to.at, to.row, to.column};
        struct const_view f = {from.at, from.row, from.column};
        copy_2d(v, f, rows, columns);
        transpose_2d((struct view){turned.at, turned.row, turned.column}, f, rows, columns);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) {
                assert_true(at(to.at, to.row, to.column, i, j) == at(from.at, from.row, from.column, i, j));
                assert_true(at(turned.at, turned.row, turned.column, j, i) ==
                            at(from.at, from.row, from.column, i, j));
            }
        relu_2d(v, f, rows, columns);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                assert_true(at(to.at, to.row, to.column, i, j) ==
                            relu(at(from.at, from.row, from.column, i, j)));
        float corner = to.at[rows * to.row + columns * to.column];
        zero_2d(v, rows, columns);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) assert_true(at(to.at, to.row, to.column, i, j) == 0);
        assert_true(to.at[rows * to.row + columns * to.column] == corner);
        free(from.memory), free(to.memory), free(turned.memory);
    }
}

/* ---- pointwise ---- */

static double reference_unary(int op, double x)
{
    switch ((enum unary_op)op) {
    case UNARY_CLONE:
        return x;
    case UNARY_NEG:
        return -x;
    case UNARY_ABS:
        return fabs(x);
    case UNARY_EXP:
        return exp(x);
    case UNARY_LOG:
        return log(x);
    case UNARY_SQRT:
        return sqrt(x);
    case UNARY_RSQRT:
        return 1 / sqrt(x);
    case UNARY_RECIPROCAL:
        return 1 / x;
    case UNARY_RELU:
        return relu(x);
    case UNARY_GELU:
        return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case UNARY_SILU:
        return x / (1 + exp(-x));
    case UNARY_SIGMOID:
        return 1 / (1 + exp(-x));
    case UNARY_TANH:
        return tanh(x);
    case UNARY_OP_COUNT:
        break;
    }
    return NAN;
}

static double reference_binary(int op, double x, double y)
{
    switch ((enum binary_op)op) {
    case BINARY_ADD:
        return x + y;
    case BINARY_SUB:
        return x - y;
    case BINARY_MUL:
        return x * y;
    case BINARY_DIV:
        return x / y;
    case BINARY_POW:
        return pow(x, y);
    case BINARY_MAX:
        return isnan(x) || isnan(y) ? NAN : fmax(x, y);
    case BINARY_MIN:
        return isnan(x) || isnan(y) ? NAN : fmin(x, y);
    case BINARY_GREATER:
        return x > y;
    case BINARY_OP_COUNT:
        break;
    }
    return NAN;
}

static void assert_close(double got, double expected)
{
    if (isnan(expected))
        assert_true(isnan(got));
    else if (isinf(expected))
        assert_true(got == expected);
    else
        assert_true(fabs(got - expected) <= 2e-6 * (1 + fabs(expected)));
}

static void test_pointwise(void **state)
{
    (void)state;
    struct rng r = rng_seed(7);
    for (int k = 0; k < 600; k++) {
        int64_t rows = rng_between(&r, 1, 20), columns = rng_between(&r, 1, 40);
        struct operand o[4];
        struct const_view v[4];
        for (int i = 0; i < 4; i++) {
            o[i] = make(&r, rows, columns, 1, (int)rng_below(&r, LAYOUTS), rng_between(&r, 0, 3));
            if (rng_below(&r, 4) == 0) o[i].at[0] = NAN;
            v[i] = (struct const_view){o[i].at, o[i].row, o[i].column};
            if (i > 0 && rng_below(&r, 4) == 0) v[i].column = 0; /* a broadcast */
        }
        struct view to = {o[0].at, o[0].row, o[0].column};
        int unary = k % UNARY_OP_COUNT, binary = k % BINARY_OP_COUNT;
        unary_2d((enum unary_op)unary, to, v[1], rows, columns);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) {
                double x = at(v[1].at, v[1].row, v[1].column, i, j);
                if (unary != UNARY_RELU || !isnan(x))
                    assert_close(at(to.at, to.row, to.column, i, j), reference_unary(unary, x));
            }
        binary_2d((enum binary_op)binary, to, v[1], v[2], rows, columns);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                assert_close(at(to.at, to.row, to.column, i, j),
                             reference_binary(binary, at(v[1].at, v[1].row, v[1].column, i, j),
                                              at(v[2].at, v[2].row, v[2].column, i, j)));
        where_2d(to, v[3], v[1], v[2], rows, columns);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++) {
                const struct const_view *w = at(v[3].at, v[3].row, v[3].column, i, j) != 0 ? &v[1] : &v[2];
                assert_close(at(to.at, to.row, to.column, i, j), at(w->at, w->row, w->column, i, j));
            }
        for (int i = 0; i < 4; i++) free(o[i].memory);
    }
    assert_int_equal(unary_op_find("gelu"), UNARY_GELU);
    assert_int_equal(binary_op_find("greater"), BINARY_GREATER);
    assert_int_equal(reduce_op_find("mean"), REDUCE_MEAN);
    assert_int_equal(unary_op_find("add"), -1);
}

static double reference_reduce(int op, struct const_view v, int64_t i, int64_t columns)
{
    double x = op == REDUCE_MAX ? -INFINITY : op == REDUCE_MIN ? INFINITY : 0;
    for (int64_t j = 0; j < columns; j++) {
        double y = at(v.at, v.row, v.column, i, j);
        x = op == REDUCE_MAX   ? reference_binary(BINARY_MAX, x, y)
            : op == REDUCE_MIN ? reference_binary(BINARY_MIN, x, y)
                               : x + y;
    }
    return op == REDUCE_MEAN ? x / (double)columns : x;
}

static void test_reductions(void **state)
{
    (void)state;
    struct rng r = rng_seed(8);
    for (int k = 0; k < 800; k++) {
        int64_t rows = rng_between(&r, 1, 40), columns = rng_between(&r, 0, 90);
        int op = k % REDUCE_OP_COUNT;
        struct operand o = make(&r, rows, columns, 1, (int)rng_below(&r, LAYOUTS), 2);
        struct operand other = make(&r, rows, columns, 1, k / 4 % 2, 0);
        if (columns > 3 && rng_below(&r, 8) == 0) o.at[2 * o.column] = NAN;
        struct const_view v = {o.at, o.row, o.column};
        float one[80], two[80];
        reduce_rows((enum reduce_op)op, one, 2, v, rows, columns);
        for (int64_t i = 0; i < rows; i++)
            assert_close((double)one[i * 2], reference_reduce(op, v, i, columns));
        /* Another layout, the same bits. */
        copy_2d((struct view){other.at, other.row, other.column}, v, rows, columns);
        reduce_rows((enum reduce_op)op, two, 2, (struct const_view){other.at, other.row, other.column}, rows,
                    columns);
        for (int64_t i = 0; i < rows; i++)
            if (!isnan(one[i * 2])) assert_true(one[i * 2] == two[i * 2]);
        free(o.memory), free(other.memory);
    }
}

/* ---- half precision ---- */

static double value_of_fp16(unsigned half)
{
    int exponent = half >> 10 & 31, mantissa = half & 0x3ff;
    double x = exponent == 31 ? (mantissa ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                              : ldexp(mantissa, -24);
    return half & 0x8000 ? -x : x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint16_t narrow(const struct kernel_target *t, double x)
{
    uint16_t many[17];
    float value[17];
    for (int i = 0; i < 17; i++) value[i] = (float)x; /* the vectors and the rest */
    fp16_from_fp32(t, many, value, 17);
    for (int i = 1; i < 17; i++) assert_int_equal(many[i], many[0]);
    return many[0];
}

static void test_fp16(void **state)
{
    (void)state;
    enum { ALL = 65536 };
    static uint16_t half[ALL + 3], back[ALL + 3];
    static float wide[ALL + 3];
    for (int i = 0; i < ALL + 3; i++) half[i] = (uint16_t)i;
    const struct kernel_target *t;
    for (int n = 0; (t = kernel_target_at(n)); n++) {
        fp32_from_fp16(t, wide, half, ALL + 3);
        fp16_from_fp32(t, back, wide, ALL + 3);
        for (unsigned i = 0; i < ALL; i++) {
            double expected = value_of_fp16(i);
            if (isnan(expected)) {
                assert_true(isnan(wide[i]));
                assert_int_equal(bits_of(wide[i]), (i & 0x8000) << 16 | 0x7fc00000 | (i & 0x3ff) << 13);
                assert_int_equal(back[i], i | 0x200);
            } else {
                assert_true((double)wide[i] == expected && !signbit(wide[i]) == !(i & 0x8000));
                assert_int_equal(back[i], i);
            }
        }
        /* Between neighbours: the half way goes to the even one, a hair to either side to the nearer one. */
        for (unsigned i = 0; i < 0x7c00; i++) {
            double low = value_of_fp16(i), high = i + 1 == 0x7c00 ? 65536 : value_of_fp16(i + 1);
            double middle = (low + high) / 2;
            assert_int_equal(narrow(t, middle), i + (i & 1));
            assert_int_equal(narrow(t, (double)nextafterf((float)middle, 0)), i);
            assert_int_equal(narrow(t, -(double)nextafterf((float)middle, INFINITY)), 0x8000 | (i + 1));
        }
        assert_int_equal(narrow(t, 1e30), 0x7c00);
        assert_int_equal(narrow(t, -INFINITY), 0xfc00);
        assert_int_equal(narrow(t, 1e-40), 0);
        assert_int_equal(narrow(t, -0.0), 0x8000);
    }
    /* All targets give the same bits for any float. */
    struct rng r = rng_seed(9);
    for (int i = 0; i < ALL; i++) {
        uint32_t bits = (uint32_t)rng_next(&r);
        memcpy(&wide[i], &bits, sizeof bits);
    }
    fp16_from_fp32(kernel_target_find("portable"), half, wide, ALL);
    for (int n = 0; (t = kernel_target_at(n)); n++) {
        fp16_from_fp32(t, back, wide, ALL);
        assert_memory_equal(back, half, ALL * sizeof *half);
    }
}

static void test_bf16(void **state)
{
    (void)state;
    enum { ALL = 65536 };
    static uint16_t half[ALL], back[ALL];
    static float wide[ALL];
    for (int i = 0; i < ALL; i++) half[i] = (uint16_t)i;
    fp32_from_bf16(wide, half, ALL);
    bf16_from_fp32(back, wide, ALL);
    for (uint32_t i = 0; i < ALL; i++) {
        bool nan = (i & 0x7fff) > 0x7f80;
        assert_int_equal(bits_of(wide[i]), (nan ? i | 0x40 : i) << 16);
        assert_int_equal(back[i], nan ? i | 0x40 : i);
    }
    static const struct {
        uint32_t bits;
        uint16_t half;
    } samples[] = {{0x3f808000, 0x3f80}, {0x3f818000, 0x3f82}, {0x3f808001, 0x3f81}, {0x7f7fffff, 0x7f80},
                   {0x00008000, 0x0000}, {0x00018000, 0x0002}, {0x7f800001, 0x7fc0}, {0x80000000, 0x8000}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        float x;
        uint16_t got;
        memcpy(&x, &samples[i].bits, sizeof x);
        bf16_from_fp32(&got, &x, 1);
        assert_int_equal(got, samples[i].half);
    }
}

/* ---- the pool ---- */

struct tally {
    unsigned char *seen;
    int threads;
};

static void count_task(void *context, int64_t task, int worker)
{
    struct tally *t = context;
    t->seen[task]++;
    if (worker < 0 || worker >= t->threads) t->seen[task] = 100;
}

static void test_pool(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    enum { TASKS = 1000 };
    unsigned char seen[TASKS + 1];
    for (int i = 0; i < 4; i++) {
        struct pool *pool = pool_create(threads[i]);
        assert_non_null(pool);
        assert_int_equal(pool_threads(pool), threads[i]);
        for (int64_t n = 0; n <= TASKS; n = n < 20 ? n + 1 : n * 3 / 2)
            for (int repeat = 0; repeat < 20; repeat++) {
                memset(seen, 0, sizeof seen);
                pool_run(pool, n, count_task, &(struct tally){seen, threads[i]});
                for (int64_t k = 0; k < TASKS; k++) assert_int_equal(seen[k], k < n);
            }
        char *first = pool_scratch(pool, 100);
        assert_non_null(first);
        memset(first, 1, 100);
        assert_ptr_equal(pool_scratch(pool, 50), first);
        char *large = pool_scratch(pool, 5 << 20);
        assert_true(large && (uintptr_t)large % 64 == 0);
        memset(large, 1, 5 << 20);
        pool_destroy(pool);
    }
    memset(seen, 0, sizeof seen);
    pool_run(NULL, 5, count_task, &(struct tally){seen, 1});
    assert_int_equal(seen[4], 1);
    pool_destroy(NULL);
}

static void test_targets(void **state)
{
    (void)state;
    assert_ptr_equal(kernel_target_best(), kernel_target_at(0));
    assert_non_null(kernel_target_find("portable"));
    assert_null(kernel_target_find("no such target"));
    const struct kernel_target *t;
    for (int i = 0; (t = kernel_target_at(i)); i++)
        assert_ptr_equal(kernel_target_find(kernel_target_name(t)), t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_random_layouts),
        cmocka_unit_test(test_every_layout_and_touch),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_pointwise),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_fp16),
        cmocka_unit_test(test_bf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
