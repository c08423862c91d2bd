/* Ops of TTIR and HLO that become several of ours: functions, pages of caches, gradients, calls. */
#include "support/op_meanings.h"

static double at(const struct tried *n, int which, int64_t i)
{
    return n->in[which][i];
}

#define FUNCTION(name, expression)                                                                           \
    static void name##_of(struct tried *n)                                                                   \
    {                                                                                                        \
        for (int i = 0; i < 64; i++) {                                                                       \
            double x = at(n, 0, i);                                                                          \
            n->want[i] = (expression);                                                                       \
        }                                                                                                    \
    }
FUNCTION(asin, asin(x))
FUNCTION(acos, acos(x))
FUNCTION(atan, atan(x))
FUNCTION(asinh, asinh(x))
FUNCTION(atanh, fabs(x) == 1 ? x / 0.0 : atanh(x))
FUNCTION(sinh, sinh(x))
FUNCTION(cosh, cosh(x))
FUNCTION(cbrt, cbrt(x))
FUNCTION(expm1, expm1(x))
FUNCTION(away, round(4 * x))
FUNCTION(twice_and_one, x *x + 0.5)
FUNCTION(negated, -x)

/* b times the slope of gelu at a */
static void gelu_slope(struct tried *n)
{
    for (int i = 0; i < 64; i++) {
        double x = at(n, 1, i), p = exp(-x * x / 2) / sqrt(2 * M_PI);
        n->want[i] = at(n, 0, i) * (0.5 * (1 + erf(x / sqrt(2))) + x * p);
    }
}

static void angle(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = atan2(at(n, 0, i), at(n, 1, i));
}

/* [2,4,32] along the second */
static void running_product(struct tried *n)
{
    for (int i = 0; i < 256; i++) n->want[i] = at(n, 0, i) * (i / 32 % 4 ? n->want[i - 32] : 1);
}

/* [2,3,32] as [3,64] */
static void rearranged(struct tried *n)
{
    for (int b = 0; b < 2; b++)
        for (int r = 0; r < 3; r++)
            for (int d = 0; d < 32; d++) n->want[r * 64 + b * 32 + d] = at(n, 0, (b * 3 + r) * 32 + d);
}

/* [8,32] from where b says, [2,32]; 0 to 3 */
static void slice_at(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = at(n, 0, (int64_t)at(n, 1, 0) * 32 + i);
}

/* Rows of c [6,32] to the rows of [8,32] that a [6] names. */
static void back_to_rows(struct tried *n)
{
    for (int i = 0; i < 6; i++)
        for (int d = 0; d < 32; d++) n->want[(int)at(n, 0, i) * 32 + d] += at(n, 2, i * 32 + d);
}

/* Pages of 4: a [5,2,4,32], b [1,2,2,32] at 5 + c of each user, whose pages are 1 and 3, 2 and 4. */
static void into_pages(struct tried *n)
{
    static const int table[2][2] = {{1, 3}, {2, 4}};
    memcpy(n->want, n->in[0], sizeof n->want);
    for (int u = 0; u < 2; u++) {
        int place = 3 + (int)at(n, 2, u);
        for (int h = 0; h < 2; h++)
            for (int d = 0; d < 32; d++)
                n->want[((table[u][place / 4] * 2 + h) * 4 + place % 4) * 32 + d] =
                    at(n, 1, (u * 2 + h) * 32 + d);
    }
}

/* a [5,2,4,32], b [1,2,8,32] to pages 4 and 2 */
static void whole_pages(struct tried *n)
{
    static const int table[] = {4, 2};
    memcpy(n->want, n->in[0], sizeof n->want);
    for (int h = 0; h < 2; h++)
        for (int s = 0; s < 8; s++)
            for (int d = 0; d < 32; d++)
                n->want[((table[s / 4] * 2 + h) * 4 + s % 4) * 32 + d] = at(n, 1, (h * 8 + s) * 32 + d);
}

/* Only shifted: (x - mean) / deviation + b */
static void norm_without_scale(struct tried *n)
{
    for (int r = 0; r < 2; r++) {
        double sum = 0, squares = 0;
        for (int i = 0; i < 32; i++) sum += at(n, 0, r * 32 + i);
        for (int i = 0; i < 32; i++) squares += pow(at(n, 0, r * 32 + i) - sum / 32, 2);
        for (int i = 0; i < 32; i++)
            n->want[r * 32 + i] = (at(n, 0, r * 32 + i) - sum / 32) / sqrt(squares / 32 + 1e-5) + at(n, 1, i);
    }
}

