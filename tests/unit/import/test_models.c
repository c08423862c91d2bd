/* Readers of models, and what becomes of small ones that stand here as text: places of errors, facts, folded views. */
#include "graph/graph.h"
#include "base/memory.h"
#include "import/model_import.h"
#include "import/facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char attention[] =
    "#loc = loc(\"scores\")\n"
    "module @m attributes {ttcore.meshes = #ttcore.meshes<[<\"mesh\" = 1x1>]>} {\n"
    "func.func @f(%q: tensor<8x256xbf16> {ttcore.argument_type = #ttcore.argument_type<input>}, %k: "
    "tensor<512x256xbf16> "
    "{ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = \"keys\"}) -> "
    "tensor<8x2x256xbf16> {\n"
    "  %0 = \"ttir.permute\"(%k) <{permutation = array<i64: 1, 0>}> : (tensor<512x256xbf16>) -> "
    "tensor<256x512xbf16>\n"
    "  %1 = \"ttir.dot_general\"(%q, %0) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, "
    "contract_dims_lhs = "
    "array<i64: 1>, contract_dims_rhs = array<i64: 0>}> : (tensor<8x256xbf16>, tensor<256x512xbf16>) -> "
    "tensor<8x512xbf16> loc(#loc)\n"
    "  %2 = \"ttir.reshape\"(%1) <{shape = [8 : i32, 2 : i32, 256 : i32]}> : (tensor<8x512xbf16>) -> "
    "tensor<8x2x256xbf16>\n"
    "  %3 = \"ttir.constant\"() <{value = dense<2.0> : tensor<8x2x256xbf16>}> : () -> tensor<8x2x256xbf16>\n"
    "  %4 = \"ttir.multiply\"(%3, %2) : (tensor<8x2x256xbf16>, tensor<8x2x256xbf16>) -> "
    "tensor<8x2x256xbf16>\n"
    "  return %4 : tensor<8x2x256xbf16>\n"
    "} } // the end\n";

static const char loop[] =
    "HloModule m, entry_computation_layout={(f32[4,128]{1,0})->f32[4,128]{1,0}}\n\n"
    "%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
    "  ROOT %s = f32[] add(%a, %b)\n}\n"
    "body {\n  p = (s32[], f32[4,128]{1,0}) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
    "  one = s32[] constant(1)\n  next = s32[] add(i, one)\n  x = f32[4,128]{1,0} get-tuple-element(p), "
    "index=1\n"
    "  w = f32[128,128]{1,0} constant({...})\n"
    "  y = f32[4,128]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT t = (s32[], f32[4,128]{1,0}) tuple(next, /*index=1*/y)\n}\n"
    "cond {\n  p = (s32[], f32[4,128]{1,0}) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
    "  n = s32[] constant(5)\n  ROOT c = pred[] compare(i, n), direction=LT\n}\n"
    "ENTRY main {\n  x = f32[4,128]{1,0} parameter(0), metadata={op_name=\"the \\\"x\\\" {\"}\n  zero = "
    "s32[] constant(0)\n"
    "  t = (s32[], f32[4,128]{1,0}) tuple(zero, x)\n"
    "  l = (s32[], f32[4,128]{1,0}) while(t), condition=cond, body=body\n"
    "  ROOT r = f32[4,128]{1,0} get-tuple-element(l), index=1\n}\n";

static struct lx_model *read_text(const char *text, lx_status *st)
{
    return lx_model_read("here", text, strlen(text), NULL, st);
}

static int64_t fact(const char *text, const char *group, const char *key)
{
    lx_status st = {0};
    struct model_facts f = {0};
    struct lx_model *m = read_text(text, &st);
    if (!m) print_error("%d:%d: %s\n", st.line, st.column, st.text);
    assert_non_null(m);
    lx_model_facts(&f, m);
    int64_t value = model_fact(&f, group, key, -1);
    lx_model_facts_free(&f);
    lx_model_free(m);
    return value;
}

static void test_ttir_facts(void **state)
{
    (void)state;
    assert_int_equal(fact(attention, "ops", ""), 5);
    assert_int_equal(fact(attention, "flops", ""), 2 * 8 * 256 * 512);
    assert_int_equal(fact(attention, "argument_bytes_by_role", "parameter"), 512 * 256 * 2);
    assert_int_equal(fact(attention, "constant_forms", "splat"), 1);
}

