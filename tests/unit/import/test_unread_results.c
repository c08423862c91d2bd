/* Parts of a Split that nobody reads, and that nothing which became generic is told of as something else. */
#include "graph/graph.h"
#include "import/map/import_steps.h"
#include "import/model_import.h"
#include "support/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Three parts of 10, of which the file names those that are not "-"; the one called r is negated. */
static struct onnx_bytes split_of(const char *const part[3], bool sizes)
{
    struct onnx_bytes graph = {.n = 0}, node = {.n = 0};
    onnx_word(&graph, 2, "g");
    onnx_end(&graph, 11, "x", (int64_t[]){10, 0});
    if (sizes) onnx_ints(&graph, "s", (int64_t[]){5, 2, 3}, 3);
    onnx_word(&node, 1, "x");
    if (sizes) onnx_word(&node, 1, "s");
    for (int i = 0; i < 3; i++) onnx_word(&node, 2, *part[i] == '-' ? "" : part[i]);
    onnx_word(&node, 4, "Split");
    onnx_message(&graph, 1, &node);
    onnx_node_of(&graph, "Neg", "r", "y", NULL, 0);
    onnx_end(&graph, 12, "y", (int64_t[]){sizes ? 3 : 2, 0});
    return onnx_model_of(&graph, 18);
}

static const struct lx_graph *imported(const struct onnx_bytes *m, bool strict, lx_status *st)
{
    struct lx_import_options options = {.branch = -1, .strict = strict};
    return lx_model_import("m.onnx", (const char *)m->at, m->n, &options, NULL, st);
}

/* Where the slice of x begins that the last part is. */
static void unread_parts_have_their_length(void **state)
{
    static const char *const named[] = {"p", "q", "r"}, *const left_out[] = {"-", "-", "r"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct onnx_bytes m = split_of(i & 1 ? left_out : named, i & 2);
        lx_status st = {0};
        const struct lx_graph *g = imported(&m, true, &st);
        if (!g) fail_msg("%d: %s", i, st.text);
        assert_int_equal(g->op_count, 2);
        assert_string_equal(g->ops[0].kind->name, "slice");
        assert_int_equal(g->ops[0].offset[0], i & 2 ? 7 : 8);
        lx_graph_free(g);
    }
}

/* What was a view in one place and is generic in the next one is generic for the report; it stays so. */
static void generic_is_told(void **state)
{
    struct model_op op = {.kind = "Split"};
    struct model_body body = {.ops = &op, .op_count = 1};
    struct lx_model m = {.bodies = {.at = &body, .count = 1}};
    struct op_class class = {.seen = false}, *classes[] = {&class};
    struct import im = {.m = &m, .classes = classes};
    (void)state;
    import_class(&im, &op, CLASS_FREE, "view");
    import_class(&im, &op, CLASS_COPIED, "stick");
    assert_int_equal(class.class, CLASS_FREE);
    import_class(&im, &op, CLASS_GENERIC, "form");
    import_class(&im, &op, CLASS_FREE, "view");
    assert_int_equal(class.class, CLASS_GENERIC);
    assert_string_equal(class.reason, "form");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unread_parts_have_their_length),
                                       cmocka_unit_test(generic_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
