/* Sequences of ONNX: nodes that read one read its members, whichever way it was put together. */
#include "graph/import/model_import.h"
#include "graph/graph.h"
#include "support/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct onnx_bytes begun(void)
{
    struct onnx_bytes graph = {.n = 0};
    onnx_end(&graph, 11, "x", (const int64_t[]){6, 32, 0});
    onnx_ints(&graph, "sizes", (const int64_t[]){2, 1, 3}, 3);
    onnx_ints(&graph, "zero", (const int64_t[]){0}, 1);
    onnx_ints(&graph, "one", (const int64_t[]){1}, 1);
    onnx_ints(&graph, "last", (const int64_t[]){-1}, 1);
    onnx_node_of(&graph, "SplitToSequence", "x sizes", "s", "axis", 0);
    return graph;
}

static const struct lx_graph *read_model(struct onnx_bytes *graph, const char *output, lx_status *st)
{
    struct lx_import_options options = {.branch = -1, .strict = true};
    struct onnx_bytes info = {.n = 0};
    onnx_word(&info, 1, output);
    onnx_message(graph, 12, &info);
    struct onnx_bytes model = onnx_model_of(graph, 13);
    *st = (lx_status){0};
    return lx_model_import("here", (const char *)model.at, model.n, &options, NULL, st);
}

/* The output of a model that must be read. */
static const struct lx_graph *output_of(struct onnx_bytes *graph, const char *name,
                                        const struct lx_tensor **out)
{
    lx_status st;
    const struct lx_graph *g = read_model(graph, name, &st);
    if (!g) fail_msg("%s", st.text);
    *out = NULL;
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (g->tensors[t].role == LX_OUTPUT) *out = &g->tensors[t];
    assert_non_null(*out);
    return g;
}

/* x before the first and the third of three parts. */
static void members_are_joined(void **state)
{
    struct onnx_bytes graph = begun();
    const struct lx_tensor *y;
    (void)state;
    onnx_node_of(&graph, "SequenceErase", "s one", "e", NULL, 0);
    onnx_node_of(&graph, "SequenceInsert", "e x zero", "i", NULL, 0);
    onnx_node_of(&graph, "ConcatFromSequence", "i", "c", "axis", 0);
    onnx_node_of(&graph, "Relu", "c", "y", NULL, 0);
    const struct lx_graph *g = output_of(&graph, "y", &y);
    assert_int_equal(y->shape[0], 6 + 2 + 3);
    for (int32_t o = 0; o < g->op_count; o++)
        if (strcmp(g->ops[o].kind->name, "concat") == 0) assert_int_equal(g->ops[o].input_count, 3);
    lx_graph_free(g);
}

static void members_are_told_by_place(void **state)
{
    static const char *const places[] = {"s zero", "s one", "s last"};
    static const int64_t rows[] = {2, 1, 3};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct onnx_bytes graph = begun();
        const struct lx_tensor *y;
        onnx_node_of(&graph, "SequenceAt", places[i], "a", NULL, 0);
        onnx_node_of(&graph, "Relu", "a", "y", NULL, 0);
        const struct lx_graph *g = output_of(&graph, "y", &y);
        int64_t items = 1;
        for (int d = 0; d < y->rank; d++) items *= y->shape[d];
        assert_int_equal(items, 32 * rows[i]);
        assert_int_equal(g->op_count, 1);
        lx_graph_free(g);
    }
}

/* [x, x] along a dimension of their own, as often as a sequence is long. */
static void members_are_stacked_and_counted(void **state)
{
    struct onnx_bytes graph = begun(), node = {.n = 0}, attr = {.n = 0};
    const struct lx_tensor *y;
    (void)state;
    onnx_node_of(&graph, "SequenceConstruct", "x x", "p", NULL, 0);
    onnx_word(&node, 1, "p");
    onnx_word(&node, 2, "c");
    onnx_word(&node, 4, "ConcatFromSequence");
    for (int i = 0; i < 2; i++) {
        attr.n = 0;
        onnx_word(&attr, 1, i ? "new_axis" : "axis");
        onnx_number(&attr, 3, 1);
        onnx_number(&attr, 20, 2);
        onnx_message(&node, 5, &attr);
    }
    onnx_message(&graph, 1, &node);
    onnx_node_of(&graph, "SequenceLength", "s", "n", NULL, 0);
    onnx_node_of(&graph, "Cast", "n", "f", "to", 1);
    onnx_node_of(&graph, "Mul", "c f", "y", NULL, 0);
    const struct lx_graph *g = output_of(&graph, "y", &y);
    assert_int_equal(y->rank, 3);
    assert_int_equal(y->shape[0], 6);
    assert_int_equal(y->shape[1], 2);
    bool found = false;
    for (int32_t o = 0; o < g->op_count; o++)
        found |= strcmp(g->ops[o].kind->name, "mul") == 0 && g->ops[o].has_value && g->ops[o].value == 3;
    assert_true(found);
    lx_graph_free(g);
}

