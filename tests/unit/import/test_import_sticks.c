/* Reshapes that would leave ends of sticks empty in what is larger than what they reshape are copies; others are folded. */
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Rows times a weight, cut into heads and turned; and back, times another weight. */
static const struct lx_graph *heads(int rows, int head)
{
    static const char form[] =
        "func.func @f(%%x: tensor<%dx%dxf32>, %%w: tensor<%dx%dxf32>, %%u: tensor<%dx%dxf32>) -> "
        "tensor<%dx%dxf32> {\n"
        "  %%0 = \"ttir.matmul\"(%%x, %%w) : (tensor<%dx%dxf32>, tensor<%dx%dxf32>) -> tensor<%dx%dxf32>\n"
        "  %%1 = \"ttir.reshape\"(%%0) <{shape = [%d : i32, 8 : i32, %d : i32]}> : (tensor<%dx%dxf32>) -> "
        "tensor<%dx8x%dxf32>\n"
        "  %%2 = \"ttir.permute\"(%%1) <{permutation = array<i64: 1, 0, 2>}> : (tensor<%dx8x%dxf32>) -> "
        "tensor<8x%dx%dxf32>\n"
        "  %%3 = \"ttir.exp\"(%%2) : (tensor<8x%dx%dxf32>) -> tensor<8x%dx%dxf32>\n"
        "  %%4 = \"ttir.permute\"(%%3) <{permutation = array<i64: 1, 0, 2>}> : (tensor<8x%dx%dxf32>) -> "
        "tensor<%dx8x%dxf32>\n"
        "  %%5 = \"ttir.reshape\"(%%4) <{shape = [%d : i32, %d : i32]}> : (tensor<%dx8x%dxf32>) -> "
        "tensor<%dx%dxf32>\n"
        "  %%6 = \"ttir.matmul\"(%%5, %%u) : (tensor<%dx%dxf32>, tensor<%dx%dxf32>) -> tensor<%dx%dxf32>\n"
        "  return %%6 : tensor<%dx%dxf32>\n}\n";
    int n = rows, m = 8 * head, h = head;
    char text[3000];
    snprintf(text, sizeof text, form, n, m, m, m, m, m, n, m, n, m, m, m, n, m, n, h, n, m, n, h, n, h, n, h,
             n, h, n, h, n, h, n, h, n, m, n, h, n, m, n, m, m, m, n, m, n, m);
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t.mlir", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

static int copies(const struct lx_graph *g)
{
    int n = 0;
    for (int32_t o = 0; o < g->op_count; o++)
        n += strcmp(g->ops[o].kind->name, "reshape") == 0 || strcmp(g->ops[o].kind->name, "clone") == 0;
    return n;
}

static int64_t rank_of(const struct lx_graph *g, const char *name)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return g->tensors[t].rank;
    fail_msg("there is no %s", name);
    return -1;
}

static void whole_sticks_are_folded(void **state)
{
    const struct lx_graph *g = heads(12, 64);
    (void)state;
    assert_int_equal(copies(g), 0);
    assert_int_equal(g->op_count, 3);
    assert_int_equal(rank_of(g, "w"), 3);
    lx_graph_free(g);
}

/* Heads of 100: a piece of w, and what u is summed along, would have 28 empty places behind each. */
static void weights_stay_whole(void **state)
{
    const struct lx_graph *g = heads(12, 100);
    (void)state;
    assert_int_equal(rank_of(g, "w"), 2);
    assert_int_equal(rank_of(g, "u"), 2);
    assert_true(copies(g) >= 2);
    lx_graph_free(g);
}

/* Padding a small weight costs less than to copy many rows. */
static void many_rows_are_not_copied(void **state)
{
    const struct lx_graph *g = heads(8192, 100);
    (void)state;
    assert_int_equal(copies(g), 0);
    assert_int_equal(rank_of(g, "w"), 3);
    lx_graph_free(g);
}

static const struct lx_graph *read_text(const char *text)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text("t.mlir", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    return g;
}

/* A cast of 72 indices, cut in rows of 18, leaves some sticks empty: that is no reason to copy a table. */
static void tables_are_not_copied(void **state)
{
    const struct lx_graph *g = read_text(
        "func.func @f(%ids: tensor<4x18xi64>, %w: tensor<1000x512xbf16>) -> tensor<4x18x512xbf16> {\n"
        "  %0 = \"ttir.reshape\"(%ids) <{shape = [72 : i32]}> : (tensor<4x18xi64>) -> tensor<72xi64>\n"
        "  %1 = \"ttir.typecast\"(%0) : (tensor<72xi64>) -> tensor<72xui32>\n"
        "  %2 = \"ttir.permute\"(%w) <{permutation = array<i64: 0, 1>}> : (tensor<1000x512xbf16>) -> "
        "tensor<1000x512xbf16>\n"
        "  %3 = \"ttir.reshape\"(%2) <{shape = [1000 : i32, 512 : i32]}> : (tensor<1000x512xbf16>) -> "
        "tensor<1000x512xbf16>\n"
        "  %4 = \"ttir.reshape\"(%1) <{shape = [1 : i32, 72 : i32]}> : (tensor<72xui32>) -> "
        "tensor<1x72xui32>\n"
        "  %5 = \"ttir.embedding\"(%4, %3) : (tensor<1x72xui32>, tensor<1000x512xbf16>) -> "
        "tensor<1x72x512xbf16>\n"
        "  %6 = \"ttir.reshape\"(%5) <{shape = [4 : i32, 18 : i32, 512 : i32]}> : "
        "(tensor<1x72x512xbf16>) -> tensor<4x18x512xbf16>\n"
        "  %7 = \"ttir.exp\"(%6) : (tensor<4x18x512xbf16>) -> tensor<4x18x512xbf16>\n"
        "  return %7 : tensor<4x18x512xbf16>\n}\n");
    (void)state;
    assert_int_equal(copies(g), 0);
    assert_int_equal(g->op_count, 3);
    lx_graph_free(g);
}

