/* Every kind of op has a meaning everywhere: on the device, in the reference, in the manual of patterns. The meanings,
 * written apart on purpose, agree; and the device is never further from the exact result than its kind says. */
#include "base/file.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text.h"
#include "device/execute/arith.h"
#include "device/device.h"
#include "device/reference/evaluate.h"
#include "support/made_reference.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const float samples[] = {-8, -2.5f, -1, -0.75f, -0x1p-20f, 0, 0x1p-12f, 0.3f, 1, 1.5f, 3, 11, NAN};
enum { SAMPLES = sizeof samples / sizeof *samples };

static const struct lx_kind *kind_at(int i)
{
    return lx_kind_at((enum lx_kind_id)i);
}

static bool is_by_element(const struct lx_kind *k)
{
    return arith_of(k) && meaning_of(k) && meaning_of(k)->in_double && !(k->traits & LX_CONTRACTS);
}

/* Values of an operand, above 0 where they must be. */
static float sample(const struct lx_kind *k, int operand, int i)
{
    return k->positive >> operand & 1 ? fabsf(samples[i]) + 0.01f : samples[i];
}

/* What is allowed of the kind at this operand and result. */
static double slack_at(const struct lx_kind *k, double operand, double result)
{
    struct lx_op op = {.kind = k};
    struct evaluation e = {.op = &op};
    return k->error == LX_ERROR_NONE ? 0 : slack_of_element(&e, operand, result);
}

/* Both no number, or no further apart than `slack`; beyond the range of fp32 infinite. */
static void assert_near(const struct lx_kind *k, double got, double want, double slack)
{
    bool same = got == want || (isnan(got) && isnan(want)) || fabs(got - want) <= slack ||
                (isinf(got) && fabs(want) + slack >= (double)FLT_MAX && signbit(got) == signbit(want));
    if (!same) fail_msg("%s: %.9g, but it is %.17g and %g is allowed", k->name, got, want, slack);
}

static void rows_are_complete(void **state)
{
    (void)state;
    for (int i = 0; i < LX_KIND_COUNT; i++) {
        const struct lx_kind *k = kind_at(i);
        assert_int_equal((int)k->id, i);
        assert_ptr_equal(lx_kind_find(k->name), k);
        assert_true(strlen(k->help) > 1 && (k->ulps > 0) <= (k->error != LX_ERROR_NONE));
        assert_true(k->least_inputs <= k->most_inputs && k->most_inputs <= LX_MAX_INPUTS);
        if (k->traits & LX_MIXES) {
            assert_null(arith_of(k));
            assert_null(meaning_of(k));
        } else if (!arith_of(k) || !meaning_of(k))
            fail_msg("%s has no %s", k->name,
                     arith_of(k) ? "meaning in the reference" : "arithmetic on the device");
    }
    assert_null(lx_kind_at(LX_KIND_COUNT));
    assert_null(lx_kind_find("unheard of"));
}

/* What is no function of real numbers works on whole numbers, and all that does not shift bits in fp64. */
static void wide_rows_are_complete(void **state)
{
    (void)state;
    for (int i = 0; i < LX_KIND_COUNT; i++) {
        const struct lx_kind *k = kind_at(i);
        const struct arith *a = arith_of(k);
        bool moved = k->traits & (LX_VIEW | LX_PLACES | LX_CHOOSES | LX_OPAQUE), real = k->traits & LX_REAL;
        bool places = k->id == LX_KIND_ARGMAX || k->id == LX_KIND_ARGMIN || k->traits & LX_RANKS;
        struct lx_op op = {.kind = k, .reduces = k->traits & LX_REDUCES && !(k->traits & LX_POINTWISE)};
        if (!a || a->made || (k->traits & LX_OPAQUE && k->id != LX_KIND_RESTICKIFY)) continue;
        if (!a->whole && !(real && k->traits & LX_CONTRACTS) && !wide_arith_of(&op, NUMBERS_FP64))
            fail_msg("%s has no row for fp64 in wide_arith.c", k->name);
        if (real || places) continue;
        if (!wide_arith_of(&op, NUMBERS_INTEGER))
            fail_msg("%s has no row for whole numbers in wide_arith.c", k->name);
        if (!moved && !whole_meaning_of(k)) fail_msg("%s has no row in reference_numbers.c", k->name);
    }
}

