/* Kernels that are no products, against plain loops: moves and conversions. */
#include "support/kernel_operands.h"
#include "base/memory.h"

/* ---- moves ---- */

static void test_moves(void **state)
{
    (void)state;
    struct rng r = rng_seed(6);
    for (int k = 0; k < 2000; k++) {
        int64_t rows = rng_between(&r, 0, 40), columns = rng_between(&r, 0, 40);
        struct operand from =
            operand_make(&r, rows + 1, columns + 1, 1, (int)rng_below(&r, LAYOUTS), rng_between(&r, 0, 3));
        struct operand to =
            operand_make(&r, rows + 1, columns + 1, 1, (int)rng_below(&r, LAYOUTS), rng_between(&r, 0, 3));
        struct view v = {to.at, to.row, to.column};
        struct const_view f = {from.at, from.row, from.column};
        copy_2d(v, f, rows, columns);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                assert_true(operand_at(to.at, to.row, to.column, i, j) ==
                            operand_at(from.at, from.row, from.column, i, j));
        relu_2d(v, f, rows, columns);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                assert_true(operand_at(to.at, to.row, to.column, i, j) ==
                            operand_relu(operand_at(from.at, from.row, from.column, i, j)));
        float corner = to.at[rows * to.row + columns * to.column];
        zero_2d(v, rows, columns);
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < columns; j++)
                assert_true(operand_at(to.at, to.row, to.column, i, j) == 0);
        assert_true(to.at[rows * to.row + columns * to.column] == corner);
        mem_free(from.memory), mem_free(to.memory);
    }
}

/* Rows so long that the kernel fetches ahead, or writes past the caches, with tails, rows at odd places, in
 * place, and what is no number. */
static void check_relu_of_rows(int64_t row)
{
    enum { ROWS = 3 };
    const int64_t pitch = row + 9, all = ROWS * pitch;
    float *from = mem_alloc((size_t)all * sizeof *from), *to = mem_alloc((size_t)all * sizeof *to);
    assert_true(from && to);
    struct rng r = rng_seed(11);
    for (int64_t i = 0; i < all; i++) from[i] = i % 100 == 7 ? NAN : small_value(&r), to[i] = 5;
    relu_2d((struct view){to, pitch, 1}, (struct const_view){from, pitch, 1}, ROWS, row);
    for (int64_t i = 0; i < all; i++)
        assert_true(to[i] == (i % pitch >= row ? 5 : from[i] > 0 ? from[i] : 0));
    relu_2d((struct view){from, 1, pitch}, (struct const_view){from, 1, pitch}, pitch, ROWS);
    for (int64_t i = 0; i < all; i++) assert_true(i % pitch >= row ? from[i] >= 0 : from[i] == to[i]);
    mem_free(from), mem_free(to);
}

static void test_relu_of_long_rows(void **state)
{
    (void)state;
    check_relu_of_rows(9001);
    check_relu_of_rows((1 << 20) + 37);
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
    const struct kernel_target *portable = NULL; /* the last */
    for (int n = 0; (t = kernel_target_at(n)); n++) portable = t;
    fp16_from_fp32(portable, half, wide, ALL);
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
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_relu_of_long_rows),
        cmocka_unit_test(test_fp16),
        cmocka_unit_test(test_bf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
