/* StableHLO, pretty and generic, gives the graph of the same model in HLO; errors have their places. */
#include "unstable.h"
#include "solvers.h"
#include "base/file.h"
#include "base/memory.h"
#include "import/model_import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct lx_graph *import_text(const char *text, size_t length, lx_status *st)
{
    struct lx_import_options how = {.branch = -1};
    return lx_model_import("here", text, length, &how, NULL, st);
}

static const struct lx_graph *import_file(const char *name)
{
    char path[512];
    size_t length;
    lx_status st = {0};
    snprintf(path, sizeof path, SOURCE_DIR "/tests/data/stable/%s", name);
    char *text = file_read(path, &length, &st);
    const struct lx_graph *g = text ? import_text(text, length, &st) : NULL;
    if (!g) fail_msg("%s: %s", name, st.text);
    mem_free(text);
    return g;
}

/* Equal but for names. */
static void expect_equal(const struct lx_graph *a, const struct lx_graph *b)
{
    assert_int_equal(a->tensor_count, b->tensor_count);
    assert_int_equal(a->op_count, b->op_count);
    for (int32_t t = 0; t < a->tensor_count; t++) {
        const struct lx_tensor *x = &a->tensors[t], *y = &b->tensors[t];
        assert_int_equal(x->role, y->role);
        assert_int_equal(x->dtype, y->dtype);
        assert_int_equal(x->rank, y->rank);
        for (int d = 0; d < x->rank; d++) assert_int_equal(x->shape[d], y->shape[d]);
    }
    for (int32_t o = 0; o < a->op_count; o++) {
        const struct lx_op *x = &a->ops[o], *y = &b->ops[o];
        if (x->kind != y->kind) fail_msg("op %d: %s and %s", o, x->kind->name, y->kind->name);
        assert_int_equal(x->input_count, y->input_count);
        for (int i = 0; i < x->input_count; i++) assert_int_equal(x->inputs[i], y->inputs[i]);
        assert_int_equal(x->output, y->output);
        assert_true(!x->einsum == !y->einsum && (!x->einsum || strcmp(x->einsum, y->einsum) == 0));
        assert_int_equal(x->window_count, y->window_count);
        if (x->window_count > 0) assert_memory_equal(x->windows, y->windows, sizeof *x->windows);
    }
}

static void expect_runs(const struct lx_graph *g)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
    struct lx_device_options run = {.verify = LX_VERIFY_OPS};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    struct lx_run_result *r = p ? lx_device_run(p, &run, &st) : NULL;
    if (!r || !r->ok) fail_msg("%s", st.text);
    lx_run_result_free(r);
    lx_plan_free(p);
}

static void test_forms(void **state)
{
    (void)state;
    const struct lx_graph *hlo = import_file("three.hlo"), *pretty = import_file("pretty.mlir"),
                          *generic = import_file("generic.mlir");
    int states = 0;
    for (int32_t o = 0; o < hlo->op_count; o++) assert_int_not_equal(hlo->ops[o].kind->id, LX_KIND_GENERIC);
    for (int32_t t = 0; t < hlo->tensor_count; t++) states += hlo->tensors[t].role == LX_STATE;
    assert_int_equal(states, 1);
    expect_equal(pretty, hlo);
    expect_equal(generic, hlo);
    expect_runs(pretty);
    lx_graph_free(hlo);
    lx_graph_free(pretty);
    lx_graph_free(generic);
}

/* A function from x: f32[4,8] to f32[4,8], whose body begins in line 2. */
static const struct lx_graph *import_body(const char *body, lx_status *st)
{
    char text[2048];
    int n = snprintf(text, sizeof text,
                     "func.func @f(%%x: tensor<4x8xf32>, %%i: tensor<i32>) -> tensor<4x8xf32> {\n%s\n"
                     "return %%y : tensor<4x8xf32>\n}\n",
                     body);
    assert_in_range(n, 1, sizeof text - 1);
    return import_text(text, (size_t)n, st);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        int line;
        const char *words;
    } rows[] = {
        {"%y = stablehlo.add %x, %z : tensor<4x8xf32>", 2, "z has not been made above"},
        {"%y = stablehlo.tanh %x junk : tensor<4x8xf32>", 2, "before this"},
        {"%y = stablehlo.tanh %x", 3, "expected"},
        {"%y:2 = stablehlo.tanh %x : tensor<4x8xf32>", 3, "1 types for 2 results"},
        {"%y = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>", 2,
         "breaks the rule"},
        {"%y = stablehlo.constant dense<0.0", 4, "expected"},
        {"%0:2 = stablehlo.while(%a = %i, %y = %x) : tensor<i32>, tensor<4x8xf32>\ncond {\n%1 = "
         "stablehlo.compare LT, %a, %i "
         ": (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %1 : tensor<i1>\n} do "
         "{\nstablehlo.return %a, %y : "
         "tensor<i32>, tensor<4x8xf32>\n}",
         4, "of the function around the region"},
        {"%y = \"stablehlo.reduce\"(%x, %i) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n}) : "
         "(tensor<4x8xf32>, tensor<i32>) "
         "-> tensor<4x8xf32>",
         4, "expected"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lx_status st = {0};
        const struct lx_graph *g = import_body(rows[i].body, &st);
        if (g || st.line != rows[i].line || !strstr(st.text, rows[i].words))
            fail_msg("%s\nline %d: %s", rows[i].body, st.line, st.text);
    }
}

/* What the tables do not have is planned as generic, regions and all. */
static void test_unknown(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "%y = chlo.asinh %x : tensor<4x8xf32> -> tensor<4x8xf32>",
        "%y = \"stablehlo.case\"(%i) ({\n  stablehlo.return %x : tensor<4x8xf32>\n}, {\n  stablehlo.return "
        "%x : "
        "tensor<4x8xf32>\n}) : (tensor<i32>) -> tensor<4x8xf32>",
        "%y = stablehlo.custom_call @mine(%x) {api_version = 2 : i32, backend_config = \"\"} : "
        "(tensor<4x8xf32>) -> "
        "tensor<4x8xf32>",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        lx_status st = {0};
        const struct lx_graph *g = import_body(bodies[i], &st);
        if (!g) fail_msg("%s\n%s", bodies[i], st.text);
        assert_int_equal(g->op_count, 1);
        assert_int_equal(g->ops[0].kind->id, LX_KIND_GENERIC);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
