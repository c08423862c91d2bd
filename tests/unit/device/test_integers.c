/* Whole numbers: the device's arithmetic, the reference's and what the manual says of the ends of types agree to the bit;
 * casts round once; numbers of all types survive fp64. */
#include "base/rng.h"
#include "device/execute/arith.h"
#include "device/reference/evaluate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const enum lx_dtype whole_types[] = {LX_INT64,  LX_INT32,  LX_INT16, LX_INT8, LX_UINT64,
                                            LX_UINT32, LX_UINT16, LX_UINT8, LX_BOOL};
enum { WHOLE_TYPES = sizeof whole_types / sizeof *whole_types };

/* Ends of the type, small numbers, and any. */
static wide_number sample(struct rng *r, const struct number_type *t)
{
    int64_t bits = (int64_t)rng_next(r);
    switch (rng_below(r, 4)) {
    case 0: return number_wrapped(t, bits % 9 - 4);
    case 1: return number_wrapped(t, ((whole_number)1 << (t->bits - 1)) + bits % 3 - 1);
    case 2: return number_wrapped(t, bits % 40);
    default: return number_wrapped(t, bits);
    }
}

static void elements_agree(void **state)
{
    (void)state;
    struct rng r = rng_seed(5);
    int kinds = 0;
    const unsigned moves = LX_VIEW | LX_OPAQUE | LX_PLACES | LX_CHOOSES | LX_RANKS; /* nothing is computed */
    for (int kind = 0; kind < LX_KIND_COUNT; kind++) {
        const struct lx_op op = {.kind = lx_kind_at((enum lx_kind_id)kind)};
        const struct wide_arith *device =
            op.kind->traits & LX_CONTRACTS ? NULL : wide_arith_of(&op, NUMBERS_INTEGER);
        const struct whole_meaning *reference = whole_meaning_of(op.kind);
        if (!device || !device->element || op.kind->traits & moves) continue;
        assert_true(reference && reference->element);
        kinds++;
        for (int n = 0; n < 40000; n++) {
            const struct number_type *t = &number_types[whole_types[n % WHOLE_TYPES]];
            bool shifts = kind == LX_KIND_SHL || kind == LX_KIND_SHR || kind == LX_KIND_SAR;
            if (shifts && t == &number_types[LX_BOOL]) continue;
            wide_number a = sample(&r, t), b = sample(&r, t), c = sample(&r, t);
            int width = t == &number_types[LX_BOOL] ? 0 : t->bits;
            wide_number got = device->element(a, b, c, t);
            wide_number want = number_wrapped(
                t, reference->element(number_whole(a), number_whole(b), number_whole(c), width));
            if (got != want)
                fail_msg("%s of %.0Lf, %.0Lf, %.0Lf with %d bits: %.0Lf and %.0Lf", op.kind->name, a, b, c,
                         width, got, want);
        }
    }
    assert_true(kinds >= 28);
}

static wide_number of(enum lx_kind_id id, enum lx_dtype type, wide_number a, wide_number b)
{
    const struct lx_op op = {.kind = lx_kind_at(id)};
    return wide_arith_of(&op, NUMBERS_INTEGER)->element(a, b, 0, &number_types[type]);
}