/* Windows of 3 each 2 of [7,8], one row before and one behind: the first largest gets the row of b, [4,8]. */
static void back_to_largest(struct tried *n)
{
    for (int o = 0; o < 4; o++)
        for (int d = 0; d < 8; d++) {
            int best = -1;
            for (int r = 2 * o - 1; r <= 2 * o + 1; r++)
                if (r >= 0 && r < 7 && (best < 0 || at(n, 0, r * 8 + d) > at(n, 0, best * 8 + d))) best = r;
            n->want[best * 8 + d] += at(n, 1, o * 8 + d);
        }
}

/* Three rows from each place of b [4] on, 5 rows there are. */
static void rows_from(struct tried *n)
{
    for (int i = 0; i < 4; i++) {
        int first = (int)fmin(at(n, 1, i), 2);
        for (int k = 0; k < 96; k++) n->want[i * 96 + k] = at(n, 0, first * 32 + k);
    }
}

/* c [4,3,32] added to a [5,32] from rows b on; what is not all inside is left out. */
static void rows_added(struct tried *n)
{
    memcpy(n->want, n->in[0], sizeof n->want);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 96 && at(n, 1, i) <= 2; k++)
            n->want[(int)at(n, 1, i) * 32 + k] += at(n, 2, i * 96 + k);
}

/* c [3,32] in a [4,32] from row b (1: inside) on */
static void rows_put(struct tried *n)
{
    memcpy(n->want, n->in[0], sizeof n->want);
    for (int k = 0; k < 96; k++) n->want[(int)at(n, 1, 0) * 32 + k] = at(n, 2, k);
}

/* a [4,32] times b [32,8], plus c [8], not below 0 */
static void library_product(struct tried *n)
{
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 8; k++) {
            double sum = at(n, 2, k);
            for (int i = 0; i < 32; i++) sum += at(n, 0, r * 32 + i) * at(n, 1, i * 8 + k);
            n->want[r * 8 + k] = fmax(sum, 0);
        }
}

/* NCHW: [1,2,4,4] and [3,2,3,3], one around it */
static void convolved(struct tried *n)
{
    for (int o = 0; o < 3; o++)
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 4; x++)
                for (int k = 0; k < 18; k++) {
                    int c = k / 9, r = y + k / 3 % 3 - 1, q = x + k % 3 - 1;
                    if (r < 0 || r > 3 || q < 0 || q > 3) continue;
                    n->want[(o * 4 + y) * 4 + x] += at(n, 0, (c * 4 + r) * 4 + q) * at(n, 1, o * 18 + k);
                }
}

static uint32_t bits_at(const struct tried *n, int i)
{
    return ((uint32_t)at(n, 0, i) * UINT32_C(0x9e3779b9)) >> (i % 32);
}

static void ones_counted(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = __builtin_popcount(bits_at(n, i));
}

static void zeros_counted(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = bits_at(n, i) ? __builtin_clz(bits_at(n, i)) : 32;
}

/* The largest of rows of a, less the sum of rows of b and 0.5 */
static void two_at_once(struct tried *n)
{
    for (int r = 0; r < 2; r++) {
        double sum = 0.5, most = -1e9;
        for (int i = 0; i < 32; i++) {
            most = fmax(most, at(n, 0, r * 32 + i));
            sum += at(n, 1, r * 32 + i);
        }
        n->want[r] = most - sum;
    }
}

#define BITS(kind)                                                                                           \
    HLO("  a = u32[2,32] parameter(0)\n  f = u32[] constant(2654435769)\n  g = u32[2,32] broadcast(f), "     \
        "dimensions={}\n  m = u32[2,32] multiply(a, g)\n  i = u32[2,32] iota(), iota_dimension=1\n"          \
        "  s = u32[2,32] shift-right-logical(m, i)\n  ROOT y = u32[2,32] " kind "(s)\n")
#define V         "f32[2,32]"
#define T         "tensor<2x32xf32>"
#define ONE(kind) TTIR("%a: " T, "2x32xf32", "  %y = \"ttir." kind "\"(%a) : (" T ") -> " T "\n")
#define CALLS                                                                                                \
    "HloModule m\ninner {\n  x = f32[2,32] parameter(0)\n  ROOT n = f32[2,32] negate(x)\n}\n"                \
    "each {\n  x = f32[] parameter(0)\n  m = f32[] multiply(x, x)\n  h = f32[] constant(0.5)\n"              \
    "  ROOT s = f32[] add(m, h)\n}\n"                                                                        \
    "put {\n  x = f32[] parameter(0)\n  ROOT y = f32[] parameter(1)\n}\n"                                    \
    "ge {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = pred[] compare(x, y), "            \
    "direction=GE\n}\n"                                                                                      \
    "pair {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  r = f32[] parameter(2)\n  s = f32[] "     \
    "parameter(3)\n  m = f32[] maximum(p, r)\n  t = f32[] add(s, q)\n  ROOT z = (f32[], f32[]) tuple(m, "    \
    "t)\n}\n" REDUCERS