static void what_data_decides_is_refused(void **state)
{
    static const struct {
        const char *kind, *operands;
    } rows[] = {{"SequenceAt", "s p"},    {"SequenceInsert", "s x p"}, {"Relu", "s"},
                {"SequenceErase", "s p"}, {"SequenceAt", "s sizes"},   {"Concat", "x s"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct onnx_bytes graph = begun();
        lx_status st;
        onnx_end(&graph, 11, "p", (const int64_t[]){1, 0});
        onnx_node_of(&graph, rows[i].kind, rows[i].operands, "y", NULL, 0);
        const struct lx_graph *g = read_model(&graph, "y", &st);
        assert_null(g);
        if (st.code == LX_OK || !strstr(st.text, "; ")) fail_msg("%s: %s", rows[i].kind, st.text);
    }
}

/* Kinds of the ops of a model that gives `output`, with the extents of what comes out. */
static void assert_gives(struct onnx_bytes *graph, const char *output, const char *want)
{
    char words[400] = "";
    size_t n = 0;
    lx_status st;
    const struct lx_graph *g = read_model(graph, output, &st);
    if (!g) fail_msg("%s", st.text);
    for (int32_t o = 0; o < g->op_count; o++)
        n += (size_t)snprintf(words + n, sizeof words - n, "%s ", g->ops[o].kind->name);
    for (int32_t t = 0; t < g->tensor_count; t++)
        for (int d = 0; g->tensors[t].role == LX_OUTPUT && d < g->tensors[t].rank; d++)
            n += (size_t)snprintf(words + n, sizeof words - n, "%s%lld", d ? "x" : "| ",
                                  (long long)g->tensors[t].shape[d]);
    assert_string_equal(words, want);
    lx_graph_free(g);
}

/* A graph that gives a list gives its members. */
static void lists_are_given_by_members(void **state)
{
    struct onnx_bytes graph = begun();
    (void)state;
    assert_gives(&graph, "s", "slice slice slice | 2x32| 32| 3x32");
    graph = begun();
    onnx_node_of(&graph, "Identity", "s", "i", NULL, 0);
    onnx_node_of(&graph, "Optional", "i", "o", NULL, 0);
    onnx_node_of(&graph, "OptionalGetElement", "o", "g", NULL, 0);
    onnx_node_of(&graph, "SequenceAt", "g last", "a", NULL, 0);
    onnx_node_of(&graph, "Relu", "a", "y", NULL, 0);
    assert_gives(&graph, "y", "relu | 3x32");
}

/* What is optional is there, unless the file says otherwise. */
static void optional_values(void **state)
{
    static const struct {
        const char *of, *want;
    } rows[] = {{"x", "add | 6x32"}, {"", "relu | 6x32"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct onnx_bytes graph = begun(), node = {.n = 0};
        onnx_node_of(&graph, "Optional", rows[i].of, "o", NULL, 0);
        onnx_node_of(&graph, "OptionalHasElement", "o", "has", NULL, 0);
        onnx_word(&node, 1, "has");
        onnx_word(&node, 2, "y");
        onnx_word(&node, 4, "If");
        for (int k = 0; k < 2; k++) {
            struct onnx_bytes branch = {.n = 0}, info = {.n = 0}, attr = {.n = 0};
            onnx_node_of(&branch, k ? "Relu" : "Add", k ? "x" : "x x", "r", NULL, 0);
            onnx_word(&info, 1, "r");
            onnx_message(&branch, 12, &info);
            onnx_word(&attr, 1, k ? "else_branch" : "then_branch");
            onnx_message(&attr, 6, &branch);
            onnx_number(&attr, 20, 5);
            onnx_message(&node, 5, &attr);
        }
        onnx_message(&graph, 1, &node);
        assert_gives(&graph, "y", rows[i].want);
    }
}

/* The body once for each member, of which each has its own place; what is no list goes to all of them. */
static void members_are_mapped(void **state)
{
    struct onnx_bytes graph = begun(), node = {.n = 0}, body = {.n = 0}, attr = {.n = 0};
    (void)state;
    onnx_node_of(&graph, "SequenceConstruct", "x x", "p", NULL, 0);
    onnx_word(&node, 1, "p");
    onnx_word(&node, 1, "x");
    onnx_word(&node, 2, "m");
    onnx_word(&node, 4, "SequenceMap");
    onnx_node_of(&body, "Sub", "e k", "z", NULL, 0);
    for (int i = 0; i < 3; i++) {
        struct onnx_bytes info = {.n = 0};
        onnx_word(&info, 1, (const char *[]){"e", "k", "z"}[i]);
        onnx_message(&body, i < 2 ? 11 : 12, &info);
    }
    onnx_word(&attr, 1, "body");
    onnx_message(&attr, 6, &body);
    onnx_number(&attr, 20, 5);
    onnx_message(&node, 5, &attr);
    onnx_message(&graph, 1, &node);
    struct onnx_bytes joined = graph, picked = graph;
    assert_gives(&graph, "m", "sub sub | 6x32| 6x32");
    onnx_node_of(&joined, "ConcatFromSequence", "m", "y", "axis", 0);
    assert_gives(&joined, "y", "sub sub concat | 12x32");
    onnx_node_of(&picked, "ArgMax", "x", "w", "keepdims", 0);
    onnx_node_of(&picked, "Gather", "w zero", "v", NULL, 0);
    onnx_node_of(&picked, "SequenceAt", "m v", "y", NULL, 0);
    assert_gives(&picked, "y", "sub sub argmax dynamic_slice concat add rem gather | 6x32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(members_are_joined),
                                       cmocka_unit_test(members_are_told_by_place),
                                       cmocka_unit_test(members_are_stacked_and_counted),
                                       cmocka_unit_test(what_data_decides_is_refused),
                                       cmocka_unit_test(lists_are_given_by_members),
                                       cmocka_unit_test(optional_values),
                                       cmocka_unit_test(members_are_mapped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
