/* Ops of TTIR and HLO that move, pick and put: what they mean, and what two of them do to a storage that they share. */
#include "support/op_meanings.h"

/* ---- what ops mean ---- */

static void last_seven_rows(struct tried *n)
{
    for (int i = 0; i < 7 * 32; i++) n->want[i] = n->in[0][i + 32];
}

/* Row 1 of 4, one column before it and one behind it. */
static void one_row_within(struct tried *n)
{
    for (int i = 0; i < 34; i++) n->want[i] = i == 0 || i == 33 ? 2.5 : n->in[0][32 + i - 1];
}

static void row_by_matrix(struct tried *n)
{
    for (int b = 0; b < 2; b++)
        for (int k = 0; k < 8; k++)
            for (int i = 0; i < 32; i++) n->want[b * 8 + k] += n->in[0][i] * n->in[1][(b * 32 + i) * 8 + k];
}

/* [2,4] from [4,2,8,32]: the first of three numbers. */
static void negated(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = -n->in[0][i];
}

/* Windows of two rows, and 0.25 where all are less. */
static void at_least_a_quarter(struct tried *n)
{
    for (int i = 0; i < 128; i++) {
        const double *x = n->in[0] + i / 32 * 64 + i % 32;
        n->want[i] = fmax(0.25, fmax(x[0], x[32]));
    }
}

/* Along the second of [2,5,32], from its end. */
static void running_from_the_end(struct tried *n)
{
    for (int b = 0; b < 2; b++)
        for (int d = 0; d < 32; d++) {
            double sum = 0;
            for (int i = 4; i >= 0; i--)
                n->want[(b * 5 + i) * 32 + d] = sum += n->in[0][(b * 5 + i) * 32 + d];
        }
}

static void nothing_added(struct tried *n)
{
    memcpy(n->want, n->in[0], sizeof n->want);
}

/* Rows 2 and 3 of 4, from the third on though it begins at 9. */
static void last_two_rows(struct tried *n)
{
    memcpy(n->want, n->in[0] + 64, 64 * sizeof *n->want);
}

static void bits_of_ones(struct tried *n)
{
    for (int i = 0; i < 64; i++) {
        float x = (float)n->in[0][i];
        int32_t bits;
        memcpy(&bits, &x, sizeof bits);
        n->want[i] = bits;
    }
}

