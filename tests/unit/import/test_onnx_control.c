/* If and Loop of ONNX where data decides, and names with two makers: the shapes behind them are those of what is taken. */
#include "import/model_import.h"
#include "base/memory.h"
#include "graph/graph.h"
#include "support/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct lx_graph *imported(const struct onnx_bytes *graph, int64_t branch, char **report,
                                       lx_status *st)
{
    struct lx_import_options options = {.branch = branch, .strict = true};
    struct onnx_bytes model = onnx_model_of(graph, 17);
    *st = (lx_status){0};
    return lx_model_import("here", (const char *)model.at, model.n, &options, report, st);
}

/* A result without a shape. */
static void give(struct onnx_bytes *graph, const char *name)
{
    struct onnx_bytes info = {.n = 0};
    onnx_word(&info, 1, name);
    onnx_message(graph, 12, &info);
}

static void put_body(struct onnx_bytes *node, const char *key, const struct onnx_bytes *body)
{
    struct onnx_bytes attr = {.n = 0};
    onnx_word(&attr, 1, key);
    onnx_message(&attr, 6, body);
    onnx_number(&attr, 20, 5);
    onnx_message(node, 5, &attr);
}

/* A branch that gives x, one that gives it twice; what comes out is negated. */
static void the_branch_that_is_taken_has_its_shape(void **state)
{
    static const struct {
        int64_t asked, rows;
    } rows[] = {{0, 4}, {1, 8}, {-1, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct onnx_bytes graph = {.n = 0}, node = {.n = 0};
        lx_status st;
        onnx_end(&graph, 11, "x", (const int64_t[]){4, 0});
        onnx_end(&graph, 11, "c", (const int64_t[]){1, 0});
        onnx_node_of(&graph, "Cast", "c", "p", "to", 9);
        onnx_word(&node, 1, "p");
        onnx_word(&node, 2, "t");
        onnx_word(&node, 4, "If");
        for (int k = 0; k < 2; k++) {
            struct onnx_bytes body = {.n = 0};
            onnx_node_of(&body, k ? "Concat" : "Relu", k ? "x x" : "x", "r", k ? "axis" : NULL, 0);
            give(&body, "r");
            put_body(&node, k ? "else_branch" : "then_branch", &body);
        }
        onnx_message(&graph, 1, &node);
        onnx_node_of(&graph, "Neg", "t", "y", NULL, 0);
        give(&graph, "y");
        const struct lx_graph *g = imported(&graph, rows[i].asked, NULL, &st);
        if (!g) fail_msg("%zu: %s", i, st.text);
        const struct lx_op *last = &g->ops[g->op_count - 1];
        assert_string_equal(last->kind->name, "neg");
        assert_int_equal(g->tensors[last->output].shape[0], rows[i].rows);
        lx_graph_free(g);
    }
}

/* Nodes, inputs and initializers share their names; constants may be made again. */
static void a_name_has_one_maker(void **state)
{
    static const struct {
        const char *kind, *result;
        bool wrong;
    } rows[] = {{"Neg", "t", true}, {"Neg", "x", true}, {"Neg", "w", true}, {"Neg", "u", false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct onnx_bytes graph = {.n = 0};
        lx_status st;
        onnx_end(&graph, 11, "x", (const int64_t[]){4, 0});
        onnx_ints(&graph, "w", (const int64_t[]){1}, 1);
        onnx_node_of(&graph, "Relu", "x", "t", NULL, 0);
        onnx_node_of(&graph, rows[i].kind, "x", rows[i].result, NULL, 0);
        onnx_node_of(&graph, "Add", "t x", "y", NULL, 0);
        give(&graph, "y");
        const struct lx_graph *g = imported(&graph, -1, NULL, &st);
        assert_int_equal(g == NULL, rows[i].wrong);
        if (!g && (st.code != LX_E_DUPLICATE || !strstr(st.text, "made twice; rename one") ||
                   !strstr(st.text, "at byte ")))
            fail_msg("%s", st.text);
        lx_graph_free(g);
    }
}

static void a_constant_may_be_made_again(void **state)
{
    struct onnx_bytes graph = {.n = 0};
    lx_status st;
    (void)state;
    onnx_end(&graph, 11, "x", (const int64_t[]){4, 0});
    onnx_node_of(&graph, "Constant", "", "i", "value_int", 2);
    onnx_node_of(&graph, "Constant", "", "i", "value_int", 3);
    onnx_node_of(&graph, "Cast", "i", "f", "to", 1);
    onnx_node_of(&graph, "Mul", "x f", "y", NULL, 0);
    give(&graph, "y");
    const struct lx_graph *g = imported(&graph, -1, NULL, &st);
    if (!g) fail_msg("%s", st.text);
    assert_true(g->ops[0].has_value);
    assert_true(g->ops[0].value == 3);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_branch_that_is_taken_has_its_shape),
                                       cmocka_unit_test(a_name_has_one_maker),
                                       cmocka_unit_test(a_constant_may_be_made_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
