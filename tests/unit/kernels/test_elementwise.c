/* Kernels that are no products, against plain loops in double: moves, pointwise functions, reductions and
 * conversions. */
#include "support/kernel_operands.h"

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

/* Rows so long that the kernel fetches ahead, or writes past the caches, with tails, rows at odd places, in
 * place, and what is no number. */
static void check_relu_of_rows(int64_t row)
{
    enum { ROWS = 3 };
    const int64_t pitch = row + 9, all = ROWS * pitch;
    float *from = malloc((size_t)all * sizeof *from), *to = malloc((size_t)all * sizeof *to);
    assert_true(from && to);
    struct rng r = rng_seed(11);
    for (int64_t i = 0; i < all; i++) from[i] = i % 100 == 7 ? NAN : small_value(&r), to[i] = 5;
    relu_2d((struct view){to, pitch, 1}, (struct const_view){from, pitch, 1}, ROWS, row);
    for (int64_t i = 0; i < all; i++)
        assert_true(to[i] == (i % pitch >= row ? 5 : from[i] > 0 ? from[i] : 0));
    relu_2d((struct view){from, 1, pitch}, (struct const_view){from, 1, pitch}, pitch, ROWS);
    for (int64_t i = 0; i < all; i++) assert_true(i % pitch >= row ? from[i] >= 0 : from[i] == to[i]);
    free(from), free(to);
}

static void test_relu_of_long_rows(void **state)
{
    (void)state;
    check_relu_of_rows(9001);
    check_relu_of_rows((1 << 20) + 37);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),     cmocka_unit_test(test_relu_of_long_rows),
        cmocka_unit_test(test_pointwise), cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_fp16),      cmocka_unit_test(test_bf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