static void ends_of_types(void **state)
{
    (void)state;
    const struct {
        enum lx_kind_id kind;
        enum lx_dtype type;
        wide_number a, b, want;
    } rows[] = {
        {LX_KIND_ADD, LX_INT32, 2147483647, 1, -2147483648.0},
        {LX_KIND_ADD, LX_UINT8, 255, 2, 1},
        {LX_KIND_MUL, LX_INT32, 65537, 65537, 131073},
        {LX_KIND_SUB, LX_UINT32, 0, 1, 4294967295.0},
        {LX_KIND_DIV, LX_INT32, -7, 2, -3},
        {LX_KIND_REM, LX_INT32, -7, 2, -1},
        {LX_KIND_DIV, LX_INT8, 5, 0, -1},
        {LX_KIND_DIV, LX_UINT8, 5, 0, 255},
        {LX_KIND_REM, LX_INT8, 5, 0, 5},
        {LX_KIND_DIV, LX_INT8, -128, -1, -128},
        {LX_KIND_ABS, LX_INT16, -32768, 0, -32768},
        {LX_KIND_SHL, LX_INT32, 1, 32, 0},
        {LX_KIND_SHL, LX_INT32, 1, 31, -2147483648.0},
        {LX_KIND_SHR, LX_INT8, -1, 4, 15},
        {LX_KIND_SAR, LX_INT8, -128, 9, -1},
        {LX_KIND_SHR, LX_UINT32, 4294967295.0, 31, 1},
        {LX_KIND_GREATER, LX_BOOL, 4294967295.0, 1, 1},
        {LX_KIND_NOT, LX_UINT8, 1, 0, 254},
        {LX_KIND_NOT, LX_BOOL, 1, 0, 0},
        {LX_KIND_AND, LX_BOOL, 2, 1, 1},
        {LX_KIND_AND, LX_INT32, 2, 1, 0},
        {LX_KIND_POW, LX_INT32, 3, 21, 1870418611},
        {LX_KIND_ADD, LX_INT64, 9007199254740993.0L, 1, 9007199254740994.0L},
        {LX_KIND_ADD, LX_INT64, 9223372036854775807.0L, 1, -0x1p63L},
        {LX_KIND_SUB, LX_UINT64, 0, 1, 18446744073709551615.0L},
        {LX_KIND_MUL, LX_UINT64, 11400714819323198485.0L, 3, 15755400384260043839.0L},
        {LX_KIND_DIV, LX_UINT64, 18446744073709551615.0L, 10, 1844674407370955161.0L},
        {LX_KIND_DIV, LX_INT64, -0x1p63L, -1, -0x1p63L},
        {LX_KIND_SHR, LX_INT64, -1, 1, 9223372036854775807.0L},
        {LX_KIND_SHL, LX_INT64, 1, 63, -0x1p63L},
        {LX_KIND_SHL, LX_UINT64, 1, 64, 0},
        {LX_KIND_MAX, LX_UINT64, 0x1p63L, 1, 0x1p63L},
        {LX_KIND_CAST, LX_INT8, 300, 0, 44},
        {LX_KIND_CAST, LX_UINT64, -1, 0, 18446744073709551615.0L},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (of(rows[i].kind, rows[i].type, rows[i].a, rows[i].b) != rows[i].want)
            fail_msg("%s of %.0Lf and %.0Lf is %.0Lf, not %.0Lf", lx_kind_at(rows[i].kind)->name, rows[i].a,
                     rows[i].b, of(rows[i].kind, rows[i].type, rows[i].a, rows[i].b), rows[i].want);
}

/* One rounding: through fp32 the first three would be rounded twice. */
static void casts_round_once(void **state)
{
    (void)state;
    const struct {
        enum lx_dtype type;
        double x, want;
    } rows[] = {
        {LX_BF16, 0x1010001, 0x1020000},
        {LX_FP16, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-10},
        {LX_FP8, 17 + 0x1p-30, 18},
        {LX_FP8, 1000, NAN},
        {LX_FP8_E5M2, 1000000, INFINITY},
        {LX_FP8_E5M2, 57344, 57344},
        {LX_FP8_E5M2, 0x1p-17, 0},
        {LX_FP8_E5M2, 3 * 0x1p-18, 0x1p-16},
        {LX_FP16, 65520, INFINITY},
        {LX_FP32, 16777217, 16777216},
        {LX_INT32, 16777217, 16777217},
        {LX_INT32, 3e9, 2147483647},
        {LX_UINT32, -1, 0},
        {LX_UINT8, 300, 255},
        {LX_INT64, NAN, 0},
        {LX_BOOL, 1e-300, 1},
        {LX_FP64, 0x1p-1074, 0x1p-1074},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct number_type *t = &number_types[rows[i].type];
        uint64_t item = 0;
        double got;
        items_narrow(t, &rows[i].x, 1, &item);
        items_widen(t, &item, 1, &got);
        if (got != rows[i].want && !(isnan(got) && isnan(rows[i].want)))
            fail_msg("%.17g as %s: %.17g, not %.17g", rows[i].x, lx_dtype_word(rows[i].type), got,
                     rows[i].want);
    }
}

/* Integers of 64 bits are rounded once, to whatever they become. */
static void long_integers_round_once(void **state)
{
    (void)state;
    const struct {
        enum lx_dtype type;
        wide_number x;
        double want;
    } rows[] = {
        {LX_FP32, 0x1p62L + 0x1p38L + 1, 0x1p62 + 0x1p39}, /* above the half: fp64 has it at the half */
        {LX_FP32, 0x1p62L + 0x1p38L, 0x1p62},
        {LX_FP64, 9007199254740993.0L, 9007199254740992.0},
        {LX_BF16, 0x1p62L + 0x1p54L + 1, 0x1p62 + 0x1p55},
        {LX_FP16, 9223372036854775807.0L, INFINITY},
        {LX_BOOL, 0x1p63L, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t item = 0;
        double got;
        items_from_wide(&number_types[rows[i].type], &rows[i].x, 1, &item);
        items_widen(&number_types[rows[i].type], &item, 1, &got);
        if (got != rows[i].want)
            fail_msg("%.0Lf as %s: %.17g, not %.17g", rows[i].x, lx_dtype_word(rows[i].type), got,
                     rows[i].want);
    }
}

/* Ends and neighbours of fp64 in integers of 64 bits. */
static void long_integers_survive(void **state)
{
    (void)state;
    struct rng r = rng_seed(9);
    static const uint64_t ends[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 53) + 1, INT64_MAX};
    for (int n = 0; n < 20000; n++) {
        const struct number_type *t = &number_types[n % 2 ? LX_INT64 : LX_UINT64];
        uint64_t item = n < 12 ? ends[n / 2] : rng_next(&r), again = 0;
        wide_number x;
        items_to_wide(t, &item, 1, &x);
        assert_true(number_wrapped(t, (whole_number)item) == x);
        items_from_wide(t, &x, 1, &again);
        assert_true(item == again);
    }
}

/* Every pattern of 8 and 16 bits comes back. */
static void bits_survive(void **state)
{
    (void)state;
    for (int d = 0; d < LX_DTYPE_COUNT; d++) {
        const struct number_type *t = &number_types[d];
        if (t->item > 2 || t->bits < 8 || d == LX_BOOL) continue;
        for (uint64_t bits = 0; bits < UINT64_C(1) << t->bits; bits++) {
            uint64_t item = bits, again = 0;
            double x;
            items_widen(t, &item, 1, &x);
            items_narrow(t, &x, 1, &again);
            if (!isnan(x) && memcmp(&item, &again, (size_t)t->item) != 0)
                fail_msg("%s: %llx came back as %llx", lx_dtype_word((enum lx_dtype)d),
                         (unsigned long long)bits, (unsigned long long)again);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_agree),           cmocka_unit_test(ends_of_types),
        cmocka_unit_test(casts_round_once),         cmocka_unit_test(bits_survive),
        cmocka_unit_test(long_integers_round_once), cmocka_unit_test(long_integers_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
