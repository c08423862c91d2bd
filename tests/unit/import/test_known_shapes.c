/* What is computed ahead because a shape is made of it: a node of constants, of whose numbers, each and two, a tensor of ONNX gets
 * its extents (support/onnx_values.h says how rows are read). */
#include "support/onnx_values.h"

/* clang-format off */
static const struct row rows[] = {
    {"Add", 18, "a:i:3!1,2,3 b:i:!4", "5 6 7"},
    {"Sub", 18, "a:i:2!9,8 b:i:2!4,8", "5 0"},
    {"Mul", 18, "a:i:2,1!2,3 b:i:2!4,5", "8 10 12 15"},
    {"Div", 18, "a:i:3!7,9,12 b:i:!4", "1 2 3"},
    {"Mod", 18, "a:i:3!7,-7,8 b:i:!4", "3 1 0"},
    {"Mod fmod=1", 18, "a:i:2!7,8 b:i:!4", "3 0"},
    {"Min", 18, "a:i:3!7,2,8 b:i:!4 c:i:!3", "3 2 3"},
    {"Max", 18, "a:i:3!7,2,8 b:i:!4", "7 4 8"},
    {"Equal", 18, "a:i:3!7,4,8 b:i:!4", "0 1 0"},
    {"Less", 18, "a:i:3!3,4,5 b:i:!4", "1 0 0"},
    {"Greater", 18, "a:i:3!3,4,5 b:i:!4", "0 0 1"},
    {"LessOrEqual", 18, "a:i:3!3,4,5 b:i:!4", "1 1 0"},
    {"GreaterOrEqual", 18, "a:i:3!3,4,5 b:i:!4", "0 1 1"},
    {"And", 18, "a:b:3!1,0,1 b:b:3!1,1,0", "1 0 0"},
    {"Or", 18, "a:b:3!1,0,0 b:b:3!1,1,0", "1 1 0"},
    {"Not", 18, "a:b:2!1,0", "0 1"},
    {"Add", 18, "a:f:2!1.5,2 b:f:!0.5", "2 2"},
    {"Sub", 18, "a:f:2!1.5,2 b:f:!0.5", "1 1"},
    {"Mul", 18, "a:f:2!1.5,2 b:f:!2", "3 4"},
    {"Div", 18, "a:f:2!1.5,2 b:f:!0.5", "3 4"},
    {"Mod fmod=1", 18, "a:f:2!7.5,2 b:f:!4", "3 2"},
    {"Min", 18, "a:f:2!7.5,2 b:f:!4", "4 2"},
    {"Max", 18, "a:f:2!7,2 b:f:!4", "7 4"},
    {"Equal", 18, "a:f:2!7.5,2 b:f:!7.5", "1 0"},
    {"Less", 18, "a:f:2!7.5,7.25 b:f:!7.5", "0 1"},
    {"Greater", 18, "a:f:2!7.5,7.75 b:f:!7.5", "0 1"},
    {"Ceil", 18, "a:f:2!1.5,2", "2 2"},
    {"Floor", 18, "a:f:2!1.5,2", "1 2"},
    {"Identity", 18, "a:i:2!3,4", "3 4"},
    {"ReduceMax keepdims=0", 18, "a:i:3!4,6,5", "6"},
    {"ReduceProd keepdims=0", 18, "a:i:3!2,3,1", "6"},
    {"ReduceProd keepdims=0", 18, "a:f:2!2.5,2", "5"},
    {"ReduceMin keepdims=0", 18, "a:i:3!4,6,5", "4"},
    {"ReduceSum keepdims=0", 18, "a:i:3!2,3,1", "6"},
    {"Neg", 18, "a:i:2!-3,-4", "3 4"},
    {"Abs", 18, "a:i:2!-3,4", "3 4"},
    {"Abs", 18, "a:f:2!-2.5,4", "2 4"},
    {"LessOrEqual", 18, "a:f:3!3.5,4,5 b:f:!4", "1 1 0"},
    {"Tile", 18, "a:i:2!3,4 t:i:1!2", "3 4 3 4"},
    {"Transpose perm=1,0", 18, "a:i:2,2!1,2,3,4", "1 3 2 4"},
    {"Transpose", 18, "a:i:2,2!1,2,3,4", "1 3 2 4"},
    {"Slice", 18, "a:i:5!1,2,3,4,5 s:i:1!3 e:i:1!0 d:i:1!0 t:i:1!-2", "4 2"},
    {"Gather", 18, "a:i:4!1,2,3,4 i:i:2!2,-1", "3 4"},
    {"Gather axis=1", 18, "a:i:2,2!1,2,3,4 i:i:!1", "2 4"},
    {"Concat axis=0", 18, "a:i:1!3 b:i:2!4,5", "3 4 5"},
    {"Concat axis=1", 18, "a:i:2,1!3,6 b:i:2,1!4,7", "3 4 6 7"},
    {">Split", 13, "a:i:4!1,2,3,4 s:i:2!1,3", "2 3 4"},
    {"ConstantOfShape", 18, "s:i:1!2", "0 0"},
    {"Shape", 18, "a:i:2,1!3,6", "2 1"},
    {"Shape start=-1", 18, "a:i:2,1!3,6", "1"},
    {"Size", 18, "a:i:2,1!3,6", "2"},
    {"Range", 18, "a:i:!2 l:i:!9 d:i:!3", "2 5 8"},
    {"Range", 18, "a:f:!0.5 l:f:!3 d:f:!1.5", "0 2"},
    {"Where", 18, "c:b:2!1,0 a:i:2!3,4 b:i:!5", "3 5"},
    {"Expand", 18, "a:i:2,1!3,4 s:i:2!2,2", "3 3 4 4"},
};
/* clang-format on */