/* clang-format off */
static const struct meaning meanings[] = {
    {"asin", ONE("asin"), asin_of}, {"acos", ONE("acos"), acos_of}, {"atan", ONE("atan"), atan_of},
    {"asinh", ONE("asinh"), asinh_of}, {"atanh", ONE("atanh"), atanh_of}, {"sinh", ONE("sinh"), sinh_of},
    {"cosh", ONE("cosh"), cosh_of}, {"cbrt", ONE("cbrt"), cbrt_of}, {"expm1", ONE("expm1"), expm1_of},
    {"halves away from zero", HLO("  a = " V " parameter(0)\n  f = f32[] constant(4)\n  b = " V " broadcast(f), dimensions={}\n"
     "  m = " V " multiply(a, b)\n  ROOT r = " V " round-nearest-afz(m)\n"), away_of},
    {"the slope of gelu", TTIR("%a: " T ", %b: " T, "2x32xf32", "  %y = \"ttir.gelu_bw\"(%a, %b) <{approximate = \"none\"}> : (" T ", " T ") -> " T "\n"), gelu_slope},
    {"an angle", HLO("  a = " V " parameter(0)\n  b = " V " parameter(1)\n  ROOT r = " V " atan2(a, b)\n"), angle},
    {"running products", TTIR("%a: tensor<2x4x32xf32>", "2x4x32xf32",
     "  %y = \"ttir.cumprod\"(%a) <{dim = 1 : i64}> : (tensor<2x4x32xf32>) -> tensor<2x4x32xf32>\n"), running_product},
    {"dimensions by their names", TTIR("%a: tensor<2x3x32xf32>", "3x64xf32",
     "  %y = \"ttir.rearrange\"(%a) <{pattern = \"b n d -> n (b d)\"}> : (tensor<2x3x32xf32>) -> tensor<3x64xf32>\n"), rearranged},
    {"a slice that begins somewhere", TTIR("%a: tensor<8x32xf32>, %b: tensor<2xi32>, %c: tensor<2xi32>", "2x32xf32",
     "  %y = \"ttir.slice_dynamic\"(%a, %b, %c) <{step = [1 : i32, 1 : i32]}> : (tensor<8x32xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x32xf32>\n"), slice_at},
    {"an embedding, backwards", TTIR("%a: tensor<6xi32>, %b: tensor<8x32xf32>, %c: tensor<6x32xf32>", "8x32xf32",
     "  %y = \"ttir.embedding_backward\"(%a, %b, %c) : (tensor<6xi32>, tensor<8x32xf32>, tensor<6x32xf32>) -> tensor<8x32xf32>\n"), back_to_rows},
    {"rows into pages", TTIR("%a: tensor<5x2x4x32xf32>, %b: tensor<1x2x2x32xf32>, %c: tensor<2xi32>", "5x2x4x32xf32",
     "  %0 = \"ttir.constant\"() <{value = dense<[[1, 3], [2, 4]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>\n"
     "  %1 = \"ttir.constant\"() <{value = dense<3> : tensor<2xi32>}> : () -> tensor<2xi32>\n"
     "  %2 = \"ttir.add\"(%c, %1) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>\n"
     "  %y = \"ttir.paged_update_cache\"(%a, %b, %2, %0) <{share_cache = false}> : (tensor<5x2x4x32xf32>, tensor<1x2x2x32xf32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<5x2x4x32xf32>\n"), into_pages},
    {"whole pages", TTIR("%a: tensor<5x2x4x32xf32>, %b: tensor<1x2x8x32xf32>", "5x2x4x32xf32",
     "  %0 = \"ttir.constant\"() <{value = dense<[[1, 3, 0], [4, 2, 0]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>\n"
     "  %1 = \"ttir.constant\"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>\n"
     "  %y = \"ttir.paged_fill_cache\"(%a, %b, %0, %1) : (tensor<5x2x4x32xf32>, tensor<1x2x8x32xf32>, tensor<2x3xi32>, tensor<1xi32>) -> tensor<5x2x4x32xf32>\n"), whole_pages},
    {"a norm that is only shifted", TTIR("%a: " T ", %b: tensor<32xf32>", "2x32xf32",
     "  %y = \"ttir.layer_norm\"(%a, %b) <{epsilon = 1.0e-05 : f32, normalized_shape = array<i64: 32>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (" T ", tensor<32xf32>) -> " T "\n"), norm_without_scale},
    {"a convolution with a layout", TTIR("%a: tensor<1x2x4x4xf32>, %b: tensor<3x2x3x3xf32>", "1x3x4x4xf32",
     "  %y = \"ttir.convolution\"(%a, %b) <{batch_group_count = 1 : i64, convolution_layout = #ttir<convolution_layout input_batch = 0, input_feature = 1, "
     "input_spatial_dimensions = 2x3, kernel_output_feature = 0, kernel_input_feature = 1, kernel_spatial_dimensions = 2x3, output_batch = 0, output_feature = 1, "
     "output_spatial_dimensions = 2x3>, feature_group_count = 1 : i64, input_dilation = array<i64: 1, 1>, padding = array<i64: 1, 1, 1, 1>, weight_dilation = array<i64: 1, 1>, "
     "window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32>\n"), convolved},
    {"a pool, backwards", CALLS "ENTRY e {\n  a = f32[7,8] parameter(0)\n  b = f32[4,8] parameter(1)\n  z = f32[] constant(0)\n"
     "  ROOT s = f32[7,8] select-and-scatter(a, b, z), window={size=3x1 stride=2x1 pad=1_1x0_0}, select=ge, scatter=add\n}\n", back_to_largest},
    {"rows from places on", HLO("  a = f32[5,32] parameter(0)\n  b = s32[4,1] parameter(1)\n"
     "  ROOT g = f32[4,3,32] gather(a, b), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={3,32}\n"), rows_from},
    {"rows added from places on", CALLS "ENTRY e {\n  a = f32[5,32] parameter(0)\n  b = s32[4,1] parameter(1)\n  c = f32[4,3,32] parameter(2)\n"
     "  ROOT g = f32[5,32] scatter(a, b, c), update_window_dims={1,2}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n}\n", rows_added},
    {"rows put from a place on", CALLS "ENTRY e {\n  a = f32[4,32] parameter(0)\n  b = s32[1] parameter(1)\n  c = f32[3,32] parameter(2)\n"
     "  ROOT g = f32[4,32] scatter(a, b, c), update_window_dims={0,1}, inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=put\n}\n", rows_put},
    {"a computation for each", CALLS "ENTRY e {\n  a = " V " parameter(0)\n  ROOT y = " V " map(a), dimensions={0,1}, to_apply=each\n}\n", twice_and_one_of},
    {"beside other ops", CALLS "ENTRY e {\n  a = " V " parameter(0)\n  k = token[] after-all()\n  s = ((" V "), " V ", u32[]) async-start(a), calls=inner\n"
     "  u = ((" V "), " V ", u32[]) async-update(s)\n  d = " V " async-done(u)\n  c = (" V ", " V ", u32[]) copy-start(d)\n  ROOT y = " V " copy-done(c)\n}\n", negated_of},
    {"ones counted", BITS("popcnt"), ones_counted}, {"zeros counted", BITS("count-leading-zeros"), zeros_counted},
    {"two reductions at once", CALLS "ENTRY e {\n  a = " V " parameter(0)\n  b = " V " parameter(1)\n  n = f32[] constant(-inf)\n  h = f32[] constant(0.5)\n"
     "  t = (f32[2], f32[2]) reduce(a, b, n, h), dimensions={1}, to_apply=pair\n  m = f32[2] get-tuple-element(t), index=0\n"
     "  s = f32[2] get-tuple-element(t), index=1\n  ROOT y = f32[2] subtract(m, s)\n}\n", two_at_once},
    {"a product of a library", HLO("  a = f32[4,32] parameter(0)\n  b = f32[32,8] parameter(1)\n  c = f32[8] parameter(2)\n"
     "  t = (f32[4,8], s8[64]) custom-call(a, b, c), custom_call_target=\"__cublas$lt$matmul\", backend_config={\"gemm_backend_config\":{\"alpha_real\":1,\"beta\":0,"
     "\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[\"0\"],\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]},\"epilogue\":\"BIAS_RELU\"}}\n"
     "  ROOT y = f32[4,8] get-tuple-element(t), index=0\n"), library_product},
};
/* clang-format on */

static void layers_mean_what_they_say(void **state)
{
    (void)state;
    try_meanings(meanings, sizeof meanings / sizeof *meanings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_mean_what_they_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
