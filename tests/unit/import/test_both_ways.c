/* Folding changes no bit: small models with views of all kinds, run on the device with their views folded and without. */
#include "base/text.h"
#include "support/both_ways.h"
#include "support/random_models.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

struct small {
    const char *name, *text;
};

/* Models whose name begins with "0" subtract two ways to compute the same: all they give is 0. */
#define HLO(name, body)                                                                                      \
    {                                                                                                        \
        name, "HloModule m\n\nENTRY e {\n" body "}\n"                                                        \
    }

/* clang-format off */
static const struct small models[] = {
    HLO("heads", "  x = f32[8,128] parameter(0)\n  w = f32[128,128] parameter(1)\n"
                 "  q = f32[8,128] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
                 "  h = f32[8,2,64] reshape(q)\n  t = f32[2,8,64] transpose(h), dimensions={1,0,2}\n"
                 "  ROOT s = f32[2,8,8] dot(t, t), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                 "lhs_contracting_dims={2}, rhs_contracting_dims={2}\n"),
    HLO("shapes that do not fit", "  x = f32[6,32] parameter(0)\n  a = f32[2,3,32] reshape(x)\n"
                 "  b = f32[3,2,32] reshape(x)\n  c = f32[3,2,32] transpose(a), dimensions={1,0,2}\n"
                 "  ROOT y = f32[3,2,32] subtract(b, c)\n"),
    HLO("repeated keys", "  k = f32[2,16,64] parameter(0)\n  q = f32[8,64] parameter(1)\n"
                 "  b = f32[2,4,16,64] broadcast(k), dimensions={0,2,3}\n  r = f32[8,16,64] reshape(b)\n"
                 "  n = f32[8,16,64] negate(r)\n"
                 "  ROOT s = f32[8,16] dot(q, n), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                 "lhs_contracting_dims={1}, rhs_contracting_dims={2}\n"),
    {"windows over what a reshape has joined", "HloModule m\n\nmost {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
                 "  ROOT s = f32[] maximum(p, q)\n}\n\nplus {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
                 "  ROOT s = f32[] add(p, q)\n}\n\nENTRY e {\n  x = f32[4,3,32] parameter(0)\n  n = f32[4,3,32] negate(x)\n"
                 "  r = f32[12,32] reshape(n)\n  i = f32[] constant(-inf)\n  z = f32[] constant(0)\n"
                 "  w = f32[12,32] reduce-window(r, i), window={size=3x1 pad=1_1x0_0}, to_apply=most\n"
                 "  c = f32[12,32] reduce-window(r, z), window={size=12x1 pad=11_0x0_0}, to_apply=plus\n"
                 "  ROOT y = f32[12,32] subtract(w, c)\n}\n"},
    {"0 a pad before a pool", "HloModule m\n\nmost {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
                 "  ROOT s = f32[] maximum(p, q)\n}\n\nENTRY e {\n  x = f32[6,9,32] parameter(0)\n  i = f32[] constant(-inf)\n"
                 "  t = f32[9,6,32] transpose(x), dimensions={1,0,2}\n  p = f32[11,7,32] pad(t, i), padding=1_1x1_0x0_0\n"
                 "  u = f32[7,11,32] transpose(p), dimensions={1,0,2}\n"
                 "  v = f32[3,5,32] reduce-window(u, i), window={size=3x3x1 stride=2x2x1}, to_apply=most\n"
                 "  w = f32[3,5,32] reduce-window(x, i), window={size=3x3x1 stride=2x2x1 pad=1_0x1_1x0_0}, to_apply=most\n"
                 "  ROOT y = f32[3,5,32] subtract(v, w)\n}\n"},
    HLO("halves", "  x = f32[4,128] parameter(0)\n  a = f32[4,64] slice(x), slice={[0:4], [0:64]}\n"
                 "  b = f32[4,64] slice(x), slice={[0:4], [64:128]}\n  n = f32[4,64] negate(b)\n"
                 "  c = f32[4,128] concatenate(n, a), dimensions={1}\n  ROOT y = f32[4,128] multiply(c, x)\n"),
    HLO("sum of what is repeated", "  x = f32[4,32] parameter(0)\n  b = f32[4,3,32] broadcast(x), dimensions={0,2}\n"
                 "  r = f32[12,32] reshape(b)\n  w = f32[12,5] parameter(1)\n"
                 "  ROOT y = f32[32,5] dot(r, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"),
    HLO("every other, backwards", "  x = f32[9,32] parameter(0)\n  r = f32[9,32] reverse(x), dimensions={0}\n"
                 "  s = f32[4,32] slice(r), slice={[1:9:2], [0:32]}\n  ROOT y = f32[4,32] exponential(s)\n"),
    HLO("a pad that is reshaped", "  x = f32[5,32] parameter(0)\n  z = f32[] constant(1.5)\n"
                 "  p = f32[8,32] pad(x, z), padding=1_2x0_0\n  r = f32[2,4,32] reshape(p)\n"
                 "  ROOT y = f32[4,2,32] transpose(r), dimensions={1,0,2}\n"),
    HLO("0 nothing", "  a = f32[4,0] parameter(0)\n  b = f32[0,32] parameter(1)\n  x = f32[4,32] parameter(2)\n"
                 "  c = f32[4,32] concatenate(b, x), dimensions={0}\n  n = f32[0,32] negate(b)\n  z = f32[] constant(2)\n"
                 "  d = f32[4,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  e = f32[4,32] add(c, d)\n"
                 "  p = f32[4,32] pad(n, z), padding=3_1x0_0\n  f = f32[4,32] multiply(e, p)\n  g = f32[4,32] add(x, x)\n"
                 "  ROOT y = f32[4,32] subtract(f, g)\n"),
    HLO("a sum over heads that lie apart", "  x = f32[2,3,5,64] parameter(0)\n  w = f32[320,7] parameter(1)\n"
                 "  t = f32[2,3,5,64] exponential(x)\n  u = f32[2,5,3,64] transpose(t), dimensions={0,2,1,3}\n"
                 "  v = f32[3,2,5,64] transpose(u), dimensions={2,0,1,3}\n  r = f32[3,2,320] reshape(v)\n"
                 "  ROOT d = f32[3,2,7] dot(r, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}\n"),
    HLO("a sum in another order than any operand's", "  x = f32[32,9,40] parameter(0)\n  y = f32[9,40,32] parameter(1)\n"
                 "  a = f32[40,32,9] transpose(x), dimensions={2,0,1}\n  b = f32[9,32,40] transpose(y), dimensions={0,2,1}\n"
                 "  n = f32[40,32,9] negate(a)\n"
                 "  ROOT d = f32[9,9] dot(n, b), lhs_contracting_dims={0,1}, rhs_contracting_dims={2,1}\n"),
    HLO("long sums of three", "  x = f32[32,24,40] parameter(0)\n  y = f32[24,40,32] parameter(1)\n"
                 "  a = f32[40,32,24] transpose(x), dimensions={2,0,1}\n  b = f32[40,24,32] transpose(y), dimensions={1,0,2}\n"
                 "  ROOT d = f32[] dot(a, b), lhs_contracting_dims={1,0,2}, rhs_contracting_dims={2,0,1}\n"),
    {"means over turned dimensions",
     "func.func @main(%arg0: tensor<4x6x5x32xf32>) -> (tensor<6xf32>, tensor<4x32xf32>) {\n"
     "  %0 = \"ttir.permute\"(%arg0) <{permutation = array<i64: 3, 1, 0, 2>}> : (tensor<4x6x5x32xf32>) -> tensor<32x6x4x5xf32>\n"
     "  %1 = \"ttir.mean\"(%0) <{dim_arg = [0 : i32, 2 : i32, 3 : i32], keep_dim = false}> : (tensor<32x6x4x5xf32>) -> tensor<6xf32>\n"
     "  %2 = \"ttir.permute\"(%arg0) <{permutation = array<i64: 2, 0, 1, 3>}> : (tensor<4x6x5x32xf32>) -> tensor<5x4x6x32xf32>\n"
     "  %3 = \"ttir.sum\"(%2) <{dim_arg = [0 : i32, 2 : i32], keep_dim = false}> : (tensor<5x4x6x32xf32>) -> tensor<4x32xf32>\n"
     "  return %1, %3 : tensor<6xf32>, tensor<4x32xf32>\n}\n"},
    {"windows over turned dimensions",
     "func.func @main(%arg0: tensor<2x8x9x12xf32>, %arg1: tensor<3x3x12x16xf32>) -> tensor<2x8x9x16xf32> {\n"
     "  %0 = \"ttir.permute\"(%arg1) <{permutation = array<i64: 3, 2, 0, 1>}> : (tensor<3x3x12x16xf32>) -> tensor<16x12x3x3xf32>\n"
     "  %1 = \"ttir.permute\"(%arg0) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x8x9x12xf32>) -> tensor<2x9x8x12xf32>\n"
     "  %2 = \"ttir.permute\"(%1) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x9x8x12xf32>) -> tensor<2x8x9x12xf32>\n"
     "  %3 = \"ttir.conv2d\"(%2, %0) <{stride = array<i32: 1, 1>, padding = array<i32: 1, 1, 1, 1>, dilation = array<i32: 1, 1>, groups = 1 : i32}> : (tensor<2x8x9x12xf32>, tensor<16x12x3x3xf32>) -> tensor<2x8x9x16xf32>\n"
     "  return %3 : tensor<2x8x9x16xf32>\n}\n"},
    {"a view of a cache that is written before it is read",
     "func.func @main(%arg0: tensor<2x2x4x64xf32>, %arg1: tensor<1x2x2x64xf32>, %arg2: tensor<1xi32>) -> "
     "(tensor<2x4x2x64xf32>, tensor<2x2x4x64xf32>, tensor<2x2x4x64xf32>) {\n"
     "  %0 = \"ttir.permute\"(%arg0) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x2x4x64xf32>) -> tensor<2x4x2x64xf32>\n"
     "  \"ttir.update_cache\"(%arg0, %arg1, %arg2) <{batch_offset = 0 : i32}> : (tensor<2x2x4x64xf32>, tensor<1x2x2x64xf32>, tensor<1xi32>) -> ()\n"
     "  %1 = \"ttir.neg\"(%0) : (tensor<2x4x2x64xf32>) -> tensor<2x4x2x64xf32>\n"
     "  %2 = \"ttir.neg\"(%arg0) : (tensor<2x2x4x64xf32>) -> tensor<2x2x4x64xf32>\n"
     "  return %1, %2, %arg0 : tensor<2x4x2x64xf32>, tensor<2x2x4x64xf32>, tensor<2x2x4x64xf32>\n}\n"},
    HLO("0 a row into a turned cache", "  c = f32[2,8,4,64] parameter(0)\n  n = f32[2,1,4,64] parameter(1)\n  i = s32[] parameter(2)\n"
                 "  z = s32[] constant(0)\n  t = f32[2,4,8,64] transpose(c), dimensions={0,2,1,3}\n"
                 "  m = f32[2,4,1,64] transpose(n), dimensions={0,2,1,3}\n"
                 "  u = f32[2,4,8,64] dynamic-update-slice(t, m, z, z, i, z)\n"
                 "  b = f32[2,8,4,64] transpose(u), dimensions={0,2,1,3}\n"
                 "  v = f32[2,8,4,64] dynamic-update-slice(c, n, z, i, z, z)\n  ROOT o = f32[2,8,4,64] subtract(b, v)\n"),
    HLO("0 a row into what is repeated", "  v = f32[64] parameter(0)\n  p = f32[1,64] parameter(1)\n"
                 "  i = s32[] constant(1)\n  z = s32[] constant(0)\n  b = f32[4,64] broadcast(v), dimensions={1}\n"
                 "  u = f32[4,64] dynamic-update-slice(b, p, i, z)\n  r = f32[1,64] reshape(v)\n"
                 "  c = f32[4,64] concatenate(r, p, r, r), dimensions={0}\n  ROOT o = f32[4,64] subtract(u, c)\n"),
    {"0 one row for several places, into what is turned", "HloModule m\n\nput {\n  p = f32[] parameter(0)\n  ROOT q = f32[] parameter(1)\n}\n\nENTRY e {\n"
                 "  x = f32[64,8] parameter(0)\n  v = f32[64] parameter(1)\n  i = s32[3,1] constant({{1}, {3}, {6}})\n"
                 "  t = f32[8,64] transpose(x), dimensions={1,0}\n  b = f32[3,64] broadcast(v), dimensions={1}\n"
                 "  s = f32[8,64] scatter(t, i, b), update_window_dims={1}, inserted_window_dims={0}, "
                 "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=put\n  r = f32[1,64] reshape(v)\n"
                 "  a0 = f32[1,64] slice(t), slice={[0:1], [0:64]}\n  a2 = f32[1,64] slice(t), slice={[2:3], [0:64]}\n"
                 "  a4 = f32[2,64] slice(t), slice={[4:6], [0:64]}\n  a7 = f32[1,64] slice(t), slice={[7:8], [0:64]}\n"
                 "  c = f32[8,64] concatenate(a0, r, a2, r, a4, r, a7), dimensions={0}\n  ROOT o = f32[8,64] subtract(s, c)\n}\n"},
    {"0 one number for several places, several for one", "HloModule m\n\nplus {\n  p = s32[] parameter(0)\n  q = s32[] parameter(1)\n"
                 "  ROOT s = s32[] add(p, q)\n}\n\nENTRY e {\n"
                 "  i = s32[4,1] constant({{0}, {1}, {1}, {3}})\n  one = s32[] constant(1)\n  u = s32[4] broadcast(one), dimensions={}\n"
                 "  z = s32[] constant(0)\n  t = s32[4] broadcast(z), dimensions={}\n"
                 "  s = s32[4] scatter(t, i, u), update_window_dims={}, inserted_window_dims={0}, "
                 "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=plus\n"
                 "  two = s32[] constant(2)\n  j = s32[3,1] broadcast(two), dimensions={}\n  w = s32[3] constant({1, 2, 4})\n"
                 "  r = s32[4] scatter(t, j, w), update_window_dims={}, inserted_window_dims={0}, "
                 "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=plus\n"
                 "  a = s32[4] add(s, r)\n  c = s32[4] constant({1, 2, 7, 1})\n  ROOT o = s32[4] subtract(a, c)\n}\n"},
    {"0 a turned cache of TTIR",
     "func.func @main(%arg0: tensor<1x4x8x64xf32>, %arg1: tensor<1x8x1x64xf32>, %arg2: tensor<1xi32>) -> tensor<1x8x4x64xf32> {\n"
     "  %0 = \"ttir.permute\"(%arg0) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x4x8x64xf32>) -> tensor<1x8x4x64xf32>\n"
     "  %1 = \"ttir.update_cache\"(%0, %arg1, %arg2) <{batch_offset = 0 : i32}> : (tensor<1x8x4x64xf32>, tensor<1x8x1x64xf32>, tensor<1xi32>) -> tensor<1x8x4x64xf32>\n"
     "  %2 = \"ttir.neg\"(%0) : (tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32>\n"
     "  %3 = \"ttir.neg\"(%arg1) : (tensor<1x8x1x64xf32>) -> tensor<1x8x1x64xf32>\n"
     "  %4 = \"ttir.update_cache\"(%2, %3, %arg2) <{batch_offset = 0 : i32}> : (tensor<1x8x4x64xf32>, tensor<1x8x1x64xf32>, tensor<1xi32>) -> tensor<1x8x4x64xf32>\n"
     "  %5 = \"ttir.add\"(%1, %4) : (tensor<1x8x4x64xf32>, tensor<1x8x4x64xf32>) -> tensor<1x8x4x64xf32>\n"
     "  return %5 : tensor<1x8x4x64xf32>\n}\n"},
    {"caches in other shapes and orders, written without a result",
     "func.func @main(%arg0: tensor<2x4x4x4x64xf32>, %arg1: tensor<2x16x4x64xf32>, %arg2: tensor<1x4x2x64xf32>, %arg3: tensor<1xi32>) -> "
     "(tensor<2x4x16x64xf32>, tensor<2x4x16x64xf32>) {\n"
     "  %0 = \"ttir.reshape\"(%arg0) <{shape = [2 : i32, 4 : i32, 16 : i32, 64 : i32]}> : (tensor<2x4x4x4x64xf32>) -> tensor<2x4x16x64xf32>\n"
     "  \"ttir.update_cache\"(%0, %arg2, %arg3) <{batch_offset = 0 : i32}> : (tensor<2x4x16x64xf32>, tensor<1x4x2x64xf32>, tensor<1xi32>) -> ()\n"
     "  %1 = \"ttir.neg\"(%0) : (tensor<2x4x16x64xf32>) -> tensor<2x4x16x64xf32>\n"
     "  %2 = \"ttir.permute\"(%arg1) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x16x4x64xf32>) -> tensor<2x4x16x64xf32>\n"
     "  \"ttir.update_cache\"(%2, %arg2, %arg3) <{batch_offset = 0 : i32}> : (tensor<2x4x16x64xf32>, tensor<1x4x2x64xf32>, tensor<1xi32>) -> ()\n"
     "  %3 = \"ttir.neg\"(%2) : (tensor<2x4x16x64xf32>) -> tensor<2x4x16x64xf32>\n"
     "  return %1, %3 : tensor<2x4x16x64xf32>, tensor<2x4x16x64xf32>\n}\n"},
};
/* clang-format on */

static void all_zero(const char *name, const struct one_way *w)
{
    for (int i = 0; i < w->count; i++) {
        const struct lx_tensor *t = &w->g->tensors[w->tensor[i]];
        for (int64_t k = 0; k < both_items(t) * number_types[t->dtype].item; k++)
            if (w->items[i][k]) fail_msg("%s: byte %lld is not 0", name, (long long)k);
    }
}

/* A copy between tensors of one shape has an index map. */
static void clones(const char *name, const struct lx_graph *g)
{
    for (int32_t o = 0; o < g->op_count; o++) {
        const struct lx_op *op = &g->ops[o];
        const struct lx_tensor *to = &g->tensors[op->output],
                               *from = op->input_count ? &g->tensors[op->inputs[0]] : to;
        if (strcmp(op->kind->name, "reshape") == 0 && from->rank == to->rank && to->rank > 0 &&
            memcmp(from->shape, to->shape, (size_t)to->rank * sizeof *to->shape) == 0)
            fail_msg("%s: op %s reshapes nothing", name, op->name);
    }
}

static void compared(const char *name, const char *text, size_t length, bool generic)
{
    struct lx_import_options options = {.branch = -1};
    struct both_ways b;
    lx_status st = {0};
    if (!both_ways(&b, name, text, length, options, *name == '0', &st)) fail_msg("%s: %s", name, st.text);
    if (*b.why) fail_msg("%s: %s", name, b.why);
    for (int i = 0; !generic && i < 2; i++)
        if (b.way[i].generic > 0) fail_msg("%s: %s are generic", name, i ? "copies" : "ops");
    assert_true(b.way[0].count > 0);
    for (int i = 0; i < 2; i++) clones(name, b.way[i].g);
    if (*name == '0') all_zero(name, &b.way[0]);
    both_free(&b);
}

static void small_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        compared(models[i].name, models[i].text, strlen(models[i].text), false);
}

/* More operands than an op may have are joined in groups. */
static void many_parts(void **state)
{
    enum { PARTS = 70 };
    struct text t = {0};
    int rows = 0;
    (void)state;
    text_add(&t, "HloModule m\n\nENTRY e {\n");
    for (int i = 0; i < PARTS; rows += 1 + i++ % 3)
        text_format(&t, "  p%d = f32[%d,32] parameter(%d)\n", i, 1 + i % 3, i);
    text_format(&t, "  c = f32[%d,32] concatenate(", rows);
    for (int i = 0; i < PARTS; i++) text_format(&t, "%sp%d", i ? ", " : "", i);
    text_format(&t, "), dimensions={0}\n  l = f32[1,32] slice(c), slice={[%d:%d], [0:32]}\n", rows - 1, rows);
    text_format(&t, "  ROOT y = f32[1,32] subtract(l, p%d)\n}\n", PARTS - 1);
    compared("0 many parts", t.at, strlen(t.at), false);
    text_free(&t);
}

static void random_models(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng r = rng_seed(seed);
        struct text t = {0};
        char name[40];
        random_model(&r, seed % 2 == 0, &t);
        snprintf(name, sizeof name, "random model %llu", (unsigned long long)seed);
        compared(name, t.at, strlen(t.at), false);
        text_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(small_models), cmocka_unit_test(many_parts),
                                       cmocka_unit_test(random_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
