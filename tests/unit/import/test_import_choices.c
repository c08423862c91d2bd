/* Caches, embeddings, scatters and sorts of models: what they become, what is in place of what, and that fills become one. */
#include "graph/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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
    const struct lx_graph *g = lx_graph_of_text("t.mlir", text, strlen(text), &st);
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

static const struct lx_op *op_of(const struct lx_graph *g, const char *kind, int which)
{
    for (int32_t o = 0; o < g->op_count; o++)
        if (strcmp(g->ops[o].kind->name, kind) == 0 && which-- == 0) return &g->ops[o];
    fail_msg("there is no %s", kind);
    return NULL;
}

/* The op of that kind that stands in that place among them. */
static int place_of(const struct lx_graph *g, const char *kind, int which)
{
    return (int)(op_of(g, kind, which) - g->ops);
}

#define SCALARS(t) "  a = " t "[] parameter(0)\n  b = " t "[] parameter(1)\n"

static const char scatters[] =
    "HloModule t\n"
    "sum {\n" SCALARS(
        "f32") "  ROOT c = f32[] add(a, b)\n}\n"
               "put {\n  a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1)\n}\n"
               "odd {\n" SCALARS(
                   "f32") "  ROOT c = f32[] subtract(a, b)\n}\n"
                          "ENTRY main {\n"
                          "  x = f32[40,64] parameter(0)\n  i = s32[6,1] parameter(1)\n  u = f32[6,64] "
                          "parameter(2)\n"
                          "  y = f32[4,8,64] parameter(3)\n  j = s32[2,5] parameter(4)\n  v = f32[5,64] "
                          "parameter(5)\n"
                          "  z = f32[3,10,32] parameter(6)\n  k = s32[3,7,1] parameter(7)\n  w = f32[3,7,32] "
                          "parameter(8)\n"
                          "  one = f32[1,11,64] parameter(9)\n  at = s32[1,2] parameter(10)\n"
                          "  s0 = f32[40,64] scatter(x, i, u), update_window_dims={1}, "
                          "inserted_window_dims={0}, "
                          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum\n"
                          "  s1 = f32[4,8,64] scatter(y, j, v), update_window_dims={1}, "
                          "inserted_window_dims={0,1}, "
                          "scatter_dims_to_operand_dims={1,0}, index_vector_dim=0, to_apply=put\n"
                          "  s2 = f32[3,10,32] scatter(z, k, w), update_window_dims={2}, "
                          "inserted_window_dims={1}, "
                          "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
                          "scatter_indices_batching_dims={0}, "
                          "index_vector_dim=2, to_apply=put\n"
                          "  s3 = f32[40,64] scatter(x, i, u), update_window_dims={1}, "
                          "inserted_window_dims={0}, "
                          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=odd\n"
                          "  g = f32[1,64] gather(one, at), offset_dims={1}, collapsed_slice_dims={0,1}, "
                          "start_index_map={0,1}, "
                          "index_vector_dim=1, slice_sizes={1,1,64}\n"
                          "  ROOT t = (f32[40,64], f32[4,8,64], f32[3,10,32], f32[40,64], f32[1,64]) "
                          "tuple(s0, s1, s2, s3, g)\n}\n";

/* In a graph an op that changes a tensor has only what it puts into it as operands. */
static void scatters_name_rows(void **state)
{
    (void)state;
    const struct lx_graph *g = imported(scatters);
    assert_int_equal(kinds(g, "scatter"), 3);
    assert_int_equal(kinds(g, "generic"), 1);
    const struct lx_op *sum = op_of(g, "scatter", 0), *two = op_of(g, "scatter", 1);
    assert_string_equal(sum->einsum, "c,cb->ab");
    assert_int_equal(sum->params->combine, LX_COMBINE_ADD);
    assert_string_equal(two->einsum, "de,dc->abc");
    assert_int_equal(two->params->axes[0], 1);
    assert_int_equal(two->params->axes[1], 0);
    assert_int_equal(two->params->combine, LX_COMBINE_REPLACE);
    assert_string_equal(op_of(g, "scatter", 2)->einsum, "ad,adc->abc");
    /* Of two components only that one counts whose dimension has more than one element. */
    const struct lx_op *row = op_of(g, "gather", 0), *part = op_of(g, "slice", 0);
    assert_string_equal(row->einsum, "ab,->b");
    assert_int_equal(part->output, row->inputs[1]);
    lx_graph_free(g);
}

