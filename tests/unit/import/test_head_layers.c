/* Attention, heads, rotations, norms and fills of TTIR and HLO that become several of ours: what they mean. */
#include "support/op_meanings.h"

static double at(const struct tried *n, int which, int64_t i)
{
    return n->in[which][i];
}

static void filled_and_clamped(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = fmin(fmax(at(n, 0, i) + 3.5, 2.75), 4);
}

static void between_two(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = fmin(fmax(at(n, 0, i), at(n, 1, i)), at(n, 2, i));
}

/* [2,3,8] along the second: scale and shift b, mean c, variance c * c. */
static void normed_channels(struct tried *n)
{
    for (int i = 0; i < 48; i++) {
        int f = i / 8 % 3;
        double u = at(n, 2, f);
        n->want[i] = (at(n, 0, i) - u) / sqrt(u * u + 0.5) * at(n, 1, f) + at(n, 1, f);
    }
}

/* Mean and variance of feature f of [4,3,8]. */
static void statistics(const struct tried *n, int f, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (int i = 0; i < 32; i++) *mean += at(n, 0, (i / 8 * 3 + f) * 8 + i % 8) / 32;
    for (int i = 0; i < 32; i++) *variance += pow(at(n, 0, (i / 8 * 3 + f) * 8 + i % 8) - *mean, 2) / 32;
}

static void batch_of_training(struct tried *n)
{
    for (int i = 0; i < 96; i++) {
        double u, v;
        statistics(n, i / 8 % 3, &u, &v);
        n->want[i] = (at(n, 0, i) - u) / sqrt(v + 0.5) * at(n, 1, i / 8 % 3) + at(n, 2, i / 8 % 3);
    }
}

static void variance_of_batch(struct tried *n)
{
    double u;
    for (int f = 0; f < 3; f++) statistics(n, f, &u, &n->want[f]);
}

/* a [4,3,8], scale and mean b, variance 2, what the result is worth c. */
static void back_through_batch(struct tried *n)
{
    for (int f = 0; f < 3; f++) {
        double u = at(n, 1, f), root = sqrt(2.5), bias = 0, slope = 0;
        for (int i = 0; i < 32; i++) {
            int k = (i / 8 * 3 + f) * 8 + i % 8;
            bias += at(n, 2, k) / 32, slope += at(n, 2, k) * (at(n, 0, k) - u) / 32;
        }
        for (int i = 0; i < 32; i++) {
            int k = (i / 8 * 3 + f) * 8 + i % 8;
            n->want[k] = u / root * (at(n, 2, k) - bias - (at(n, 0, k) - u) * slope / 2.5);
        }
    }
}

static void scale_of_batch(struct tried *n)
{
    for (int i = 0; i < 96; i++)
        n->want[i / 8 % 3] += at(n, 2, i) * (at(n, 0, i) - at(n, 1, i / 8 % 3)) / sqrt(2.5);
}

/* One query of 8 elements over `count` keys and values at `row`, those that `sees` says. */
static void attend(struct tried *n, int query, int to, int count, int (*row)(int to, int k),
                   bool (*sees)(int to, int k), double scale)
{
    double weight[8], sum = 0;
    for (int k = 0; k < count; k++) {
        double score = 0;
        for (int d = 0; d < 8; d++) score += at(n, 0, query * 8 + d) * at(n, 1, row(to, k) * 8 + d);
        sum += weight[k] = sees(to, k) ? exp(score * scale) : 0;
    }
    for (int k = 0; k < count; k++)
        for (int d = 0; d < 8; d++) n->want[to * 8 + d] += weight[k] / sum * at(n, 2, row(to, k) * 8 + d);
}

/* Results [1,2,4,8] of keys [1,2,4,8]. */
static int row_of_head(int to, int k)
{
    return to / 4 * 4 + k;
}

static bool up_to_itself(int to, int k)
{
    return k <= to % 4;
}

static bool itself_and_before(int to, int k)
{
    return k <= to % 4 && to % 4 - k < 2;
}

static void causal(struct tried *n)
{
    for (int to = 0; to < 8; to++) attend(n, to, to, 4, row_of_head, up_to_itself, 1 / sqrt(8));
}

static void causal_in_a_window(struct tried *n)
{
    for (int to = 0; to < 8; to++) attend(n, to, to, 4, row_of_head, itself_and_before, 0.5);
}

static void product_and_bias(struct tried *n)
{
    for (int i = 0; i < 12; i++) {
        n->want[i] = at(n, 2, i % 3);
        for (int k = 0; k < 8; k++) n->want[i] += at(n, 0, i / 3 * 8 + k) * at(n, 1, i % 3 * 8 + k);
    }
}

#define FUNCTION(name, expression)                                                                           \
    static void name(struct tried *n)                                                                        \
    {                                                                                                        \
        for (int i = 0; i < 64; i++) {                                                                       \
            double x = 8 * at(n, 0, i);                                                                      \
            n->want[i] = (expression);                                                                       \
        }                                                                                                    \
    }
FUNCTION(up_to_six, fmin(fmax(x, 0), 6))
FUNCTION(a_sixth_of_it, fmin(fmax(x / 6 + 0.5, 0), 1))
FUNCTION(leaks, x < 0 ? x / 4 : x)

/* clang-format off */
#define T264 "tensor<2x32xf32>"
#define EIGHTFOLD(body) TTIR("%a: " T264, "2x32xf32", "  %e = \"ttir.full\"() <{shape = array<i32: 2, 32>, fill_value = 8.0 : f32}> : () -> " T264 "\n" \
    "  %x = \"ttir.multiply\"(%a, %e) : (" T264 ", " T264 ") -> " T264 "\n" body)
