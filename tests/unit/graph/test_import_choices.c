/* Caches, embeddings and top-k of models: what they become, what is in place of what, and that fills become one. */
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static const char decode[] =
    "func.func @main(%arg0: tensor<1xi64>, %arg1: tensor<2x4x16x64xbf16>, %arg2: tensor<1x4x2x64xbf16>, "
    "%arg3: tensor<2xui32>, %arg4: tensor<100x64xbf16>) -> (tensor<2x64xbf16>, tensor<2x4x16x64xbf16>) {\n"
    "  \"ttir.update_cache\"(%arg1, %arg2, %arg0) <{batch_offset = 0 : i32}> : (tensor<2x4x16x64xbf16>, "
    "tensor<1x4x2x64xbf16>, tensor<1xi64>) -> ()\n"
    "  %0 = \"ttir.embedding\"(%arg3, %arg4) : (tensor<2xui32>, tensor<100x64xbf16>) -> tensor<2x64xbf16>\n"
    "  return %0, %arg1 : tensor<2x64xbf16>, tensor<2x4x16x64xbf16>\n}\n";

#define FILL(k, next)                                                                                        \
    "  %" #k " = \"ttir.slice_static\"(%arg1) <{begins = [" #k                                               \
    " : i32, 0 : i32, 0 : i32, 0 : i32], ends = [" #next                                                     \
    " : i32, 4 : i32, 8 : i32, 64 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : "                  \
    "(tensor<2x4x8x64xbf16>) -> tensor<1x4x8x64xbf16>\n"                                                     \
    "  \"ttir.fill_cache\"(%arg0, %" #k ") <{batch_offset = " #k                                             \
    " : i32}> : (tensor<2x4x16x64xbf16>, tensor<1x4x8x64xbf16>) -> ()\n"

static const char prefill[] =
    "func.func @main(%arg0: tensor<2x4x16x64xbf16>, %arg1: tensor<2x4x8x64xbf16>) -> "
    "tensor<2x4x16x64xbf16> {\n" FILL(0, 1) FILL(1, 2) "  return %arg0 : tensor<2x4x16x64xbf16>\n}\n";

static const struct lx_graph *imported(const char *text)
{
    lx_status st;
    const struct lx_graph *g = lx_graph_parse("t.mlir", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static int kinds(const struct lx_graph *g, const char *kind)
{
    int n = 0;
    for (int32_t o = 0; o < g->op_count; o++) n += strcmp(g->ops[o].kind->name, kind) == 0;
    return n;
}

static void caches_are_changed_where_they_are(void **state)
{
    (void)state;
    const struct lx_graph *g = imported(decode);
    assert_int_equal(g->op_count, 2);
    assert_int_equal(kinds(g, "gather"), 1);
    const struct lx_op *put = &g->ops[0];
    assert_string_equal(put->kind->name, "dynamic_insert");
    assert_int_equal(g->tensors[put->output].role, LX_STATE);
    assert_int_equal(put->params->axes[0], 2);
    assert_int_equal(put->inplace, 0);
    lx_graph_free(g);
}

static void fills_become_one(void **state)
{
    (void)state;
    const struct lx_graph *g = imported(prefill);
    assert_int_equal(g->op_count, 1);
    assert_int_equal(kinds(g, "dynamic_insert"), 1);
    assert_int_equal(g->tensors[g->ops[0].output].role, LX_STATE);
    assert_int_equal(g->ops[0].params->low_count, 1);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(caches_are_changed_where_they_are),
                                       cmocka_unit_test(fills_become_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