static void test_hlo_facts(void **state)
{
    (void)state;
    assert_int_equal(fact(loop, "while_trips", "0"), 5);
    assert_int_equal(fact(loop, "flops", ""), 2 * 4 * 128 * 128);
    assert_int_equal(fact(loop, "flops_run", ""), 5 * 2 * 4 * 128 * 128);
    assert_int_equal(fact(loop, "elided_constants", ""), 1);
    assert_int_equal(fact(loop, "reached_by_control", ""), 3);
}

static const struct lx_graph *import_text(const char *text, bool no_fold)
{
    struct lx_import_options options = {.branch = -1, .no_fold = no_fold};
    lx_status st = {0};
    const struct lx_graph *g = lx_model_import("here", text, strlen(text), &options, NULL, &st);
    if (!g) print_error("%d:%d: %s\n", st.line, st.column, st.text);
    assert_non_null(g);
    return g;
}

/* Permutation and reshape are gone, the number is in the op, names are the author's. */
static void test_folded(void **state)
{
    const struct lx_graph *g = import_text(attention, false);
    (void)state;
    assert_int_equal(g->op_count, 2);
    assert_string_equal(g->ops[0].kind->name, "matmul");
    assert_string_equal(g->ops[0].name, "scores");
    assert_string_equal(g->ops[0].einsum, "ab,cdb->acd");
    assert_string_equal(g->tensors[g->ops[0].inputs[1]].name, "keys");
    assert_int_equal(g->ops[1].kind->id, LX_KIND_MUL);
    assert_true(g->ops[1].has_value && g->ops[1].value == 2);
    lx_graph_free(g);
}

static void test_unfolded(void **state)
{
    const struct lx_graph *g = import_text(attention, true);
    (void)state;
    assert_int_equal(g->op_count, 4);
    assert_string_equal(g->ops[0].einsum, "ab->ba");
    lx_graph_free(g);
}

/* Five trips that share their constant; one where that would be too many ops. */
static void test_loop_import(void **state)
{
    struct lx_import_options few = {.branch = -1, .max_ops = 12, .trips = 2};
    const struct lx_graph *g = import_text(loop, false);
    lx_status st = {0};
    (void)state;
    assert_int_equal(g->op_count, 5);
    assert_int_equal(g->ops[0].kind->id, LX_KIND_MATMUL);
    assert_int_equal(g->ops[4].inputs[1], g->ops[0].inputs[1]);
    lx_graph_free(g);
    g = lx_model_import("here", loop, strlen(loop), &few, NULL, &st);
    assert_non_null(g);
    assert_int_equal(g->op_count, 2);
    lx_graph_free(g);
}

/* What is open follows from one number; without it that one is asked for, and one that breaks a rule is told. */
static void test_open_extents(void **state)
{
    static const char text[] =
        "func.func @f(%x: tensor<?x256xf32>, %w: tensor<256x64xf32>) -> tensor<?x2x32xf32> {\n"
        "  %0 = \"ttir.matmul\"(%x, %w) : (tensor<?x256xf32>, tensor<256x64xf32>) -> tensor<?x64xf32>\n"
        "  %1 = \"ttir.add\"(%0, %0) : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>\n"
        "  %2 = \"ttir.reshape\"(%1) <{shape = [-1 : i32, 2 : i32, 32 : i32]}> : (tensor<?x64xf32>) -> "
        "tensor<?x2x32xf32>\n  return %2 : tensor<?x2x32xf32>\n}\n";
    static const char open_hlo[] =
        "HloModule m\n\nENTRY e {\n  x = f32[?,64]{1,0} parameter(0)\n"
        "  y = f32[?,64]{1,0} add(x, x)\n  t = (f32[?,64]{1,0}) tuple(y)\n"
        "  g = f32[?,64]{1,0} get-tuple-element(t), index=0\n  ROOT z = f32[?,64]{1,0} negate(g)\n}\n";
    static const struct lx_model_binding dims[] = {{"%x:0", 48}, {"x:0", 48}, {"%0:0", 7}};
    const char *const texts[] = {text, open_hlo};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct lx_import_options options = {.branch = -1, .model = {.dims = &dims[i], .dim_count = 1}};
        lx_status st = {0};
        const struct lx_graph *g = lx_model_import("here", texts[i], strlen(texts[i]), &options, NULL, &st);
        assert_non_null(g);
        for (int t = 0; t < g->tensor_count; t++)
            assert_true(g->tensors[t].role == LX_WEIGHT || g->tensors[t].shape[0] == 48);
        lx_graph_free(g);
        options.model.dim_count = 0;
        assert_null(lx_model_import("here", texts[i], strlen(texts[i]), &options, NULL, &st));
        assert_int_equal(st.code, LX_E_SHAPE);
        assert_non_null(strstr(st.text, " --dim %x:0=N\""));
    }
    struct lx_import_options wrong = {.branch = -1, .model = {.dims = dims, .dim_count = 3}};
    lx_status st = {0};
    assert_null(lx_model_import("here", text, strlen(text), &wrong, NULL, &st));
    assert_int_equal(st.code, LX_E_SHAPE);
    assert_non_null(strstr(st.text, "it would be [48,64]"));
}