/* patterns/README.md has each kind in the table of its section. */
static void manual_names_them(void **state)
{
    (void)state;
    size_t length;
    lx_status st;
    char *text = file_read(SOURCE_DIR "/patterns/README.md", &length, &st), quoted[60];
    assert_non_null(text);
    char *section = strstr(text, "\n## Kinds of ops"), *end = section ? strstr(section + 2, "\n## ") : NULL;
    assert_true(section && end);
    *end = 0;
    for (int i = 0; i < LX_KIND_COUNT; i++) {
        snprintf(quoted, sizeof quoted, "`%s`", kind_at(i)->name);
        if (!strstr(section, quoted)) fail_msg("patterns/README.md has no row for %s", quoted);
    }
    mem_free(text);
}

/* So does the error of a pattern that has none of them. */
static void errors_list_them(void **state)
{
    (void)state;
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [{\"name\": \"a\", "
        "\"bytes\": 8}, {\"name\": \"b\", \"bytes\": 8}], \"ops\": [{\"name\": \"o\", \"kind\": "
        "\"unheard\", \"inputs\": [\"a\"], \"output\": \"b\"}]}";
    lx_status st = {0};
    char word[60];
    assert_null(lx_graph_of_text("t", text, strlen(text), &st));
    assert_int_equal((int)st.code, (int)LX_E_UNKNOWN_KIND);
    for (int i = 0; i < LX_KIND_COUNT; i++) {
        snprintf(word, sizeof word, " %s%s", kind_at(i)->name, i + 1 < LX_KIND_COUNT ? "," : "");
        if (!strstr(st.text, word)) fail_msg("no%s in: %s", word, st.text);
    }
}

/* All triples of samples: the device and the reference. */
static void elements_agree(void **state)
{
    (void)state;
    for (int kind = 0; kind < LX_KIND_COUNT; kind++) {
        const struct lx_kind *k = kind_at(kind);
        if (!is_by_element(k)) continue;
        for (int n = 0; n < SAMPLES * SAMPLES * SAMPLES; n++) {
            float v[3] = {sample(k, 0, n % SAMPLES), sample(k, 1, n / SAMPLES % SAMPLES),
                          sample(k, 2, n / SAMPLES / SAMPLES)};
            double wide[3] = {(double)v[0], (double)v[1], (double)v[2]},
                   want = meaning_of(k)->in_double(wide);
            float got;
            arith_of(k)->row(&got, &v[0], &v[1], &v[2], 1);
            assert_near(k, (double)got, want, slack_at(k, wide[0], want));
        }
    }
}

/* ---- bounds of functions, against long double ---- */

#define L(name, expression)                                                                                  \
    static long double name##_long(long double a, long double b)                                             \
    {                                                                                                        \
        (void)b;                                                                                             \
        return (expression);                                                                                 \
    }
L(add, a + b)
L(sub, a - b)
L(mul, a *b)
L(div, a / b)
L(pow, powl(a, b))
L(exp, expl(a))
L(log, logl(a))
L(sqrt, sqrtl(a))
L(rsqrt, 1 / sqrtl(a))
L(reciprocal, 1 / a)
/* x / (1 + exp(-2 z)) is x (1 + tanh z) / 2 without what cancels. */
L(gelu, a / (1 + expl(-2 * sqrtl(2 / 3.14159265358979323846264338327950288L) * (a + 0.044715L * a * a * a))))
L(silu, a / (1 + expl(-a)))
L(sigmoid, 1 / (1 + expl(-a)))
L(tanh, tanhl(a))
L(cos, cosl(a))
L(sin, sinl(a))
L(erf, erfl(a))
L(log1p, log1pl(a))
L(expm1, expm1l(a))
L(cbrt, cbrtl(a))
L(atan2, atan2l(a, b))
L(gelu_erf, 0.5L * a * erfcl(-a / sqrtl(2)))

static const struct {
    enum lx_kind_id id;
    long double (*exact)(long double a, long double b);
} exact_rows[] = {
    {LX_KIND_ADD, add_long},
    {LX_KIND_SUB, sub_long},
    {LX_KIND_MUL, mul_long},
    {LX_KIND_DIV, div_long},
    {LX_KIND_POW, pow_long},
    {LX_KIND_EXP, exp_long},
    {LX_KIND_LOG, log_long},
    {LX_KIND_SQRT, sqrt_long},
    {LX_KIND_RSQRT, rsqrt_long},
    {LX_KIND_GELU, gelu_long},
    {LX_KIND_RECIPROCAL, reciprocal_long},
    {LX_KIND_SILU, silu_long},
    {LX_KIND_TANH, tanh_long},
    {LX_KIND_SIGMOID, sigmoid_long},
    {LX_KIND_COS, cos_long},
    {LX_KIND_SIN, sin_long},
    {LX_KIND_ERF, erf_long},
    {LX_KIND_LOG1P, log1p_long},
    {LX_KIND_EXPM1, expm1_long},
    {LX_KIND_CBRT, cbrt_long},
    {LX_KIND_ATAN2, atan2_long},
    {LX_KIND_GELU_ERF, gelu_erf_long},
};
enum { EXACT_ROWS = sizeof exact_rows / sizeof *exact_rows };

static float float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The error of one element in units of what its kind names; all of it must be within the slack. */
static double ulps_of(const struct lx_kind *k, long double (*exact)(long double, long double), float a,
                      float b)
{
    float got, none = 0;
    double wide[3] = {(double)a, (double)b, 0}, by_meaning = meaning_of(k)->in_double(wide);
    long double want = exact((long double)a, (long double)b);
    arith_of(k)->row(&got, &a, &b, &none, 1);
    if (isnan(want) || isinf(want) || isnan(got)) {
        if (!isnan(want) || !isnan(got)) assert_near(k, (double)got, by_meaning, 0);
        return 0;
    }
    double slack = slack_at(k, (double)a, (double)want);
    assert_near(k, (double)got, (double)want, slack);
    assert_near(k, by_meaning, (double)want, slack * 0x1p-20);
    double unit = 0x1p-23 * (k->error == LX_ERROR_OF_OPERAND ? fabs((double)a) : (double)fabsl(want));
    bool normal = fabsl(want) > 0x1p-110L && fabsl(want) < (long double)FLT_MAX;
    return normal ? fabs((double)((long double)got - want)) / unit : 0;
}

/* Every so many floats there is, and as many pairs; where functions change, all that is close by. What was seen must
 * be well below the bound of a formula, and may be all of the bound where IEEE 754 says what the result is. */
static void bounds_hold(void **state)
{
    (void)state;
    enum { STEP = 16001, NEAR = 2000 };
    if (LDBL_MANT_DIG <= DBL_MANT_DIG) {
        print_message("long double is double here: bounds of functions are not tried\n");
        skip();
    }
    for (int i = 0; i < EXACT_ROWS; i++) {
        static const float edges[] = {1, 0.5f, -1, 88.72f, -88.72f, -103.9f, 9.01f, -5.5f, 0x1p-126f};
        const struct lx_kind *k = lx_kind_at(exact_rows[i].id);
        struct rng r = rng_seed(11);
        double worst = 0;
        for (uint64_t bits = 0; bits < UINT32_MAX; bits += STEP) {
            float b = (float)rng_between(&r, -6400, 6400) * 0x1p-8f;
            if (rng_below(&r, 2)) b = float_of((uint32_t)rng_next(&r));
            worst = fmax(worst, ulps_of(k, exact_rows[i].exact, float_of((uint32_t)bits), b));
        }
        for (size_t e = 0; e < sizeof edges / sizeof *edges; e++)
            for (int n = 0; n < NEAR; n++) {
                float a = edges[e] * (1 + (float)(n - NEAR / 2) * 0x1p-18f), b = 0.37f + (float)n * 0.01f;
                worst = fmax(worst, ulps_of(k, exact_rows[i].exact, a, b));
            }
        print_message("%-10s %.3f ulps seen, %.1f allowed\n", k->name, worst, k->ulps);
        assert_true(k->ulps <= 0.5 || worst <= 0.85 * k->ulps);
    }
}

/* No function without a row above. */
static void bounds_are_all_tried(void **state)
{
    (void)state;
    for (int kind = 0; kind < LX_KIND_COUNT; kind++) {
        const struct lx_kind *k = kind_at(kind);
        bool tried = k->error == LX_ERROR_NONE || k->error == LX_ERROR_OF_TERMS ||
                     k->error == LX_ERROR_OF_POWERS || k->error == LX_ERROR_OF_PRODUCT; /* below */
        for (int i = 0; i < EXACT_ROWS; i++) tried |= (int)exact_rows[i].id == kind;
        if (!tried) fail_msg("%s is not compared with long double", k->name);
    }
}

/* Rows in vectors do as elements one by one. */
static void rows_agree_with_elements(void **state)
{
    (void)state;
    struct rng r = rng_seed(7);
    for (int kind = 0; kind < LX_KIND_COUNT; kind++) {
        const struct lx_kind *k = kind_at(kind);
        float in[3][100], out[101], one;
        if (!is_by_element(k)) continue;
        for (int64_t count = 0; count <= 100; count++) {
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 100; j++) in[i][j] = sample(k, i, (int)rng_below(&r, SAMPLES));
            out[count] = 5;
            arith_of(k)->row(out, in[0], in[1], in[2], count);
            assert_true(out[count] == 5);
            for (int64_t j = 0; j < count; j++) {
                arith_of(k)->row(&one, &in[0][j], &in[1][j], &in[2][j], 1);
                assert_near(k, (double)out[j], (double)one,
                            k->ulps <= 0.5 ? 0 : 2 * slack_at(k, (double)in[0][j], (double)one));
            }
        }
    }
}

static double folded(const struct meaning_fold *f, const float *row, int64_t count)
{
    double pair[2] = {f->start, 0};
    for (int64_t i = 0; i < count; i++) {
        pair[1] = (double)row[i];
        pair[0] = f->in_double(pair);
    }
    return pair[0];
}

/* Reductions of rows of any length, whole and in two parts that are joined. */
static double slack_of_fold(const struct lx_kind *k, int64_t count, double want)
{
    struct lx_op op = {.kind = k};
    struct evaluation e = {.op = &op, .terms = count, .growth = (double)count * 0x1p-23};
    bool rounds = k->error == LX_ERROR_OF_POWERS || k->error == LX_ERROR_OF_PRODUCT;
    return rounds ? slack_of_sum(&e, 1, want) : 0;
}

static long double powers_long(const float *row, int64_t count)
{
    long double top = (long double)row[0], sum = 0;
    for (int64_t i = 1; i < count; i++) top = (long double)row[i] > top ? (long double)row[i] : top;
    for (int64_t i = 0; i < count; i++) sum += expl((long double)row[i] - top);
    return top + logl(sum);
}

/* Logarithms of sums of powers, made in one piece and from two. */
static void powers_are_near(void **state)
{
    (void)state;
    const struct lx_kind *k = lx_kind_at(LX_KIND_LOGSUMEXP);
    const struct reduction *device = arith_of(k)->sum;
    struct rng r = rng_seed(21);
    for (int n = 0; n < 3000; n++) {
        float row[700], wide = (float)rng_between(&r, 1, 900) * 0.1f, part = device->neutral, largest = 0;
        int64_t count = 1 + (int64_t)rng_below(&r, n % 8 ? 90 : 700), cut = count / 2 + 1;
        for (int64_t i = 0; i < count; i++) {
            row[i] = (float)rng_between(&r, -(1 << 20), 1 << 20) * 0x1p-20f * wide;
            largest = fmaxf(largest, fabsf(row[i]));
        }
        long double want = powers_long(row, count);
        struct lx_op op = {.kind = k};
        struct evaluation e = {.op = &op, .terms = count};
        double slack = slack_of_sum(&e, (double)largest, (double)want);
        for (int64_t i = 0; i < count; i += cut) {
            float more = device->row(row + i, count - i < cut ? count - i : cut);
            device->join(&part, &more, 1);
        }
        assert_near(k, (double)device->row(row, count), (double)want, slack);
        assert_near(k, (double)part, (double)want, slack);
        assert_near(k, folded(meaning_of(k)->fold, row, count), (double)want, slack * 0x1p-16);
    }
}

static void folds_agree(void **state)
{
    (void)state;
    struct rng r = rng_seed(8);
    for (int kind = 0; kind < LX_KIND_COUNT; kind++) {
        const struct lx_kind *k = kind_at(kind);
        if (!(k->traits & (LX_REDUCES | LX_CONTRACTS)) || !arith_of(k) || !meaning_of(k)) continue;
        const struct reduction *device = arith_of(k)->sum;
        const struct meaning_fold *fold = meaning_of(k)->fold;
        assert_true((double)device->neutral == fold->start && device->divides == fold->divides);
        for (int64_t count = 0; count < 300; count++) {
            float row[300], left, right;
            for (int64_t i = 0; i < count; i++) row[i] = (float)rng_between(&r, -64, 64) * 0x1p-6f;
            if (count > 3 && count % 8 == 0) row[2] = NAN;
            int64_t cut = (int64_t)rng_below(&r, (uint64_t)count + 1);
            left = device->row(row, cut);
            right = device->row(row + cut, count - cut);
            device->join(&left, &right, 1);
            /* The samples are so short that every order of summation is exact; logarithms are not. */
            double want = folded(fold, row, count), slack = slack_of_fold(k, count, want);
            assert_near(k, (double)device->row(row, count), want, slack);
            assert_near(k, (double)left, want, slack);
        }
    }
}

/* ---- what is not known ---- */

static void unknown_kinds_are_refused(void **state)
{
    (void)state;
    struct lx_kind fresh = *lx_kind_at(LX_KIND_TANH);
    static const char text[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\", \"tensors\": [{\"name\": \"a\", \"shape\": "
        "[8]}, "
        "{\"name\": \"b\", \"shape\": [8]}, {\"name\": \"c\", \"shape\": [8]}], \"ops\": [{\"name\": \"o\", "
        "\"kind\": \"tanh\", \"inputs\": [\"a\"], \"output\": \"b\"}, {\"name\": \"p\", \"kind\": \"tanh\", "
        "\"inputs\": [\"b\"], \"output\": \"c\"}]}";
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_graph changed = *g;
    struct lx_op ops[2] = {g->ops[0], g->ops[1]};
    fresh.id = LX_KIND_COUNT;
    fresh.name = "softest";
    ops[0].kind = &fresh;
    changed.ops = ops;
    assert_true(arith_known(g, &st) && meanings_known(g, &st));
    assert_false(arith_known(&changed, &st));
    assert_int_equal((int)st.code, (int)LX_E_UNSUPPORTED);
    assert_non_null(strstr(st.text, "op o: the device has no arithmetic for the kind softest"));
    assert_null(made_reference(&changed, 1, 1, &st));
    assert_non_null(strstr(st.text, "what the kind softest computes"));
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(wide_rows_are_complete),
        cmocka_unit_test(manual_names_them),
        cmocka_unit_test(errors_list_them),
        cmocka_unit_test(elements_agree),
        cmocka_unit_test(rows_agree_with_elements),
        cmocka_unit_test(folds_agree),
        cmocka_unit_test(powers_are_near),
        cmocka_unit_test(bounds_hold),
        cmocka_unit_test(bounds_are_all_tried),
        cmocka_unit_test(unknown_kinds_are_refused),
    };
    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
