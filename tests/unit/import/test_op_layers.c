/* Functions, slices and norms of TTIR and HLO: what they mean. */
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
FUNCTION(cbrt, cbrt(x))
FUNCTION(expm1, expm1(x))

static void angle(struct tried *n)
{
    for (int i = 0; i < 64; i++) n->want[i] = atan2(at(n, 0, i), at(n, 1, i));
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

#define V         "f32[2,32]"
#define T         "tensor<2x32xf32>"
#define ONE(kind) TTIR("%a: " T, "2x32xf32", "  %y = \"ttir." kind "\"(%a) : (" T ") -> " T "\n")

/* clang-format off */
static const struct meaning meanings[] = {
    {"cbrt", ONE("cbrt"), cbrt_of},
    {"expm1", ONE("expm1"), expm1_of},
    {"an angle", HLO("  a = " V " parameter(0)\n  b = " V " parameter(1)\n  ROOT r = " V " atan2(a, b)\n"), angle},
    {"a norm that is only shifted", TTIR("%a: " T ", %b: tensor<32xf32>", "2x32xf32",
     "  %y = \"ttir.layer_norm\"(%a, %b) <{epsilon = 1.0e-05 : f32, normalized_shape = array<i64: 32>, operandSegmentSizes = array<i32: 1, 0, 1>}> : (" T ", tensor<32xf32>) -> " T "\n"), norm_without_scale},
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
