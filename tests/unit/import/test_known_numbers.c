/* Numbers that a file states, and what is computed of them ahead: bits are those of the type that stands beside them, and
 * arithmetic is that of the type. */
#include "graph/graph.h"
#include "import/types/typing.h"
#include "import/read/source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A constant of two elements, and what they are. */
static const struct stated {
    const char *element, *value;
    double number[2];
} stated[] = {
    {"f64", "[0x3FF8000000000000, 1.0]", {1.5, 1}},
    {"f64", "0x3FF8000000000000", {1.5, 1.5}},
    {"f32", "[0x3FC00000, 18446744073709551615]", {1.5, 0x1p64}},
    {"f16", "[0x3C00, 0xC000]", {1, -2}},
    {"bf16", "[0x3F80, 0xFF80]", {1, -INFINITY}},
    {"f8E4M3FN", "[0x38, 0xB8]", {1, -1}},
    {"f8E5M2", "[0x3C, 0xBC]", {1, -1}},
    {"i8", "[0xFF, 0x10]", {-1, 16}},
    {"i8", "0xFE", {-2, -2}},
    {"ui8", "[0xFF, 255]", {255, 255}},
    {"i32", "[0xFF, -3]", {255, -3}},
    {"ui64", "[0xFFFFFFFFFFFFFFFF, 1]", {0x1p64, 1}},
    {"i1", "[true, 0x0]", {1, 0}},
};

static struct lx_model *model_of(const char *attrs, const char *type)
{
    char text[600];
    lx_status st = {0};
    snprintf(text, sizeof text,
             "func.func @m() -> tensor<2x%s> {\n  %%c = \"ttir.constant\"() <{%s}> : () -> tensor<2x%s>\n"
             "  return %%c : tensor<2x%s>\n}\n",
             type, attrs, type, type);
    struct lx_model *m = lx_model_read("here", text, strlen(text), NULL, &st);
    if (!m) fail_msg("%s: %s", attrs, st.text);
    return m;
}

static const struct model_attrs *attrs_of(const struct lx_model *m)
{
    return &m->bodies.at[m->entry].ops[0].attrs;
}

static void bits_are_those_of_the_element(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof stated / sizeof *stated; i++) {
        char attrs[200];
        snprintf(attrs, sizeof attrs, "value = dense<%s> : tensor<2x%s>", stated[i].value, stated[i].element);
        struct lx_model *m = model_of(attrs, stated[i].element);
        const struct model_data *d = model_attr_find(attrs_of(m), "value")->data;
        for (int k = 0; k < 2; k++)
            if (model_data_real(d, k) != stated[i].number[k])
                fail_msg("%s: %g", attrs, model_data_real(d, k));
        lx_model_free(m);
    }
}

static void bits_in_lists_of_attributes(void **state)
{
    struct lx_model *m = model_of("value = dense<0> : tensor<2xi8>, a = array<f32: 0x3FC00000, 2.5>, "
                                  "b = array<i8: 0xFF, 3>, c = [0xC000 : f16, 1.0 : f16], d = 0x80 : i8",
                                  "i8");
    const struct model_attrs *attrs = attrs_of(m);
    int count;
    (void)state;
    assert_int_equal(model_attr_find(attrs, "a")->form, ATTR_REALS);
    assert_true(model_attr_find(attrs, "a")->reals[0] == 1.5 && model_attr_find(attrs, "a")->reals[1] == 2.5);
    assert_int_equal(model_attr_ints(attrs, "b", &count)[0], -1);
    assert_int_equal(count, 2);
    assert_true(model_attr_find(attrs, "c")->reals[0] == -2);
    assert_int_equal(model_attr_int(attrs, "d", 0), -128);
    lx_model_free(m);
}

/* Narrow floats: the least number above 0, how many of them are equally far apart before the distance doubles, the codes
 * of infinity and of what is no number (0: none), the largest number. */
static const struct narrow {
    enum model_element element;
    int codes, even;
    double least;
    int infinity, nan, last_nan;
    double most;
} narrow[] = {
    {MODEL_F8E5M2, 256, 4, 0x1p-16, 0x7C, 0x7D, 0x7F, 57344},
    {MODEL_F8E4M3FN, 256, 8, 0x1p-9, 0, 0x7F, 0x7F, 448},
    {MODEL_F8E4M3, 256, 8, 0x1p-9, 0x78, 0x79, 0x7F, 240},
    {MODEL_F8E3M4, 256, 16, 0x1p-6, 0x70, 0x71, 0x7F, 15.5},
    {MODEL_F8E4M3FNUZ, 256, 8, 0x1p-10, 0, 0x80, 0x80, 240},
    {MODEL_F8E5M2FNUZ, 256, 4, 0x1p-17, 0, 0x80, 0x80, 57344},
    {MODEL_F8E4M3B11FNUZ, 256, 8, 0x1p-13, 0, 0x80, 0x80, 30},
    {MODEL_F6E2M3FN, 64, 8, 0x1p-3, 0, 0, 0, 7.5},
    {MODEL_F6E3M2FN, 64, 4, 0x1p-4, 0, 0, 0, 28},
    {MODEL_F4E2M1FN, 16, 2, 0x1p-1, 0, 0, 0, 6},
};

