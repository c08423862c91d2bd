/* Ops of TTIR on types that say what numbers stand for (!quant.uniform), and how such types are read. */
#include "support/op_meanings.h"

#include "model/model_parts.h"

static double held(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static void halves_from_minus_one(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = (n->in[0][i] + 1) * 0.5;
}

static void each_row_its_own(struct tried *n)
{
    static const double scale[] = {0.5, 0.25, 2, 1}, zero[] = {0, 1, 0, -2};
    for (int i = 0; i < 64; i++) n->want[i] = (n->in[0][i] - zero[i / 16]) * scale[i / 16];
}

static void each_half_row_its_own(struct tried *n)
{
    static const double scale[] = {0.5, 1, 0.25, 2, 4, 8, 16, 0.125}, zero[] = {0, 0, 0, 3, 0, 0, 0, 0};
    for (int i = 0; i < 64; i++) n->want[i] = (n->in[0][i] - zero[i / 8]) * scale[i / 8];
}

static void quarters_up_to_three(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = held(rint(n->in[0][i] / 0.25) + 1, -3, 3);
}

static void from_halves_to_quarters(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = held((n->in[0][i] - 2) * 2 + 5, 0, 255);
}

static void sum_of_what_they_mean(struct tried *n)
{
    for (int i = 0; i < 64; i++)
        n->want[i] = rint(((n->in[0][i] - 1) * 0.5 + n->in[1][i] * 0.25) / 0.125) - 4;
}

static void product_of_what_they_mean(struct tried *n)
{
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 8; c++)
            for (int k = 0; k < 16; k++)
                n->want[r * 8 + c] += (n->in[0][r * 16 + k] - 1) * (n->in[1][k * 8 + c] - 2);
}

static void turned(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = n->in[0][i % 4 * 16 + i / 4];
}

static void one_then_the_other(struct tried *n)
{
    for (int i = 0; i < 64; i++) {
        n->want[i] = n->in[0][i];
        n->want[64 + i] = n->in[1][i] * 2;
    }
}

#define Q(shape, quant) shape "x!quant." quant
#define ONE(op, from, to)                                                                                    \
    TTIR("%a: tensor<" from ">", to, "  %y = \"ttir." op "\"(%a) : (tensor<" from ">) -> tensor<" to ">\n")
#define TWO(op, a, b, to)                                                                                    \
    TTIR("%a: tensor<" a ">, %b: tensor<" b ">", to,                                                         \
         "  %y = \"ttir." op "\"(%a, %b)" EXTRA " : (tensor<" a ">, tensor<" b ">) -> tensor<" to ">\n")
#define EXTRA

/* clang-format off */
static const struct meaning meanings[] = {
    {"one for all", ONE("dequantize", Q("4x16", "uniform<i8:f32, 0.5:-1>"), "4x16xf32"), halves_from_minus_one},
    {"unsigned, a range", ONE("dequantize", Q("4x16", "uniform<u8<1:255>:f32, 5.0e-01:-1>"), "4x16xf32"), halves_from_minus_one},
    {"each row", ONE("dequantize", Q("4x16", "uniform<i8<-127:127>:f32:0, {0.5, 0.25:1, 2.0, 1.0:-2}>"), "4x16xf32"), each_row_its_own},
    {"each block", ONE("dequantize", Q("4x16", "uniform<i8:f32:{0:1, 1:8}, {{0.5, 1.0}, {0.25, 2.0:3}, {4.0, 8.0}, {16.0, 0.125}}>"),
     "4x16xf32"), each_half_row_its_own},
    {"held in a range", ONE("quantize", "4x16xf32", Q("4x16", "uniform<i8<-3:3>:f32, 0.25:1>")), quarters_up_to_three},
    {"once more", ONE("requantize", Q("4x16", "uniform<i8:f32, 0.5:2>"), Q("4x16", "uniform<u8:f32, 0.25:5>")), from_halves_to_quarters},
    {"a sum", TWO("add", Q("4x16", "uniform<i8:f32, 0.5:1>"), Q("4x16", "uniform<i8:f32, 0.25>"), Q("4x16", "uniform<i8:f32, 0.125:-4>")),
     sum_of_what_they_mean},
    {"a product", TWO("matmul", Q("4x16", "uniform<i8:f32, 0.5:1>"), Q("16x8", "uniform<i8:f32, 0.25:2>"), Q("4x8", "uniform<i32:f32, 0.125>")),
     product_of_what_they_mean},
    {"moved", TTIR("%a: tensor<4x16x!quant.uniform<i8:f32, 0.5:1>>", Q("16x4", "uniform<i8:f32, 0.5:1>"),
     "  %y = \"ttir.permute\"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x16x!quant.uniform<i8:f32, 0.5:1>>) -> "
     "tensor<16x4x!quant.uniform<i8:f32, 0.5:1>>\n"),
     turned},
#undef EXTRA
#define EXTRA " <{dim = 0 : si32}>"
    {"joined as they are", TWO("concat", Q("4x16", "uniform<i8:f32, 0.5>"), Q("4x16", "uniform<i8:f32, 1.0>"), Q("8x16", "uniform<i8:f32, 0.5>")),
     one_then_the_other},
};
/* clang-format on */

static void scales_of_types_count(void **state)
{
    (void)state;
    try_meanings(meanings, sizeof meanings / sizeof *meanings);
}

/* What cannot be read says where and what helps. */
static void wrong_types_are_refused(void **state)
{
    static const char *const wrong[][2] = {
        {"4x16x!quant.uniform<i8:f32, >", "expected a number"},
        {"4x16x!quant.uniform<i8:f32, 0.5", "\">\""},
        {"4x16x!quant.uniform<string:f32, 0.5>", "stored type"},
        {"4x16x!quant.uniform<i8:f32:{-1:2}, {0.5}>", "no dimension"},
        {"4x16x!quant.uniform<i8:f32:0, {0.5, 0.5>", "\",\""},
        {"4x16x!ttcore.tile<32x32, bf16>", "dialect"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[400];
        lx_status st = {0};
        snprintf(text, sizeof text, "func.func @m(%%a: tensor<%s>) -> tensor<4xf32> {\n}\n", wrong[i][0]);
        assert_null(lx_model_read("here", text, strlen(text), NULL, &st));
        if (!strstr(st.text, wrong[i][1])) fail_msg("%s: %s", wrong[i][0], st.text);
        assert_int_equal(st.line, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scales_of_types_count),
                                       cmocka_unit_test(wrong_types_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
