/* What the user or the file says that cannot be: an error that names the thing, never another model. */
#include "graph/graph.h"
#include "import/model_import.h"
#include "support/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static enum lx_code code_of(const void *text, size_t length, const struct lx_import_options *options,
                            lx_status *st)
{
    *st = (lx_status){0};
    const struct lx_graph *g = lx_model_import("here", text, length, options, NULL, st);
    if (!g) return st->code;
    lx_graph_free(g);
    return LX_OK;
}

/* A convolution of 3 taps whose attribute says another number. */
static struct onnx_bytes conv_of(int64_t taps)
{
    struct onnx_bytes graph = {.n = 0}, node = {.n = 0}, attr = {.n = 0};
    onnx_word(&graph, 2, "net");
    onnx_end(&graph, 11, "x", (int64_t[]){1, 2, 9, 0});
    onnx_end(&graph, 11, "w", (int64_t[]){2, 2, 3, 0});
    onnx_word(&node, 1, "x");
    onnx_word(&node, 1, "w");
    onnx_word(&node, 2, "y");
    onnx_word(&node, 4, "Conv");
    onnx_word(&attr, 1, "kernel_shape");
    onnx_number(&attr, 8, taps);
    onnx_number(&attr, 20, 7);
    onnx_message(&node, 5, &attr);
    onnx_message(&graph, 1, &node);
    onnx_end(&graph, 12, "y", (int64_t[]){1, 2, 7, 0});
    return onnx_model_of(&graph, 13);
}

static void kernel_shape_is_that_of_the_weight(void **state)
{
    struct lx_import_options plain = {.branch = -1};
    lx_status st;
    (void)state;
    struct onnx_bytes right = conv_of(3), wrong = conv_of(5);
    assert_int_equal(code_of(right.at, right.n, &plain, &st), LX_OK);
    assert_int_equal(code_of(wrong.at, wrong.n, &plain, &st), LX_E_SHAPE);
    assert_non_null(strstr(st.text, "kernel_shape"));
    assert_non_null(strstr(st.text, "Conv"));
}

static const char hlo[] =
    "HloModule k\n%other (a: f32[4]) -> f32[4] {\n  ROOT %a = f32[4]{0} parameter(0)\n}\n"
    "ENTRY %main {\n  %x = f32[4]{0} parameter(0)\n  ROOT %c = f32[4]{0} negate(%x)\n}\n";

/* Of HLO the entry, of ONNX the graph. */
static void only_what_is_run_can_be_named(void **state)
{
    static const struct {
        const char *name;
        enum lx_code of_hlo, of_onnx;
    } rows[] = {{NULL, LX_OK, LX_OK},
                {"main", LX_OK, LX_E_UNKNOWN_NAME},
                {"%main", LX_OK, LX_E_UNKNOWN_NAME},
                {"net", LX_E_UNKNOWN_NAME, LX_OK},
                {"other", LX_E_UNKNOWN_NAME, LX_E_UNKNOWN_NAME},
                {"", LX_E_UNKNOWN_NAME, LX_E_UNKNOWN_NAME}};
    struct onnx_bytes onnx = conv_of(3);
    lx_status st;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lx_import_options options = {.branch = -1, .model = {.function = rows[i].name}};
        assert_int_equal(code_of(hlo, strlen(hlo), &options, &st), rows[i].of_hlo);
        if (st.code) assert_non_null(strstr(st.text, "\"main\""));
        assert_int_equal(code_of(onnx.at, onnx.n, &options, &st), rows[i].of_onnx);
    }
}

/* Two branches, and a number that decides between them. */
static void branches_are_those_there_are(void **state)
{
    static const char text[] =
        "HloModule k\nf {\n  a = f32[4]{0} parameter(0)\n  ROOT r = f32[4]{0} negate(a)\n}\n"
        "g {\n  a = f32[4]{0} parameter(0)\n  ROOT r = f32[4]{0} exponential(a)\n}\n"
        "ENTRY m {\n  i = s32[] parameter(0)\n  x = f32[4]{0} parameter(1)\n"
        "  ROOT o = f32[4]{0} conditional(i, x, x), branch_computations={f, g}\n}\n";
    lx_status st;
    (void)state;
    for (int64_t k = -1; k < 5; k++) {
        struct lx_import_options options = {.branch = k};
        assert_int_equal(code_of(text, strlen(text), &options, &st), k < 2 ? LX_OK : LX_E_RANGE);
        if (k < 2) continue;
        assert_int_equal(st.line, 13);
        assert_non_null(strstr(st.text, "they are 0 to 1"));
    }
}

