/* Ops of model files whose meaning hangs on the type of their numbers, from the file to what the device makes of them. */
#include "device/device.h"
#include "device/memory/dtypes.h"
#include "import/model_import.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { NUMBERS = 16 };

/* A model of one or two inputs of 16 numbers, and its only output. */
struct model {
    const struct lx_graph *g;
    const double *in[2];
    double got[NUMBERS];
};

static void put(void *context, int32_t tensor, void *items)
{
    const struct model *m = context;
    int which = 0;
    for (int32_t t = 0; t < tensor; t++) which += m->g->tensors[t].role == LX_INPUT;
    assert_true(which < 2);
    items_narrow(&number_types[m->g->tensors[tensor].dtype], m->in[which], NUMBERS, items);
}

static void take(void *context, int32_t tensor, const void *items)
{
    struct model *m = context;
    items_widen(&number_types[m->g->tensors[tensor].dtype], items, NUMBERS, m->got);
}

static void run(const char *text, size_t length, struct model *m)
{
    struct lx_import_options options = {.branch = -1};
    struct lx_plan_options how = {.solver = lx_solver_find("auto")};
    lx_status st = {0};
    m->g = lx_model_import("here", text, length, &options, NULL, &st);
    if (!m->g) fail_msg("%s", st.text);
    for (int32_t o = 0; o < m->g->op_count; o++)
        if (m->g->ops[o].kind->traits & LX_MIXES) fail_msg("%s is generic", m->g->ops[o].name);
    struct lx_plan *p = lx_plan_make(m->g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
    struct lx_device_options device = {.input = put, .output = take, .context = m};
    struct lx_run_result *r = lx_device_run(p, &device, &st);
    if (!r) fail_msg("%s", st.text);
    assert_true(r->ok);
    lx_run_result_free(r);
    lx_plan_free(p);
    lx_graph_free(m->g);
}

static void expect(const struct model *m, const double *want, const char *what)
{
    for (int i = 0; i < NUMBERS; i++)
        if (m->got[i] != want[i] && !(isnan(m->got[i]) && isnan(want[i])))
            fail_msg("%s: %.9g at %d, not %.9g", what, m->got[i], i, want[i]);
}

static void integers_are_true_or_not(void **state)
{
    static const char form[] =
        "func.func @main(%%arg0: tensor<16x%s>, %%arg1: tensor<16x%s>) -> tensor<16x%s> {\n"
        "  %%0 = \"ttir.logical_%s\"(%%arg0, %%arg1) : (tensor<16x%s>, tensor<16x%s>) -> tensor<16x%s>\n"
        "  return %%0 : tensor<16x%s>\n}\n";
    static const char *const types[] = {"i32", "ui8", "bf16"}, *const kinds[] = {"and", "or", "xor"};
    double a[NUMBERS], b[NUMBERS];
    (void)state;
    for (int k = 0; k < NUMBERS; k++) a[k] = k / 4, b[k] = k % 4;
    for (int i = 0; i < 9; i++) {
        const char *t = types[i % 3];
        char text[600];
        double want[NUMBERS];
        for (int k = 0; k < NUMBERS; k++) {
            bool x = a[k] != 0, y = b[k] != 0;
            want[k] = i / 3 == 0 ? x && y : i / 3 == 1 ? x || y : x != y;
        }
        struct model m = {.in = {a, b}};
        snprintf(text, sizeof text, form, t, t, t, kinds[i / 3], t, t, t, t);
        run(text, strlen(text), &m);
        expect(&m, want, text);
    }
}

/* ---- ONNX, in bytes ---- */

struct bytes {
    char at[400];
    size_t count;
};

/* A field of less than 128 bytes or below 128. */
static void field(struct bytes *to, int number, const void *from, size_t n)
{
    to->at[to->count++] = (char)(number << 3 | (from ? 2 : 0));
    to->at[to->count++] = (char)n;
    if (!from) return;
    memcpy(to->at + to->count, from, n);
    to->count += n;
}

static void large_field(struct bytes *to, int number, const struct bytes *from)
{
    to->at[to->count++] = (char)(number << 3 | 2);
    to->at[to->count++] = (char)(from->count % 128 | 128);
    to->at[to->count++] = (char)(from->count / 128);
    memcpy(to->at + to->count, from->at, from->count);
    to->count += from->count;
}

static void tensor(struct bytes *graph, int where, const char *name, size_t element)
{
    struct bytes dim = {.count = 0}, shape = {.count = 0}, t = {.count = 0}, type = {.count = 0},
                 info = {.count = 0};
    field(&dim, 1, NULL, NUMBERS);
    field(&shape, 1, dim.at, dim.count);
    field(&t, 1, NULL, element);
    field(&t, 2, shape.at, shape.count);
    field(&type, 1, t.at, t.count);
    field(&info, 1, name, 1);
    field(&info, 2, type.at, type.count);
    field(graph, where, info.at, info.count);
}

static void attribute(struct bytes *node, const char *key, size_t number)
{
    struct bytes a = {.count = 0};
    field(&a, 1, key, strlen(key));
    field(&a, 3, NULL, number);
    a.at[a.count++] = (char)(((20 << 3) & 127) | 128); /* field 20 takes two bytes */
    a.at[a.count++] = 1;
    a.at[a.count++] = 2;
    field(node, 5, a.at, a.count);
}

/* y = kind(a, b), or kind(a). */
static void run_node(const char *kind, int inputs, size_t from, size_t to, struct bytes *node,
                     struct model *m)
{
    struct bytes graph = {.count = 0}, set = {.count = 0}, all = {.count = 0};
    field(node, 1, "a", 1);
    if (inputs == 2) field(node, 1, "b", 1);
    field(node, 2, "y", 1);
    field(node, 4, kind, strlen(kind));
    field(&graph, 1, node->at, node->count);
    tensor(&graph, 11, "a", from);
    if (inputs == 2) tensor(&graph, 11, "b", from);
    tensor(&graph, 12, "y", to);
    field(&set, 2, NULL, 19);
    field(&all, 1, NULL, 9);
    field(&all, 8, set.at, set.count);
    large_field(&all, 7, &graph);
    run(all.at, all.count, m);
}

static void remainders_have_a_sign(void **state)
{
    double a[NUMBERS], b[NUMBERS], of_divisor[NUMBERS], of_dividend[NUMBERS];
    (void)state;
    for (int k = 0; k < NUMBERS; k++) {
        a[k] = (k - 8) * (k % 2 ? 1 : 100000001.0);
        b[k] = k % 3 == 0 ? -7 : k % 3 == 1 ? 5 : 2147483647.0;
        of_dividend[k] = fmod(a[k], b[k]);
        of_divisor[k] = of_dividend[k] != 0 && (of_dividend[k] < 0) != (b[k] < 0) ? of_dividend[k] + b[k]
                                                                                  : of_dividend[k];
    }
    for (int cut = 0; cut < 2; cut++) {
        struct model m = {.in = {a, b}};
        struct bytes node = {.count = 0};
        if (cut) attribute(&node, "fmod", 1);
        run_node("Mod", 2, 6, 6, &node, &m);
        expect(&m, cut ? of_dividend : of_divisor, cut ? "fmod" : "Mod");
    }
}

/* 448 is the largest of e4m3, which has no infinity. */
static void narrow_floats_saturate(void **state)
{
    double a[NUMBERS], largest[NUMBERS], none[NUMBERS];
    (void)state;
    for (int k = 0; k < NUMBERS; k++) {
        a[k] = k == 15 ? (double)INFINITY : k == 14 ? -1e9 : k == 13 ? (double)NAN : k * 64.0;
        largest[k] = isnan(a[k]) ? a[k] : fmax(fmin(a[k], 448), -448);
        none[k] = fabs(a[k]) > 464 || isnan(a[k]) ? NAN : a[k];
    }
    for (int k = 0; k < NUMBERS; k++)
        if (fabs(none[k]) <= 464) largest[k] = none[k] = fmin(a[k], 448);
    for (int plain = 0; plain < 2; plain++) {
        struct model m = {.in = {a, a}};
        struct bytes node = {.count = 0};
        attribute(&node, "to", 17);
        if (plain) attribute(&node, "saturate", 0);
        run_node("Cast", 1, 1, 17, &node, &m);
        expect(&m, plain ? none : largest, plain ? "Cast" : "Cast, saturated");
    }
}

/* 1 / 3 is rounded before it is multiplied: 5 / 3 is another number. */
static void means_are_sums_times_a_part(void **state)
{
    static const char form[] =
        "func.func @f(%%x: tensor<16x1x%s>) -> tensor<16x%s> {\n"
        "  %%0 = \"ttir.pad\"(%%x) <{padding = array<i32: 0, 0, 0, 2>, value = 0.0 : f32}> : "
        "(tensor<16x1x%s>) -> "
        "tensor<16x3x%s>\n"
        "  %%1 = \"ttir.mean\"(%%0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<16x3x%s>) -> "
        "tensor<16x%s>\n  return %%1 : tensor<16x%s>\n}\n";
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        const char *t = wide ? "f64" : "f32";
        double x[NUMBERS], want[NUMBERS];
        char text[600];
        int others = 0;
        for (int i = 0; i < NUMBERS; i++) {
            x[i] = i + 1;
            want[i] = wide ? x[i] * (1 / 3.0) : (double)((float)x[i] * (1 / 3.0F));
            others += want[i] != (wide ? x[i] / 3 : (double)((float)x[i] / 3));
        }
        assert_true(others > 0);
        struct model m = {.in = {x, x}};
        snprintf(text, sizeof text, form, t, t, t, t, t, t, t);
        run(text, strlen(text), &m);
        expect(&m, want, t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_sums_times_a_part), cmocka_unit_test(integers_are_true_or_not),
        cmocka_unit_test(remainders_have_a_sign), cmocka_unit_test(narrow_floats_saturate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