static bool is_nan_code(const struct narrow *t, int code)
{
    int low = t->nan == 0x80 ? code : code % (t->codes / 2);
    return t->nan && low >= t->nan && low <= t->last_nan;
}

static void every_narrow_float(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        const struct narrow *t = &narrow[i];
        double number = 0, step = t->least, most = 0;
        for (int code = 0; code < t->codes / 2; code++) {
            for (int minus = 0; minus < 2; minus++) {
                int all = code + minus * t->codes / 2;
                double is = model_float_of_bits(t->element, (uint64_t)all),
                       want = t->infinity && code == t->infinity ? INFINITY : number;
                if (is_nan_code(t, all) ? !isnan(is) : is != (minus ? -want : want) || signbit(is) != minus)
                    fail_msg("%s: %#x is %g", model_element_word(MODEL_TTIR, t->element), all, is);
                if (isfinite(is) && is > most) most = is;
            }
            if (code >= 2 * t->even && code % t->even == 0) step *= 2;
            number += step;
        }
        assert_true(most == t->most);
    }
    for (int code = 0; code < 255; code++)
        assert_true(model_float_of_bits(MODEL_F8E8M0FNU, (uint64_t)code) == ldexp(1, code - 127));
    assert_true(isnan(model_float_of_bits(MODEL_F8E8M0FNU, 255)));
}

/* Instructions that make r of constants, and what it is. */
static const struct computed {
    const char *element, *made;
    uint64_t number;
} computed[] = {
#define M "a = u64[] constant(18446744073709551615)\nc = u64[] constant(10)\n"
    {"u64", M "r = u64[] maximum(a, c)", UINT64_MAX},
    {"u64", M "r = u64[] minimum(a, c)", 10},
    {"u64", M "r = u64[] divide(a, c)", UINT64_MAX / 10},
    {"u64", M "r = u64[] divide(c, a)", 0},
    {"u64", M "r = u64[] remainder(a, c)", UINT64_MAX % 10},
    {"s32", M "q = pred[] compare(a, c), direction=GT\nr = s32[] convert(q)", 1},
    {"s32", M "q = pred[] compare(a, c), direction=GE\nr = s32[] convert(q)", 1},
    {"s32", M "q = pred[] compare(a, c), direction=LT\nr = s32[] convert(q)", 0},
    {"s32", M "q = pred[] compare(a, c), direction=LE\nr = s32[] convert(q)", 0},
    {"u64", M "d = u64[] constant(1)\nr = u64[] clamp(d, a, c)", 10},
    {"s64", "a = s64[] constant(-1)\nc = s64[] constant(10)\nr = s64[] maximum(a, c)", 10},
    {"s64", "a = s64[] constant(-7)\nc = s64[] constant(2)\nr = s64[] divide(a, c)", (uint64_t)-3},
    {"s32", "a = s32[] constant(7)\nd = s32[] constant(5)\nc = s32[] constant(3)\nr = s32[] clamp(a, d, c)",
     3},
    {"s32", "a = s32[] constant(1)\nd = s32[] constant(5)\nc = s32[] constant(9)\nr = s32[] clamp(a, d, c)",
     5},
#undef M
};

/* The number that is added to x: of the op itself, or of a constant beside it. */
static int64_t added(const struct lx_graph *g)
{
    for (int32_t o = 0; o < g->op_count; o++) {
        if (g->ops[o].data) return g->ops[o].data->wholes[0];
        if (g->ops[o].has_value) return g->ops[o].whole;
    }
    fail_msg("nothing is added");
    return 0;
}

static void whole_numbers_are_those_of_their_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof computed / sizeof *computed; i++) {
        const struct computed *c = &computed[i];
        char text[700];
        lx_status st = {0};
        snprintf(text, sizeof text,
                 "HloModule k\nENTRY m {\nx = %s[4]{0} parameter(0)\n%s\nb = %s[4]{0} broadcast(r), "
                 "dimensions={}\nROOT o = %s[4]{0} add(x, b)\n}\n",
                 c->element, c->made, c->element, c->element);
        const struct lx_graph *g = lx_graph_of_text("t.hlo", text, strlen(text), &st);
        if (!g) fail_msg("%s: %s", c->made, st.text);
        if (added(g) != (int64_t)c->number) fail_msg("%s: %lld", c->made, (long long)added(g));
        lx_graph_free(g);
    }
}

/* A NaN wins, wherever it stands. */
static void no_number_wins(void **state)
{
    static const enum arithmetic either[] = {MIN, MAX};
    double y = 0;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_true(fold_fraction(either[i], NAN, 1, &y) && isnan(y));
        assert_true(fold_fraction(either[i], 1, NAN, &y) && isnan(y));
        assert_true(fold_fraction(either[i], 1, 2, &y) && y == (i ? 2 : 1));
        assert_true(fold_fraction(either[i], INFINITY, -INFINITY, &y) && y == (i ? INFINITY : -INFINITY));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_those_of_the_element), cmocka_unit_test(bits_in_lists_of_attributes),
        cmocka_unit_test(every_narrow_float), cmocka_unit_test(whole_numbers_are_those_of_their_type),
        cmocka_unit_test(no_number_wins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
