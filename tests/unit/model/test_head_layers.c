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

static void with_an_extent(struct tried *n)
{
    for (int i = 0; i < 4; i++) n->want[i] = at(n, 1, i) + 32;
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

/* [1,2,3,8] as [1,3,16] */
static void heads_joined(struct tried *n)
{
    for (int i = 0; i < 48; i++) n->want[i] = at(n, 0, (i / 8 % 2 * 3 + i / 16) * 8 + i % 8);
}

/* [1,3,48]: two heads of 8 each; the keys as [1,2,8,3], the values as [1,2,3,8] */
static void keys_turned(struct tried *n)
{
    for (int i = 0; i < 48; i++) n->want[i] = at(n, 0, i % 3 * 48 + 16 + i / 24 * 8 + i / 3 % 8);
}

static void values_apart(struct tried *n)
{
    for (int i = 0; i < 48; i++) n->want[i] = at(n, 0, i / 8 % 3 * 48 + 32 + i / 24 * 8 + i % 8);
}

static void keys_beside(struct tried *n)
{
    for (int i = 0; i < 48; i++) n->want[i] = at(n, 1, i / 8 % 3 * 32 + i / 24 * 8 + i % 8);
}

/* [1,2,3,8] by cosines and sines of [1,1,3,8] */
static void turned_halves(struct tried *n)
{
    for (int i = 0; i < 48; i++) {
        double other = i % 8 < 4 ? -at(n, 0, i + 4) : at(n, 0, i - 4);
        n->want[i] = at(n, 0, i) * at(n, 1, i % 24) + other * at(n, 2, i % 24);
    }
}

/* The matrix is an eighth everywhere. */
static void turned_by_means(struct tried *n)
{
    for (int i = 0; i < 16; i++) {
        double mean = 0;
        for (int k = 0; k < 8; k++) mean += at(n, 0, i / 8 * 8 + k) / 8;
        n->want[i] = at(n, 0, i) * at(n, 1, i) + mean * at(n, 2, i);
    }
}

static void mean_of_pixels(struct tried *n)
{
    for (int i = 0; i < 48; i++) n->want[i % 8] += at(n, 0, i) / 6;
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

/* Users 2, heads 2: results [1,2,2,8], which are at 1 and at 3. */
static int row_of_user(int to, int k)
{
    return to * 4 + k;
}

static bool up_to_its_place(int to, int k)
{
    return k <= (to / 2 ? 3 : 1);
}

static void decoded(struct tried *n)
{
    for (int to = 0; to < 4; to++) attend(n, to, to, 4, row_of_user, up_to_its_place, 1 / sqrt(8));
}

/* Pages [4,2,2,8]: 1 and 3 of one user, 0 and 2 of the other. */
static int row_of_page(int to, int k)
{
    static const int table[2][2] = {{1, 3}, {0, 2}};
    return (table[to / 2][k / 2] * 2 + to % 2) * 2 + k % 2;
}

static void decoded_from_pages(struct tried *n)
{
    for (int to = 0; to < 4; to++) attend(n, to, to, 4, row_of_page, up_to_its_place, 1 / sqrt(8));
}

/* [1,1,2,32]: of two heads and a pair of one for keys and values, the keys */
static void keys_of_users(struct tried *n)
{
    for (int i = 0; i < 16; i++) n->want[i] = at(n, 0, i / 8 * 32 + 16 + i % 8);
}

/* [1,2,3,8] to [1,1,2,16]: two heads of three */
static void two_of_three_heads(struct tried *n)
{
    for (int i = 0; i < 32; i++) n->want[i] = at(n, 0, i / 16 * 24 + i % 16);
}

static void product_and_bias(struct tried *n)
{
    for (int i = 0; i < 12; i++) {
        n->want[i] = at(n, 2, i % 3);
        for (int k = 0; k < 8; k++) n->want[i] += at(n, 0, i / 3 * 8 + k) * at(n, 1, i % 3 * 8 + k);
    }
}

/* [2,8] twice and three times */
static void repeated(struct tried *n)
{
    for (int i = 0; i < 96; i++) n->want[i] = at(n, 0, i / 24 % 2 * 8 + i % 24 % 8);
}

static void each_three_times(struct tried *n)
{
    for (int i = 0; i < 48; i++) n->want[i] = at(n, 0, i / 24 * 8 + i % 8);
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
    {"an extent", TTIR("%a: " T264 ", %b: tensor<4xi32>", "4xi32",
     "  %0 = \"ttir.get_dimension_size\"(%a) <{dimension = 1 : i32}> : (" T264 ") -> tensor<1xi32>\n"
     "  %y = \"ttir.add\"(%b, %0) : (tensor<4xi32>, tensor<1xi32>) -> tensor<4xi32>\n"), with_an_extent},
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
    {"heads together", TTIR("%a: tensor<1x2x3x8xf32>", "1x3x16xf32",
     "  %y = \"ttir.concatenate_heads\"(%a) : (tensor<1x2x3x8xf32>) -> tensor<1x3x16xf32>\n"), heads_joined},
    {"keys of three, turned", "func.func @main(%a: tensor<1x3x48xf32>) -> tensor<1x2x8x3xf32> {\n"
     "  %y:3 = \"ttir.split_query_key_value_and_split_heads\"(%a) <{num_heads = 2 : ui32, transpose_key = true}> : (tensor<1x3x48xf32>) -> "
     "(tensor<1x2x3x8xf32>, tensor<1x2x8x3xf32>, tensor<1x2x3x8xf32>)\n  return %y#1 : tensor<1x2x8x3xf32>\n}\n", keys_turned},
    {"values of three", "func.func @main(%a: tensor<1x3x48xf32>) -> tensor<1x2x3x8xf32> {\n"
     "  %y:3 = \"ttir.split_query_key_value_and_split_heads\"(%a) <{num_heads = 2 : ui32, transpose_key = true}> : (tensor<1x3x48xf32>) -> "
     "(tensor<1x2x3x8xf32>, tensor<1x2x8x3xf32>, tensor<1x2x3x8xf32>)\n  return %y#2 : tensor<1x2x3x8xf32>\n}\n", values_apart},
    {"keys of another tensor", "func.func @main(%a: tensor<1x3x16xf32>, %b: tensor<1x3x32xf32>) -> tensor<1x2x3x8xf32> {\n"
     "  %y:3 = \"ttir.split_query_key_value_and_split_heads\"(%a, %b) <{num_heads = 2 : ui32, num_kv_heads = 2 : ui32, transpose_key = false}> : "
     "(tensor<1x3x16xf32>, tensor<1x3x32xf32>) -> (tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x8xf32>)\n"
     "  return %y#1 : tensor<1x2x3x8xf32>\n}\n", keys_beside},
    {"halves that turn", TTIR("%a: tensor<1x2x3x8xf32>, %b: tensor<1x1x3x8xf32>, %c: tensor<1x1x3x8xf32>", "1x2x3x8xf32",
     "  %y = \"ttir.rotary_embedding\"(%a, %b, %c) : (tensor<1x2x3x8xf32>, tensor<1x1x3x8xf32>, tensor<1x1x3x8xf32>) -> tensor<1x2x3x8xf32>\n"),
     turned_halves},
    {"turned by a matrix", TTIR("%a: tensor<1x1x2x8xf32>, %b: tensor<1x1x2x8xf32>, %c: tensor<1x1x2x8xf32>", "1x1x2x8xf32",
     "  %0 = \"ttir.full\"() <{shape = array<i32: 8, 8>, fill_value = 0.125 : f32}> : () -> tensor<8x8xf32>\n"
     "  %y = \"ttir.rotary_embedding_llama\"(%a, %b, %c, %0) : (tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<1x1x2x8xf32>, tensor<8x8xf32>) -> tensor<1x1x2x8xf32>\n"),
     turned_by_means},
    {"the mean of all pixels", TTIR("%a: tensor<1x2x3x8xf32>", "1x1x1x8xf32",
     "  %y = \"ttir.global_avg_pool2d\"(%a) : (tensor<1x2x3x8xf32>) -> tensor<1x1x1x8xf32>\n"), mean_of_pixels},
    {"attention", TTIR("%a: " HEADS ", %b: " HEADS ", %c: " HEADS, "1x2x4x8xf32",
     "  %y = \"ttir.scaled_dot_product_attention\"(%a, %b, %c) <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (" HEADS ", " HEADS ", " HEADS ") -> " HEADS "\n"),
     causal},
    {"attention in a window", TTIR("%a: " HEADS ", %b: " HEADS ", %c: " HEADS, "1x2x4x8xf32",
     "  %y = \"ttir.scaled_dot_product_attention\"(%a, %b, %c) <{is_causal = true, scale = 0.5 : f32, sliding_window_size = 2 : ui32, "
     "operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (" HEADS ", " HEADS ", " HEADS ") -> " HEADS "\n"), causal_in_a_window},
    {"a step of users", TTIR("%a: " USERS ", %b: " CACHE ", %c: " CACHE, "1x2x2x8xf32",
     "  %0 = \"ttir.constant\"() <{value = dense<[1, 3]> : tensor<2xi32>}> : () -> tensor<2xi32>\n"
     "  %y = \"ttir.scaled_dot_product_attention_decode\"(%a, %b, %c, %0) <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : "
     "(" USERS ", " CACHE ", " CACHE ", tensor<2xi32>) -> " USERS "\n"), decoded},
    {"a step from pages", TTIR("%a: " USERS ", %b: " PAGES ", %c: " PAGES, "1x2x2x8xf32",
     "  %0 = \"ttir.constant\"() <{value = dense<[1, 3]> : tensor<2xi32>}> : () -> tensor<2xi32>\n"
     "  %1 = \"ttir.constant\"() <{value = dense<[[1, 3], [0, 2]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>\n"
     "  %y = \"ttir.paged_scaled_dot_product_attention_decode\"(%a, %b, %c, %1, %0) <{is_causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0>}> : "
     "(" USERS ", " PAGES ", " PAGES ", tensor<2x2xi32>, tensor<2xi32>) -> " USERS "\n"), decoded_from_pages},
    {"heads of a step", "func.func @main(%a: tensor<1x1x2x32xf32>) -> tensor<1x2x1x8xf32> {\n"
     "  %y:3 = \"ttir.nlp_create_qkv_heads_decode\"(%a) <{num_heads = 2 : ui32, num_kv_heads = 1 : ui32}> : (tensor<1x1x2x32xf32>) -> "
     "(tensor<1x2x2x8xf32>, tensor<1x2x1x8xf32>, tensor<1x2x1x8xf32>)\n  return %y#1 : tensor<1x2x1x8xf32>\n}\n", keys_of_users},
    {"heads of a step together", TTIR("%a: tensor<1x2x3x8xf32>", "1x1x2x16xf32",
     "  %y = \"ttir.nlp_concat_heads_decode\"(%a) <{num_heads = 2 : ui32}> : (tensor<1x2x3x8xf32>) -> tensor<1x1x2x16xf32>\n"), two_of_three_heads},
    {"a product with a bias", TTIR("%a: tensor<4x8xf32>, %b: tensor<3x8xf32>, %c: tensor<3xf32>", "4x3xf32",
     "  %y = \"ttir.linear\"(%a, %b, %c) <{transpose_a = false, transpose_b = true}> : (tensor<4x8xf32>, tensor<3x8xf32>, tensor<3xf32>) -> tensor<4x3xf32>\n"),
     product_and_bias},
    {"repeated", TTIR("%a: tensor<2x8xf32>", "4x24xf32",
     "  %y = \"ttir.repeat\"(%a) <{repeat_dimensions = array<i64: 2, 3>}> : (tensor<2x8xf32>) -> tensor<4x24xf32>\n"), repeated},
    {"each repeated", TTIR("%a: tensor<2x8xf32>", "6x8xf32",
     "  %y = \"ttir.repeat_interleave\"(%a) <{repeats = 3 : ui32, dim = 0 : si32}> : (tensor<2x8xf32>) -> tensor<6x8xf32>\n"), each_three_times},
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