/* Two views of an argument cut it differently, in both calls of a body: each call copies one of the two, and
 * what lies beside them stays folded. */
static void calls_copy_what_conflicts(void **state)
{
    const struct lx_graph *g = read_text(
        "func.func @main(%a: tensor<960000xf32>, %b: tensor<960000xf32>, %c: tensor<8x256xf32>) -> "
        "(tensor<1200x800xf32>, tensor<1200x800xf32>, tensor<256x8xf32>) {\n"
        "  %0 = func.call @g(%a) : (tensor<960000xf32>) -> tensor<1200x800xf32>\n"
        "  %1 = func.call @g(%b) : (tensor<960000xf32>) -> tensor<1200x800xf32>\n"
        "  %2 = \"ttir.permute\"(%c) <{permutation = array<i64: 1, 0>}> : (tensor<8x256xf32>) -> "
        "tensor<256x8xf32>\n"
        "  %3 = \"ttir.exp\"(%2) : (tensor<256x8xf32>) -> tensor<256x8xf32>\n"
        "  return %0, %1, %3 : tensor<1200x800xf32>, tensor<1200x800xf32>, tensor<256x8xf32>\n}\n"
        "func.func private @g(%x: tensor<960000xf32>) -> tensor<1200x800xf32> {\n"
        "  %0 = \"ttir.reshape\"(%x) <{shape = [1200 : i32, 800 : i32]}> : (tensor<960000xf32>) -> "
        "tensor<1200x800xf32>\n"
        "  %1 = \"ttir.reshape\"(%x) <{shape = [800 : i32, 1200 : i32]}> : (tensor<960000xf32>) -> "
        "tensor<800x1200xf32>\n"
        "  %2 = \"ttir.permute\"(%1) <{permutation = array<i64: 1, 0>}> : (tensor<800x1200xf32>) -> "
        "tensor<1200x800xf32>\n"
        "  %3 = \"ttir.add\"(%0, %2) : (tensor<1200x800xf32>, tensor<1200x800xf32>) -> "
        "tensor<1200x800xf32>\n"
        "  return %3 : tensor<1200x800xf32>\n}\n");
    (void)state;
    assert_int_equal(copies(g), 2);
    assert_int_equal(g->op_count, 5);
    lx_graph_free(g);
}

/* The reshape behind a slice, too: cut with it, each piece of w would have 28 empty places. */
static void slices_of_reshapes_leave_weights_whole(void **state)
{
    static const char text[] =
        "func.func @f(%x: tensor<16x64xf32>, %w: tensor<64x128xf32>) -> (tensor<16x128xf32>, "
        "tensor<16x8x4xf32>) {\n"
        "  %0 = \"ttir.exp\"(%x) : (tensor<16x64xf32>) -> tensor<16x64xf32>\n"
        "  %1 = \"ttir.matmul\"(%0, %w) : (tensor<16x64xf32>, tensor<64x128xf32>) -> tensor<16x128xf32>\n"
        "  %2 = \"ttir.reshape\"(%0) <{shape = [16 : i32, 16 : i32, 4 : i32]}> : (tensor<16x64xf32>) -> "
        "tensor<16x16x4xf32>\n"
        "  %3 = \"ttir.slice_static\"(%2) <{begins = [0 : i32, 0 : i32, 0 : i32], ends = [16 : i32, 8 : i32, "
        "4 : i32], "
        "step = [1 : i32, 1 : i32, 1 : i32]}> : (tensor<16x16x4xf32>) -> tensor<16x8x4xf32>\n"
        "  %4 = \"ttir.exp\"(%3) : (tensor<16x8x4xf32>) -> tensor<16x8x4xf32>\n"
        "  return %1, %4 : tensor<16x128xf32>, tensor<16x8x4xf32>\n}\n";
    lx_status st = {0};
    (void)state;
    const struct lx_graph *g = lx_graph_of_text("t.mlir", text, strlen(text), &st);
    if (!g) fail_msg("%s", st.text);
    assert_int_equal(rank_of(g, "w"), 2);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_sticks_are_folded),
                                       cmocka_unit_test(weights_stay_whole),
                                       cmocka_unit_test(many_rows_are_not_copied),
                                       cmocka_unit_test(tables_are_not_copied),
                                       cmocka_unit_test(calls_copy_what_conflicts),
                                       cmocka_unit_test(slices_of_reshapes_leave_weights_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