static const char partly[] =
    "HloModule t\n"
    "pad {\n  x = f32[8,64] parameter(0)\n  n = s32[] parameter(1)\n  v = f32[] convert(n)\n"
    "  ROOT y = f32[12,67] pad(x, v), padding=1_3x3_0\n}\n"
    "ENTRY main {\n"
    "  x = f32[8,64] parameter(0)\n  v = f32[] parameter(1)\n  c = f32[4,16,64] parameter(2)\n"
    "  u = f32[1,1,64] parameter(3)\n  p = s32[] parameter(4)\n  two = s32[] constant(2)\n"
    "  zero = s32[] constant(0)\n"
    "  y = f32[12,67] pad(x, v), padding=1_3x3_0\n  k = f32[12,67] call(x, two), to_apply=pad\n"
    "  d = f32[4,16,64] dynamic-update-slice(c, u, two, p, zero)\n"
    "  s = f32[1,4,64] dynamic-slice(d, two, p, zero), dynamic_slice_sizes={1,4,64}\n"
    "  ROOT t = (f32[12,67], f32[12,67], f32[4,16,64], f32[1,4,64]) tuple(y, k, d, s)\n}\n";

static void what_is_known_stands_beside_what_is_not(void **state)
{
    (void)state;
    const struct lx_graph *g = imported(partly);
    assert_int_equal(kinds(g, "generic"), 0);
    const struct lx_op *part = op_of(g, "dynamic_slice", 0);
    assert_string_equal(part->einsum, "abc,,->dc");
    assert_int_equal(part->input_count, 3);
    /* A pad by a number of the run is a pad, a mask, and a choice between both. */
    assert_int_equal(kinds(g, "pad"), 3);
    assert_int_equal(kinds(g, "where"), 1);
    assert_float_equal(op_of(g, "pad", 2)->value, 2, 0);
    lx_graph_free(g);
}

#define DOT(name, x)                                                                                         \
    "  " name " = f32[4,16] dot(" x                                                                          \
    ", q), lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, "                               \
    "rhs_contracting_dims={1}\n"
#define ALIASED(last)                                                                                        \
    "HloModule t, input_output_alias={ {1}: (0, {}, may-alias) }\n"                                          \
    "ENTRY main {\n"                                                                                         \
    "  c = f32[4,16,64] parameter(0)\n  u = f32[4,1,64] parameter(1)\n  p = s32[] parameter(2)\n"            \
    "  q = f32[4,64] parameter(3)\n  z = s32[] constant(0)\n"                                                \
    "  d = f32[4,16,64] dynamic-update-slice(c, u, z, p, z)\n"                                               \
    "  d2 = f32[4,16,64] dynamic-update-slice(d, u, z, z, z)\n" DOT("s", "d2")                               \
        DOT("old", last) "  e = f32[4,16] add(s, old)\n"                                                     \
                         "  ROOT t = (f32[4,16], f32[4,16,64]) tuple(e, d2)\n}\n"

static void aliased_parameters_are_states(void **state)
{
    (void)state;
    const struct lx_graph *g = imported(ALIASED("d2"));
    assert_int_equal(kinds(g, "clone"), 0);
    assert_int_equal(kinds(g, "dynamic_insert"), 2);
    assert_int_equal(g->tensors[op_of(g, "dynamic_insert", 0)->output].role, LX_STATE);
    assert_int_equal(op_of(g, "dynamic_insert", 0)->output, op_of(g, "dynamic_insert", 1)->output);
    lx_graph_free(g);
    /* What is read below is read before it is changed. */
    g = imported(ALIASED("c"));
    assert_int_equal(kinds(g, "clone"), 0);
    assert_true(place_of(g, "matmul", 0) < place_of(g, "dynamic_insert", 0));
    assert_true(place_of(g, "matmul", 1) > place_of(g, "dynamic_insert", 1));
    assert_int_equal(g->tensors[op_of(g, "dynamic_insert", 1)->output].role, LX_STATE);
    lx_graph_free(g);
    g = imported(ALIASED("d"));
    assert_int_equal(kinds(g, "clone"), 0);
    assert_true(place_of(g, "matmul", 0) > place_of(g, "dynamic_insert", 0));
    assert_true(place_of(g, "matmul", 0) < place_of(g, "dynamic_insert", 1));
    lx_graph_free(g);
}

#define STEP(body, root)                                                                                     \
    "HloModule t, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, may-alias) }\n"                 \
    "ENTRY main {\n  p = f32[64,64] parameter(0)\n  m = f32[64,64] parameter(1)\n"                           \
    "  g = f32[64,64] parameter(2)\n" body "  ROOT t = (f32[64,64], f32[64,64], f32[64,64]) tuple(" root     \
    ")\n}\n"
#define PRODUCT(name, x, y)                                                                                  \
    "  " name " = f32[64,64] dot(" x ", " y "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"