/* max, sub, exp, sum, div, and nothing of them where that is not wanted. */
static void test_expanded(void **state)
{
    static const char text[] =
        "func.func @f(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {\n"
        "  %0 = \"ttir.softmax\"(%x) <{dimension = -1 : si32}> : (tensor<64x128xf32>) -> "
        "tensor<64x128xf32>\n  return %0 : tensor<64x128xf32>\n}\n";
    static const char *const kinds[] = {"max", "sub", "exp", "sum", "div"};
    struct lx_import_options options = {.branch = -1, .no_expand = true};
    lx_status st = {0};
    const struct lx_graph *g = import_text(text, false);
    (void)state;
    assert_int_equal(g->op_count, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(g->ops[i].kind->name, kinds[i]);
    assert_string_equal(g->ops[4].einsum, "ab,a->ab");
    lx_graph_free(g);
    g = lx_model_import("here", text, strlen(text), &options, NULL, &st);
    assert_non_null(g);
    assert_int_equal(g->op_count, 1);
    assert_int_equal(g->ops[0].kind->id, LX_KIND_GENERIC);
    lx_graph_free(g);
    options.strict = true;
    assert_null(lx_model_import("here", text, strlen(text), &options, NULL, &st));
    assert_int_equal(st.code, LX_E_NO);
}

/* Each text is wrong at a place that must be told. */
static void test_errors(void **state)
{
    static const struct {
        const char *text;
        enum lx_code code;
        int line, column;
    } wrong[] = {
        {"func.func @f(%a: tensor<4xf32>) {\n  %0 = ttir.neg %a\n}", LX_E_SYNTAX, 2, 8},
        {"func.func @f(%a: tensor<4xf32>) {\n  return %b : tensor<4xf32>\n}", LX_E_UNKNOWN_NAME, 2, 10},
        {"func.func @f(%a: tensor<4x!x>) {\n}", LX_E_UNKNOWN_KIND, 1, 27},
        {"func.func @f() {\n", LX_E_SYNTAX, 2, 1},
        {"HloModule m\nENTRY e {\n  a = f32[2] add(b)\n}", LX_E_UNKNOWN_NAME, 3, 18},
        {"HloModule m\nENTRY e {\n  a = f99[2] parameter(0)\n}", LX_E_UNKNOWN_KIND, 3, 10},
        {"HloModule m\nENTRY e {\n  a = f32[2] constant({1})\n}", LX_E_SHAPE, 3, 26},
        {"HloModule m\nc {\n  ROOT a = f32[] call(), to_apply=c\n}\nENTRY e {\n  a = f32[] call(), "
         "to_apply=c\n}",
         LX_E_CYCLE, 2, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lx_status st = {0};
        assert_null(read_text(wrong[i].text, &st));
        if (st.code != wrong[i].code || st.line != wrong[i].line || st.column != wrong[i].column)
            print_error("%zu: %s at %d:%d: %s\n", i, lx_code_word(st.code), st.line, st.column, st.text);
        assert_int_equal(st.code, wrong[i].code);
        assert_int_equal(st.line, wrong[i].line);
        assert_int_equal(st.column, wrong[i].column);
    }
}

/* A model in bytes: opset 13, an input x [2,n] and one node y = Relu(x). */
static size_t relu_model(char *to, bool named)
{
    static const char head[] = "\x08\x08\x42\x02\x10\x0d";
    static const char node[] = "\x0a\x0c\x0a\x01x\x12\x01y\x22\x04Relu";
    static const char in_named[] =
        "\x5a\x11\x0a\x01x\x12\x0c\x0a\x0a\x08\x01\x12\x06\x0a\x02\x08\x02\x0a\x00";
    static const char in_plain[] =
        "\x5a\x13\x0a\x01x\x12\x0e\x0a\x0c\x08\x01\x12\x08\x0a\x02\x08\x02\x0a\x02\x08\x03";
    static const char out[] = "\x62\x03\x0a\x01y";
    size_t input = named ? sizeof in_named - 1 : sizeof in_plain - 1, n = 0;
    memcpy(to, head, sizeof head - 1);
    n = sizeof head - 1;
    to[n++] = 0x3a;
    to[n++] = (char)(sizeof node - 1 + input + sizeof out - 1);
    memcpy(to + n, node, sizeof node - 1);
    n += sizeof node - 1;
    memcpy(to + n, named ? in_named : in_plain, input);
    n += input;
    memcpy(to + n, out, sizeof out - 1);
    return n + sizeof out - 1;
}

static void test_onnx(void **state)
{
    char bytes[128];
    lx_status st = {0};
    (void)state;
    size_t n = relu_model(bytes, false);
    struct lx_model *m = lx_model_read("here", bytes, n, NULL, &st);
    if (!m) print_error("%s\n", st.text);
    assert_non_null(m);
    assert_int_equal(m->bodies.at[m->entry].op_count, 1);
    assert_int_equal(model_type_of(m, m->bodies.at[m->entry].results[0])->elements, 6);
    lx_model_free(m);
    for (size_t cut = 0; cut < n; cut++) { /* ended anywhere: an error, or at most a model */
        m = lx_model_read("here", bytes, cut, NULL, &st);
        lx_model_free(m);
    }
}

static void test_unbound_extent(void **state)
{
    char bytes[128];
    lx_status st = {0};
    struct lx_model_binding dim = {"x:1", 7};
    struct lx_model_options options = {.dims = &dim, .dim_count = 1};
    (void)state;
    size_t n = relu_model(bytes, true);
    assert_null(lx_model_read("here", bytes, n, NULL, &st));
    assert_int_equal(st.code, LX_E_SHAPE);
    assert_non_null(strstr(st.text, "--dim x:1=N"));
    struct lx_model *m = lx_model_read("here", bytes, n, &options, &st);
    assert_non_null(m);
    assert_int_equal(model_type_of(m, m->bodies.at[m->entry].results[0])->elements, 14);
    lx_model_free(m);
    dim.name = "nobody";
    n = relu_model(bytes, false);
    assert_null(lx_model_read("here", bytes, n, &options, &st));
    assert_int_equal(st.code, LX_E_UNKNOWN_NAME);
}

/* A flood of brackets ends at a limit, not in the stack. */
static void test_brackets(void **state)
{
    size_t n = 1 << 20;
    char *text = mem_alloc(n + 1);
    lx_status st = {0};
    (void)state;
    assert_non_null(text);
    memset(text, '(', n);
    text[n] = 0;
    memcpy(text, "HloModule m, a=", 15);
    assert_null(lx_model_read("here", text, n, NULL, &st));
    assert_int_equal(st.code, LX_E_LIMIT);
    assert_int_equal(st.line, 1);
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ttir_facts),  cmocka_unit_test(test_hlo_facts),
        cmocka_unit_test(test_folded),      cmocka_unit_test(test_unfolded),
        cmocka_unit_test(test_loop_import), cmocka_unit_test(test_open_extents),
        cmocka_unit_test(test_expanded),    cmocka_unit_test(test_errors),
        cmocka_unit_test(test_onnx),        cmocka_unit_test(test_unbound_extent),
        cmocka_unit_test(test_brackets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