/* Nodes without names: the first result and the byte say which. */
static void nodes_are_named_by_what_they_make(void **state)
{
    struct onnx_bytes graph = {.n = 0};
    struct lx_import_options plain = {.branch = -1};
    lx_status st;
    (void)state;
    onnx_word(&graph, 2, "net");
    onnx_end(&graph, 11, "x", (int64_t[]){3, 0});
    onnx_node_of(&graph, "Neg", "a", "b", NULL, 0);
    onnx_node_of(&graph, "Exp", "b", "a", NULL, 0);
    onnx_end(&graph, 12, "a", (int64_t[]){3, 0});
    struct onnx_bytes m = onnx_model_of(&graph, 13);
    assert_int_equal(code_of(m.at, m.n, &plain, &st), LX_E_CYCLE);
    assert_non_null(strstr(st.text, "makes b (Neg)"));
    const char *byte = strstr(st.text, "at byte ");
    assert_non_null(byte);
    size_t at = (size_t)strtol(byte + 8, NULL, 10);
    assert_true(at + 3 <= m.n && memcmp(m.at + at, "\n\1a", 3) == 0); /* its first operand */
}

/* A function whose only node calls it. */
static void calls_are_named_by_what_they_make(void **state)
{
    struct onnx_bytes graph = {.n = 0}, node = {.n = 0}, function = {.n = 0};
    struct lx_import_options plain = {.branch = -1};
    lx_status st;
    (void)state;
    onnx_word(&node, 1, "x");
    onnx_word(&node, 2, "y");
    onnx_word(&node, 4, "A");
    onnx_word(&node, 7, "my");
    onnx_message(&graph, 1, &node);
    onnx_word(&graph, 2, "net");
    onnx_end(&graph, 11, "x", (int64_t[]){3, 0});
    onnx_end(&graph, 12, "y", (int64_t[]){3, 0});
    struct onnx_bytes m = onnx_model_of(&graph, 13);
    onnx_word(&function, 1, "A");
    onnx_word(&function, 4, "x");
    onnx_word(&function, 5, "y");
    onnx_message(&function, 7, &node);
    onnx_word(&function, 10, "my");
    size_t from = m.n;
    onnx_message(&m, 25, &function);
    assert_int_equal(code_of(m.at, m.n, &plain, &st), LX_E_CYCLE);
    assert_non_null(strstr(st.text, "my:A calls itself: the node within that makes y"));
    const char *byte = strstr(st.text, "at byte ");
    assert_true(byte && (size_t)strtol(byte + 8, NULL, 10) > from);
}

/* Of tuples that differ it is said in what. */
static void tuples_are_told_apart(void **state)
{
    static const struct {
        const char *declared, *said;
    } rows[] = {{"(f32[4], f32[3])", "tensor 1 of "}, {"(f32[4])", " tensors, but "}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[400];
        struct lx_import_options options = {.branch = -1};
        lx_status st;
        int n = snprintf(text, sizeof text,
                         "HloModule k\nENTRY %%m (a: f32[4]) -> %s {\n  %%a = f32[4]{0} parameter(0)\n"
                         "  ROOT %%t = (f32[4]{0}, f32[4]{0}) tuple(%%a, %%a)\n}\n",
                         rows[i].declared);
        assert_int_equal(code_of(text, (size_t)n, &options, &st), LX_E_SHAPE);
        if (!strstr(st.text, rows[i].said)) fail_msg("%s", st.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tuples_are_told_apart),
                                       cmocka_unit_test(kernel_shape_is_that_of_the_weight),
                                       cmocka_unit_test(only_what_is_run_can_be_named),
                                       cmocka_unit_test(branches_are_those_there_are),
                                       cmocka_unit_test(nodes_are_named_by_what_they_make),
                                       cmocka_unit_test(calls_are_named_by_what_they_make)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