static int32_t tensor_named(const struct lx_graph *g, const char *name)
{
    for (int32_t t = 0; t < g->tensor_count; t++)
        if (strcmp(g->tensors[t].name, name) == 0) return t;
    return -1;
}

/* The only op that writes it. */
static int32_t writer_of(const struct lx_graph *g, const char *name)
{
    int32_t found = -1;
    for (int32_t o = 0; o < g->op_count; o++)
        if (g->ops[o].output == tensor_named(g, name)) {
            assert_int_equal(found, -1);
            found = o;
        }
    assert_true(found >= 0);
    return found;
}

static void read_before_written(const struct lx_graph *g, const char *name)
{
    assert_int_equal(g->tensors[tensor_named(g, name)].role, LX_STATE);
    for (int32_t o = writer_of(g, name) + 1; o < g->op_count; o++)
        for (int i = 0; i < g->ops[o].input_count; i++)
            assert_int_not_equal(g->ops[o].inputs[i], tensor_named(g, name));
}

/* Parameters of a training step: read by products, and what is made of them stands in their place. */
static void parameters_are_written_after_they_are_read(void **state)
{
    (void)state;
    const struct lx_graph *g =
        imported(STEP("  n = f32[64,64] subtract(p, g)\n  k = f32[64,64] add(m, g)\n" //
                      PRODUCT("a", "p", "m") PRODUCT("b", "a", "p"),
                      "n, k, b"));
    read_before_written(g, "p");
    read_before_written(g, "m");
    assert_int_equal(g->op_count, 4);
    assert_string_equal(g->ops[writer_of(g, "p")].kind->name, "sub");
    lx_graph_free(g);
    /* Each needs what the other was: one of them is copied. */
    g = imported(STEP("  n = f32[64,64] subtract(p, m)\n  k = f32[64,64] add(p, m)\n", "n, k, g"));
    read_before_written(g, "p");
    read_before_written(g, "m");
    assert_int_equal(kinds(g, "clone"), 1);
    lx_graph_free(g);
    /* A product needs all of it to make any of it; who reads the new one needs the old one too. */
    g = imported(
        STEP(PRODUCT("n", "p", "g") "  k = f32[64,64] add(m, g)\n" PRODUCT("b", "k", "m"), "n, k, b"));
    read_before_written(g, "p");
    read_before_written(g, "m");
    assert_int_equal(kinds(g, "clone"), 2);
    assert_int_equal(kinds(g, "matmul"), 2);
    lx_graph_free(g);
}

/* What is sliced at a place that is known once a loop is unrolled is read where it is. */
static void known_starts_are_views(void **state)
{
    static const char text[] =
        "HloModule t\nc {\n  p = (s32[], f32[64], f32[3,64]) parameter(0)\n  i = s32[] get-tuple-element(p), "
        "index=0\n"
        "  n = s32[] constant(3)\n  ROOT l = pred[] compare(i, n), direction=LT\n}\n"
        "b {\n  p = (s32[], f32[64], f32[3,64]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n"
        "  a = f32[64] get-tuple-element(p), index=1\n  w = f32[3,64] get-tuple-element(p), index=2\n"
        "  z = s32[] constant(0)\n  o = s32[] constant(1)\n"
        "  s = f32[1,64] dynamic-slice(w, i, z), dynamic_slice_sizes={1,64}\n  r = f32[64] reshape(s)\n"
        "  n = f32[64] add(a, r)\n  j = s32[] add(i, o)\n  ROOT t = (s32[], f32[64], f32[3,64]) tuple(j, n, "
        "w)\n}\n"
        "ENTRY main {\n  x = f32[64] parameter(0)\n  w = f32[3,64] parameter(1)\n  z = s32[] constant(0)\n"
        "  i = (s32[], f32[64], f32[3,64]) tuple(z, x, w)\n"
        "  l = (s32[], f32[64], f32[3,64]) while(i), condition=c, body=b\n"
        "  ROOT y = f32[64] get-tuple-element(l), index=1\n}\n";
    const struct lx_graph *g = imported(text);
    (void)state;
    assert_int_equal(g->op_count, 3);
    assert_int_equal(kinds(g, "add"), 3);
    for (int o = 0; o < 3; o++) assert_int_equal(op_of(g, "add", o)->views[1].offset[0], o);
    lx_graph_free(g);
}