/* Of the result a list of whole numbers, each two more, and a number of as many extents. */
static struct onnx_bytes shaped_by(const struct row *r)
{
    struct onnx_bytes graph = {.n = 0}, info = {.n = 0};
    struct node n = {.count = 0}, more = {.count = 0};
    read_operands(r->operands, &n);
    read_operands("flat:i:1!-1 two:i:!2 x:f:1=0", &more);
    put_node(&graph, r->node, &n);
    onnx_node_of(&graph, "Cast", "result", "whole", "to", 7);
    onnx_node_of(&graph, "Reshape", "whole flat", "list", NULL, 0);
    onnx_node_of(&graph, "Add", "list two", "extents", NULL, 0);
    onnx_node_of(&graph, "Expand", "x extents", "wide", NULL, 0);
    onnx_node_of(&graph, "Add", "wide x", "y", NULL, 0);
    for (int i = 0; i < n.count; i++) put_constant(&graph, &n.operand[i]);
    for (int i = 0; i < 2; i++) put_constant(&graph, &more.operand[i]);
    put_argument(&graph, &more.operand[2]);
    onnx_word(&info, 1, "y");
    onnx_message(&graph, 12, &info);
    return onnx_model_of(&graph, r->opset);
}

static void numbers_make_shapes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct onnx_bytes model = shaped_by(&rows[i]);
        struct lx_import_options options = {.branch = -1};
        lx_status st = {0};
        const char *at = rows[i].expected;
        const struct lx_graph *g =
            lx_model_import(rows[i].node, (const char *)model.at, model.n, &options, NULL, &st);
        if (!g) fail_msg("%s %s: %s", rows[i].node, rows[i].operands, st.text);
        const struct lx_tensor *y = NULL;
        for (int32_t t = 0; t < g->tensor_count; t++)
            if (strcmp(g->tensors[t].name, "y") == 0) y = &g->tensors[t];
        assert_non_null(y);
        for (int d = 0; d < y->rank; d++) {
            char *next;
            int64_t extent = strtoll(at, &next, 10) + 2;
            if (next == at || y->shape[d] != extent)
                fail_msg("%s %s: extent %d is %lld", rows[i].node, rows[i].operands, d,
                         (long long)y->shape[d]);
            at = next;
        }
        if (*at) fail_msg("%s %s: too few extents", rows[i].node, rows[i].operands);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_make_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
