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

/* [4,2,8,32] with [1,2,2,32] in rows 1 and 2, each where c says. */
static void cache_rows(struct tried *n)
{
    memcpy(n->want, n->in[0], sizeof n->want);
    for (int b = 0; b < 2; b++)
        for (int h = 0; h < 2; h++)
            for (int d = 0; d < 32; d++)
                n->want[(((b + 1) * 2 + h) * 8 + (int)n->in[2][b]) * 32 + d] = n->in[1][(h * 2 + b) * 32 + d];
}

/* [2,4] from [4,2,8,32]: the first of three numbers. */
static void negated(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = -n->in[0][i];
}

static void every_other_row(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = n->in[0][i / 32 * 64 + 32 + i % 32];
}

static void pairs_of_rows(struct tried *n)
{
    for (int i = 0; i < 4 * 32; i++) n->want[i] = n->in[0][(i / 64 * 3 + i / 32 % 2) * 32 + i % 32];
}

static void picked(struct tried *n)
{
    for (int i = 0; i < 12; i++) n->want[i] = n->in[0][i / 3 * 32 + (int)n->in[1][i]];
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void three_least(struct tried *n)
{
    for (int r = 0; r < 4; r++) {
        double row[32];
        memcpy(row, n->in[0] + r * 32, sizeof row);
        qsort(row, 32, sizeof *row, rising);
        for (int i = 0; i < 3; i++) n->want[r * 3 + i] = row[i];
    }
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

/* e bits of exponent and m of fraction: what is left of 1 / a, spread over many sizes. */
static void narrowed(struct tried *n)
{
    for (int i = 0; i < 64; i++) {
        double x = n->in[0][i] * ldexp(1, 3 * (i % 16) - 24), least = ldexp(1, -14);
        int e;
        frexp(x, &e);
        double y = ldexp(nearbyint(ldexp(x, 4 - e)), e - 4);
        n->want[i] = fabs(y) >= 65536 ? copysign(INFINITY, x) : fabs(y) < least ? copysign(0, x) : y;
    }
}

static void nothing_added(struct tried *n)
{
    memcpy(n->want, n->in[0], sizeof n->want);
}

static void columns_xored(struct tried *n)
{
    for (int i = 0; i < 33; i++) {
        int bits = 8;
        for (int r = 0; r < 5; r++) bits ^= (int)n->in[0][r * 33 + i];
        n->want[i] = bits;
    }
}

static void all_anded(struct tried *n)
{
    int bits = -1;
    for (int i = 0; i < 28; i++) bits &= (int)n->in[0][i] | 4;
    n->want[0] = bits;
}

static void rest_of_erf(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = erfc(n->in[0][i]);
}

/* Groups of four channels, the last of [2,3,8]. */
static void groups_of_four(struct tried *n)
{
    for (int b = 0; b < 2; b++)
        for (int g = 0; g < 2; g++) {
            double sum = 0, squares = 0;
            for (int i = 0; i < 12; i++) sum += n->in[0][b * 24 + i / 4 * 8 + g * 4 + i % 4] / 12;
            for (int i = 0; i < 12; i++)
                squares += pow(n->in[0][b * 24 + i / 4 * 8 + g * 4 + i % 4] - sum, 2) / 12;
            for (int i = 0; i < 12; i++) {
                int at = b * 24 + i / 4 * 8 + g * 4 + i % 4;
                n->want[at] = (n->in[0][at] - sum) / sqrt(squares + 1e-5) + n->in[1][g * 4 + i % 4];
            }
        }
}

static void groups_scaled(struct tried *n)
{
    memset(n->want, 0, sizeof n->want);
    double shift[8];
    memcpy(shift, n->in[1], sizeof shift);
    memset(n->in[1], 0, sizeof shift);
    groups_of_four(n);
    for (int i = 0; i < 48; i++) n->want[i] *= shift[i % 8];
}

/* Along the second of [2,5,32], from its end. */
static void products_from_the_end(struct tried *n)
{
    for (int b = 0; b < 2; b++)
        for (int d = 0; d < 32; d++) {
            double product = 1;
            for (int i = 4; i >= 0; i--)
                n->want[(b * 5 + i) * 32 + d] = product *= n->in[0][(b * 5 + i) * 32 + d];
        }
}

/* [1,2,3,8] to [1,4,6,8]: between the middles of pixels. */
static void between_pixels(struct tried *n)
{
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 6; x++)
            for (int c = 0; c < 8; c++) {
                double h = fmin(fmax(y / 2.0 - 0.25, 0), 1), w = fmin(fmax(x / 2.0 - 0.25, 0), 2), sum = 0;
                for (int i = 0; i < 2; i++)
                    for (int j = 0; j < 3; j++)
                        sum += fmax(1 - fabs(h - i), 0) * fmax(1 - fabs(w - j), 0) *
                               n->in[0][(i * 3 + j) * 8 + c];
                n->want[(y * 6 + x) * 8 + c] = sum;
            }
}

/* Rows 2 and 3 of 4, from the third on though it begins at 9. */
static void last_two_rows(struct tried *n)
{
    memcpy(n->want, n->in[0] + 64, 64 * sizeof *n->want);
}

static void back_through_gelu(struct tried *n)
{
    for (int i = 0; i < 64; i++) {
        double x = n->in[1][i], bell = exp(-x * x / 2) / sqrt(2 * acos(-1));
        n->want[i] = n->in[0][i] * (0.5 * (1 + erf(x / sqrt(2))) + x * bell);
    }
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

/* clang-format off */
static const struct meaning meanings[] = {
    {"gelu, back", TTIR("%a: tensor<2x32xf32>, %b: tensor<2x32xf32>", "2x32xf32",
     "  %y = \"ttir.gelu_backward\"(%a, %b) <{approximate = \"none\"}> : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>\n"),
     back_through_gelu},
    {"bits", TTIR("%a: tensor<2x32xf32>", "2x32xi32", "  %y = \"ttir.bitcast_convert\"(%a) : (tensor<2x32xf32>) -> tensor<2x32xi32>\n"),
     bits_of_ones},
    {"bits of columns", "HloModule m\nf {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT z = s32[] xor(y, x)\n}\n"
     "ENTRY e {\n  a = s32[5,33] parameter(0)\n  i = s32[] constant(8)\n  ROOT r = s32[33] reduce(a, i), dimensions={0}, to_apply=f\n}\n",
     columns_xored},
    {"bits of all", "HloModule m\nf {\n  x = s32[] parameter(0)\n  y = s32[] parameter(1)\n  ROOT z = s32[] and(x, y)\n}\n"
     "ENTRY e {\n  a = s32[4,7] parameter(0)\n  i = s32[] constant(-1)\n  k = s32[] constant(4)\n  b = s32[4,7] broadcast(k), dimensions={}\n"
     "  o = s32[4,7] or(a, b)\n  ROOT r = s32[] reduce(o, i), dimensions={0,1}, to_apply=f\n}\n", all_anded},
    {"the rest of erf", TTIR("%a: tensor<2x32xf32>", "2x32xf32",
     "  %y = \"ttir.erfc\"(%a) : (tensor<2x32xf32>) -> tensor<2x32xf32>\n"), rest_of_erf},
    {"pixels in between", TTIR("%a: tensor<1x2x3x8xf32>", "1x4x6x8xf32",
     "  %y = \"ttir.upsample2d\"(%a) <{scale_factor = 2 : si32, mode = \"bilinear\"}> : (tensor<1x2x3x8xf32>) -> tensor<1x4x6x8xf32>\n"),
     between_pixels},
    {"groups of channels", TTIR("%a: tensor<2x3x8xf32>, %b: tensor<8xf32>", "2x3x8xf32",
     "  %y = \"ttir.group_norm\"(%a, %b) <{num_groups = 2 : i64, epsilon = 1.0E-5 : f32, operandSegmentSizes = array<i32: 1, 0, 0, 1>}> : "
     "(tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>\n"), groups_of_four},
    {"groups of channels with a scale", TTIR("%a: tensor<2x3x8xf32>, %b: tensor<8xf32>", "2x3x8xf32",
     "  %y = \"ttir.group_norm\"(%a, %b) <{num_groups = 2 : i64, epsilon = 1.0E-5 : f32, operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : "
     "(tensor<2x3x8xf32>, tensor<8xf32>) -> tensor<2x3x8xf32>\n"), groups_scaled},
    {"running products", "HloModule m\nf {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] multiply(x, y)\n}\n"
     "ENTRY e {\n  a = f32[2,5,32] parameter(0)\n  i = f32[] constant(1)\n"
     "  ROOT w = f32[2,5,32] reduce-window(a, i), window={size=1x5x1 pad=0_0x0_4x0_0}, to_apply=f\n}\n", products_from_the_end},
    {"a part whose start is known", HLO("  a = f32[4,32] parameter(0)\n  i = s32[] constant(9)\n  z = s32[] constant(0)\n"
     "  ROOT r = f32[2,32] dynamic-slice(a, i, z), dynamic_slice_sizes={2,32}\n"), last_two_rows},
    {"a pad that crops", TTIR("%a: tensor<8x32xf32>", "7x32xf32",
     "  %y = \"ttir.pad\"(%a) <{padding = array<i32: -1, 0, 0, 0>, value = 1.0 : f32}> : (tensor<8x32xf32>) -> tensor<7x32xf32>\n"),
     last_seven_rows},
    {"a pad that crops to one and grows", HLO("  a = f32[4,32] parameter(0)\n  z = f32[] constant(2.5)\n"
     "  ROOT p = f32[1,34] pad(a, z), padding=-1_-2x1_1\n"), one_row_within},
    {"a row and a matrix", TTIR("%a: tensor<32xf32>, %b: tensor<2x32x8xf32>", "2x8xf32",
     "  %y = \"ttir.matmul\"(%a, %b) : (tensor<32xf32>, tensor<2x32x8xf32>) -> tensor<2x8xf32>\n"), row_by_matrix},
    {"rows of a cache", TTIR("%a: tensor<4x2x8x32xf32>, %b: tensor<1x2x2x32xf32>, %c: tensor<2xi32>", "4x2x8x32xf32",
     "  %y = \"ttir.update_cache\"(%a, %b, %c) <{batch_offset = 1 : i32}> : (tensor<4x2x8x32xf32>, tensor<1x2x2x32xf32>, tensor<2xi32>) -> tensor<4x2x8x32xf32>\n"),
     cache_rows},
    {"rows of a cache that is made", TTIR("%a: tensor<4x2x8x32xf32>, %b: tensor<1x2x2x32xf32>, %c: tensor<2xi32>", "4x2x8x32xf32",
     "  %0 = \"ttir.neg\"(%a) : (tensor<4x2x8x32xf32>) -> tensor<4x2x8x32xf32>\n"
     "  %y = \"ttir.neg\"(%0) : (tensor<4x2x8x32xf32>) -> tensor<4x2x8x32xf32>\n"
     "  \"ttir.update_cache\"(%y, %b, %c) <{batch_offset = 1 : i32}> : (tensor<4x2x8x32xf32>, tensor<1x2x2x32xf32>, tensor<2xi32>) -> ()\n"),
     cache_rows},
    {"a call of another form", TTIR("%a: tensor<2x32xf32>", "2x32xf32",
     "  %y = \"func.call\"(%a) <{callee = @b}> : (tensor<2x32xf32>) -> tensor<2x32xf32>\n")
     "func.func @b(%x: tensor<2x32xf32>) -> tensor<2x32xf32> {\n  %0 = ttir.empty() : tensor<2x32xf32>\n"
     "  %1 = \"ttir.neg\"(%x, %0) : (tensor<2x32xf32>, tensor<2x32xf32>) -> tensor<2x32xf32>\n  return %1 : tensor<2x32xf32>\n}\n",
     negated},
    {"every other row", TTIR("%a: tensor<4x32xf32>", "2x32xf32",
     "  %y = \"ttir.index_select\"(%a) <{dim = 0 : si32, begin = 1 : si32, length = 1 : si32, stride = 2 : si32}> : (tensor<4x32xf32>) -> tensor<2x32xf32>\n"),
     every_other_row},
    {"two of each three rows", TTIR("%a: tensor<6x32xf32>", "4x32xf32",
     "  %y = \"ttir.index_select\"(%a) <{dim = 0 : si32, begin = 0 : si32, length = 2 : si32, stride = 3 : si32}> : (tensor<6x32xf32>) -> tensor<4x32xf32>\n"),
     pairs_of_rows},
    {"elements that an index names", TTIR("%a: tensor<5x32xf32>, %b: tensor<4x3xi32>", "4x3xf32",
     "  %y = \"ttir.gather_dim\"(%a, %b) <{dim = 1 : i32}> : (tensor<5x32xf32>, tensor<4x3xi32>) -> tensor<4x3xf32>\n"), picked},
    {"the three least", "func.func @main(%a: tensor<4x32xf32>) -> tensor<4x3xf32> {\n"
     "  %y:2 = \"ttir.topk\"(%a) <{k = 3 : i32, dim = -1 : i32, largest = false, sorted = true}> : (tensor<4x32xf32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)\n"
     "  return %y#0 : tensor<4x3xf32>\n}\n", three_least},
    {"a window that begins with a number", HLO("  a = f32[8,32] parameter(0)\n  q = f32[] constant(0.25)\n"
     "  ROOT w = f32[4,32] reduce-window(a, q), window={size=2x1 stride=2x1}, to_apply=most\n"), at_least_a_quarter},
    {"running sums", HLO("  a = f32[2,5,32] parameter(0)\n  z = f32[] constant(0)\n"
     "  ROOT w = f32[2,5,32] reduce-window(a, z), window={size=1x5x1 pad=0_0x0_4x0_0}, to_apply=add\n"), running_from_the_end},
    {"fewer bits", HLO("  a = f32[4,16] parameter(0)\n"
     "  k = f32[16] constant({5.9604644775390625e-08, 4.76837158203125e-07, 3.814697265625e-06, 3.0517578125e-05, 0.000244140625, "
     "0.001953125, 0.015625, 0.125, 1, 8, 64, 512, 4096, 32768, 262144, 2097152})\n  b = f32[4,16] broadcast(k), dimensions={1}\n"
     "  m = f32[4,16] multiply(a, b)\n  ROOT r = f32[4,16] reduce-precision(m), exponent_bits=5, mantissa_bits=3\n"), narrowed},
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