/* More dimensions than an index map has: the op is generic, in nobody's place. */
static const char too_many[] =
    "HloModule m\n\nput {\n  p = f32[] parameter(0)\n  ROOT q = f32[] parameter(1)\n}\n\nENTRY e {\n"
    "  y = f32[2,3,2,3,2,3,2,3,2,3] parameter(0)\n  i = s32[2,1] parameter(1)\n"
    "  u = f32[2,2,3,3,2,3,2,3,2,3] parameter(2)\n  x = f32[2,3,2,3,2,3,2,3,2,3] exponential(y)\n"
    "  ROOT s = f32[2,3,2,3,2,3,2,3,2,3] scatter(x, i, u), update_window_dims={1,2,3,4,5,6,7,8,9}, "
    "inserted_window_dims={2}, scatter_dims_to_operand_dims={2}, index_vector_dim=1, to_apply=put\n}\n";

static void what_cannot_be_changed_is_made_anew(void **state)
{
    const struct lx_graph *g = imported(too_many);
    int generics = 0;
    (void)state;
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        for (int32_t p = 0; p < o; p++) assert_int_not_equal(g->ops[p].output, op->output);
        generics += strcmp(op->kind->name, "generic") == 0 && op->input_count == 3;
    }
    assert_int_equal(generics, 1);
    assert_int_equal(kinds(g, "scatter"), 0);
    lx_graph_free(g);
}

/* A small constant keeps no run of ops apart; a large one would wait on chip. */
static void small_constants_come_first(void **state)
{
    (void)state;
    const struct lx_graph *g = imported(
        "func.func @main(%arg0: tensor<64x64xf32>, %arg1: tensor<64x64xi1>) -> tensor<64x64xf32> {\n"
        "  %c = \"ttir.constant\"() <{value = dense<1.5> : tensor<64x64xf32>}> : () -> tensor<64x64xf32>\n"
        "  %0 = \"ttir.exp\"(%arg0) : (tensor<64x64xf32>) -> tensor<64x64xf32>\n"
        "  %1 = \"ttir.where\"(%arg1, %c, %0) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> "
        "tensor<64x64xf32>\n"
        "  %2 = \"ttir.arange\"() <{arange_dimension = 0 : i64, end = 4096 : si64, start = 0 : si64, step = "
        "1 "
        ": si64}> : () -> tensor<4096xf32>\n"
        "  %3 = \"ttir.reshape\"(%2) <{shape = [64 : i32, 64 : i32]}> : (tensor<4096xf32>) -> "
        "tensor<64x64xf32>\n"
        "  %4 = \"ttir.add\"(%1, %3) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>\n"
        "  return %4 : tensor<64x64xf32>\n}\n");
    assert_int_equal(place_of(g, "constant", 0), 0);
    assert_int_equal(place_of(g, "exp", 0), 1);
    assert_true(place_of(g, "iota", 0) > 2);
    lx_graph_free(g);
}

/* Ops of weights alone come before the layer that reads them: what a layer leaves passes no op of it. */
static void weights_are_made_before_their_layer(void **state)
{
    static const char text[] =
        "HloModule t\nENTRY main {\n  x = f32[64,64] parameter(0)\n"
        "  w = f32[64,64] parameter(1), metadata={op_name=\"params[0]\"}\n"
        "  v = f32[64] parameter(2), metadata={op_name=\"params[1]\"}\n" PRODUCT(
            "a", "x",
            "w") "  r = f32[64] rsqrt(v)\n  k = f32[64,64] broadcast(r), dimensions={1}\n"
                 "  b = f32[64,64] multiply(a, k)\n  t = f32[64] tanh(v)\n" PRODUCT(
                     "c", "b",
                     "w") "  l = f32[64,64] broadcast(t), dimensions={1}\n  d = f32[64,64] multiply(c, l)\n"
                          "  ROOT e = f32[64,64] add(d, %s)\n}\n";
    char all[2048];
    (void)state;
    for (int around = 0; around < 2; around++) { /* 1: the first product passes the second one */
        snprintf(all, sizeof all, text, around ? "a" : "d");
        const struct lx_graph *g = imported(all);
        assert_int_equal(place_of(g, "rsqrt", 0), 0);
        assert_int_equal(place_of(g, "matmul", 0), around ? 2 : 1);
        assert_int_equal(place_of(g, "tanh", 0), around ? 1 : 3);
        lx_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_constants_come_first),
                                       cmocka_unit_test(weights_are_made_before_their_layer),
                                       cmocka_unit_test(caches_are_changed_where_they_are),
                                       cmocka_unit_test(fills_become_one),
                                       cmocka_unit_test(scatters_name_rows),
                                       cmocka_unit_test(what_is_known_stands_beside_what_is_not),
                                       cmocka_unit_test(aliased_parameters_are_states),
                                       cmocka_unit_test(parameters_are_written_after_they_are_read),
                                       cmocka_unit_test(known_starts_are_views),
                                       cmocka_unit_test(what_cannot_be_changed_is_made_anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