/* Each pixel of [1,2,2,32] four times. */
static void pixels_four_times(struct tried *n)
{
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            memcpy(n->want + (y * 4 + x) * 32, n->in[0] + (y / 2 * 2 + x / 2) * 32, 32 * sizeof *n->want);
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static void rows_in_order(struct tried *n)
{
    memcpy(n->want, n->in[0], 64 * sizeof *n->want);
    for (int i = 0; i < 2; i++) qsort(n->want + i * 32, 32, sizeof *n->want, falling);
}

/* The three largest of each row of 32. */
static void three_largest(struct tried *n)
{
    rows_in_order(n);
    memmove(n->want + 3, n->want + 32, 3 * sizeof *n->want);
}

/* clang-format off */
#define SORT(call) "HloModule m\nmore {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT c = pred[] compare(p, q), direction=GT\n}\n" \
    "more2 {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  i = s32[] parameter(2)\n  k = s32[] parameter(3)\n" \
    "  ROOT c = pred[] compare(p, q), direction=GT\n}\nENTRY e {\n  a = f32[2,32] parameter(0)\n" call "}\n"
static const struct meaning meanings[] = {
    {"bits", TTIR("%a: tensor<2x32xf32>", "2x32xi32", "  %y = \"ttir.bitcast_convert\"(%a) : (tensor<2x32xf32>) -> tensor<2x32xi32>\n"),
     bits_of_ones},
    {"an image twice as large", TTIR("%a: tensor<1x2x2x32xf32>", "1x4x4x32xf32",
     "  %y = \"ttir.upsample2d\"(%a) <{scale_factor = 2 : si32, mode = \"nearest\"}> : (tensor<1x2x2x32xf32>) -> tensor<1x4x4x32xf32>\n"),
     pixels_four_times},
    {"a sort", SORT("  ROOT r = f32[2,32] sort(a), dimensions={1}, to_apply=more\n"), rows_in_order},
    {"a sort with places", SORT("  i = s32[2,32] iota(), iota_dimension=1\n"
     "  s = (f32[2,32], s32[2,32]) sort(a, i), dimensions={1}, to_apply=more2\n  ROOT r = f32[2,32] get-tuple-element(s), index=0\n"),
     rows_in_order},
    {"the largest of rows", HLO("  a = f32[2,32] parameter(0)\n  t = (f32[2,3], s32[2,3]) custom-call(a), custom_call_target=\"TopK\"\n"
     "  ROOT r = f32[2,3] get-tuple-element(t), index=0\n"), three_largest},
    {"a part whose start is known", HLO("  a = f32[4,32] parameter(0)\n  i = s32[] constant(9)\n  z = s32[] constant(0)\n"
     "  ROOT r = f32[2,32] dynamic-slice(a, i, z), dynamic_slice_sizes={2,32}\n"), last_two_rows},
    {"a pad that crops", TTIR("%a: tensor<8x32xf32>", "7x32xf32",
     "  %y = \"ttir.pad\"(%a) <{padding = array<i32: -1, 0, 0, 0>, value = 1.0 : f32}> : (tensor<8x32xf32>) -> tensor<7x32xf32>\n"),
     last_seven_rows},
    {"a pad that crops to one and grows", HLO("  a = f32[4,32] parameter(0)\n  z = f32[] constant(2.5)\n"
     "  ROOT p = f32[1,34] pad(a, z), padding=-1_-2x1_1\n"), one_row_within},
    {"a row and a matrix", TTIR("%a: tensor<32xf32>, %b: tensor<2x32x8xf32>", "2x8xf32",
     "  %y = \"ttir.matmul\"(%a, %b) : (tensor<32xf32>, tensor<2x32x8xf32>) -> tensor<2x8xf32>\n"), row_by_matrix},
    {"a call of another form", TTIR("%a: tensor<2x32xf32>", "2x32xf32",
     "  %y = \"func.call\"(%a) <{callee = @b}> : (tensor<2x32xf32>) -> tensor<2x32xf32>\n")
     "func.func @b(%x: tensor<2x32xf32>) -> tensor<2x32xf32> {\n  %0 = ttir.empty() : tensor<2x32xf32>\n"
     "  %1 = \"ttir.neg\"(%x, %0) : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>\n  return %1 : tensor<2x32xf32>\n}\n",
     negated},
    {"a window that begins with a number", HLO("  a = f32[8,32] parameter(0)\n  q = f32[] constant(0.25)\n"
     "  ROOT w = f32[4,32] reduce-window(a, q), window={size=2x1 stride=2x1}, to_apply=most\n"), at_least_a_quarter},
    {"running sums", HLO("  a = f32[2,5,32] parameter(0)\n  z = f32[] constant(0)\n"
     "  ROOT w = f32[2,5,32] reduce-window(a, z), window={size=1x5x1 pad=0_0x0_4x0_0}, to_apply=add\n"), running_from_the_end},
    {"a sum of nothing", TTIR("%a: tensor<4x32xf32>, %b: tensor<0x32xf32>", "4x32xf32",
     "  %0 = \"ttir.sum\"(%b) <{dim_arg = [0 : i32], keep_dim = false}> : (tensor<0x32xf32>) -> tensor<32xf32>\n"
     "  %y = \"ttir.add\"(%a, %0) : (tensor<4x32xf32>, tensor<32xf32>) -> tensor<4x32xf32>\n"), nothing_added},
};
/* clang-format on */

static void ops_mean_what_they_say(void **state)
{
    (void)state;
    try_meanings(meanings, sizeof meanings / sizeof *meanings);
}

/* What two views want of one storage is found out where they meet: nothing else is copied for it. */
static void one_conflict_copies_little(void **state)
{
    static const char text[] =
        "func.func @main(%a: tensor<1x8x8x192xf32>, %b: tensor<64x96x3x3xf32>, %c: tensor<96x64x3x3xf32>, "
        "%d: "
        "tensor<4x64xf32>) -> (tensor<1x6x6x64xf32>, tensor<1x6x6x96xf32>, tensor<64x4xf32>) {\n"
        "  %0 = \"ttir.conv2d\"(%a, %b) <{dilation = 1 : i32, groups = 2 : i32, padding = 0 : i32, stride = "
        "1 : "
        "i32}> : (tensor<1x8x8x192xf32>, tensor<64x96x3x3xf32>) -> tensor<1x6x6x64xf32>\n"
        "  %1 = \"ttir.conv2d\"(%a, %c) <{dilation = 1 : i32, groups = 3 : i32, padding = 0 : i32, stride = "
        "1 : "
        "i32}> : (tensor<1x8x8x192xf32>, tensor<96x64x3x3xf32>) -> tensor<1x6x6x96xf32>\n"
        "  %2 = \"ttir.permute\"(%d) <{permutation = array<i64: 1, 0>}> : (tensor<4x64xf32>) -> "
        "tensor<64x4xf32>\n"
        "  %3 = \"ttir.neg\"(%2) : (tensor<64x4xf32>) -> tensor<64x4xf32>\n"
        "  return %0, %1, %3 : tensor<1x6x6x64xf32>, tensor<1x6x6x96xf32>, tensor<64x4xf32>\n}\n";
    struct lx_import_options options = {.branch = -1};
    lx_status st = {0};
    int products = 0, copies = 0;
    (void)state;
    const struct lx_graph *g = lx_model_import("two groupings", text, sizeof text - 1, &options, NULL, &st);
    if (!g) fail_msg("%s", st.text);
    for (int32_t o = 0; o < g->op_count; o++) {
        products += g->ops[o].kind->id == LX_KIND_MATMUL;
        copies += g->ops[o].kind->id == LX_KIND_CLONE;
    }
    assert_int_equal(products, 2);
    assert_int_equal(copies, 0);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ops_mean_what_they_say),
                                       cmocka_unit_test(one_conflict_copies_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