#define CHANNELS "tensor<2x3x8xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>"
#define HEADS "tensor<1x2x4x8xf32>"
#define USERS "tensor<1x2x2x8xf32>"
#define CACHE "tensor<2x2x4x8xf32>"
#define PAGES "tensor<4x2x2x8xf32>"
#define TRAINED "  a = f32[4,3,8] parameter(0)\n  b = f32[3] parameter(1)\n  c = f32[3] parameter(2)\n" \
    "  t = (f32[4,3,8], f32[3], f32[3]) batch-norm-training(a, b, c), epsilon=0.5, feature_index=1\n"
#define BACK "  a = f32[4,3,8] parameter(0)\n  b = f32[3] parameter(1)\n  c = f32[4,3,8] parameter(2)\n  two = f32[] constant(2)\n" \
    "  v = f32[3] broadcast(two), dimensions={}\n  t = (f32[4,3,8], f32[3], f32[3]) batch-norm-grad(a, b, b, v, c), epsilon=0.5, feature_index=1\n"
static const struct meaning meanings[] = {
    {"numbers everywhere", TTIR("%a: " T264, "2x32xf32", "  %0 = \"ttir.ones\"() <{shape = array<i32: 2, 32>}> : () -> " T264 "\n"
     "  %1 = \"ttir.full\"() <{shape = array<i32: 2, 32>, fill_value = 2.5 : f32}> : () -> " T264 "\n"
     "  %2 = \"ttir.add\"(%a, %0) : (" T264 ", " T264 ") -> " T264 "\n  %3 = \"ttir.add\"(%2, %1) : (" T264 ", " T264 ") -> " T264 "\n"
     "  %4 = \"ttir.to_layout\"(%3) : (" T264 ") -> " T264 "\n"
     "  %y = \"ttir.clamp_scalar\"(%4) <{min = 2.75 : f32, max = 4.0 : f32}> : (" T264 ") -> " T264 "\n"), filled_and_clamped},
    {"between two", TTIR("%a: " T264 ", %b: " T264 ", %c: " T264, "2x32xf32",
     "  %y = \"ttir.clamp_tensor\"(%a, %b, %c) : (" T264 ", " T264 ", " T264 ") -> " T264 "\n"), between_two},
    {"a norm of channels", TTIR("%a: tensor<2x3x8xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>", "2x3x8xf32",
     "  %v = \"ttir.multiply\"(%c, %c) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n"
     "  %y = \"ttir.batch_norm\"(%a, %b, %b, %c, %v) <{dimension = 1 : i32, epsilon = 0.5 : f32, training = false}> : (" CHANNELS ") -> tensor<2x3x8xf32>\n"),
     normed_channels},
    {"a norm of channels in HLO", HLO("  a = f32[2,3,8] parameter(0)\n  b = f32[3] parameter(1)\n  c = f32[3] parameter(2)\n  v = f32[3] multiply(c, c)\n"
     "  ROOT y = f32[2,3,8] batch-norm-inference(a, b, b, c, v), epsilon=0.5, feature_index=1\n"), normed_channels},
    {"a batch", HLO(TRAINED "  ROOT y = f32[4,3,8] get-tuple-element(t), index=0\n"), batch_of_training},
    {"its variance", HLO(TRAINED "  ROOT y = f32[3] get-tuple-element(t), index=2\n"), variance_of_batch},
    {"a batch, back", HLO(BACK "  ROOT y = f32[4,3,8] get-tuple-element(t), index=0\n"), back_through_batch},
    {"its scale, back", HLO(BACK "  ROOT y = f32[3] get-tuple-element(t), index=1\n"), scale_of_batch},
    {"attention", TTIR("%a: " HEADS ", %b: " HEADS ", %c: " HEADS, "1x2x4x8xf32",
     "  %y = \"ttir.scaled_dot_product_attention\"(%a, %b, %c) <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (" HEADS ", " HEADS ", " HEADS ") -> " HEADS "\n"),
     causal},
    {"attention in a window", TTIR("%a: " HEADS ", %b: " HEADS ", %c: " HEADS, "1x2x4x8xf32",
     "  %y = \"ttir.scaled_dot_product_attention\"(%a, %b, %c) <{is_causal = true, scale = 0.5 : f32, sliding_window_size = 2 : ui32, "
     "operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (" HEADS ", " HEADS ", " HEADS ") -> " HEADS "\n"), causal_in_a_window},
    {"a product with a bias", TTIR("%a: tensor<4x8xf32>, %b: tensor<3x8xf32>, %c: tensor<3xf32>", "4x3xf32",
     "  %y = \"ttir.linear\"(%a, %b, %c) <{transpose_a = false, transpose_b = true}> : (tensor<4x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<4x3xf32>\n"),
     product_and_bias},
    {"relu6", EIGHTFOLD("  %y = \"ttir.relu6\"(%x) : (" T264 ") -> " T264 "\n"), up_to_six},
    {"a hard sigmoid", EIGHTFOLD("  %y = \"ttir.hardsigmoid\"(%x) : (" T264 ") -> " T264 "\n"), a_sixth_of_it},
    {"a leaking relu", EIGHTFOLD("  %y = \"ttir.leaky_relu\"(%x) <{parameter = 0.25 : f32}> : (" T264 ") -> " T264 "\n"), leaks},
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
