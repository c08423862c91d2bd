/* Pools, slopes and what begins and ends elsewhere, of TTIR and HLO: what they mean. */
#include "support/op_meanings.h"

static double at(const struct tried *n, int which, int64_t i)
{
    return n->in[which][i];
}

/* [1,4,4,8] by windows of 2 x 2, two apart: the largest, or the mean. */
static void pooled(struct tried *n, bool mean)
{
    for (int i = 0; i < 32; i++) {
        int y = i / 16 * 2, x = i / 8 % 2 * 2, c = i % 8;
        double most = -INFINITY, sum = 0;
        for (int k = 0; k < 4; k++) {
            double v = at(n, 0, ((y + k / 2) * 4 + x + k % 2) * 8 + c);
            most = fmax(most, v), sum += v / 4;
        }
        n->want[i] = mean ? sum : most;
    }
}

static void largest(struct tried *n)
{
    pooled(n, false);
}

static void means(struct tried *n)
{
    pooled(n, true);
}

/* Windows of 3 x 3 around each pixel of [1,4,4,8], of what is there. */
static void means_inside(struct tried *n)
{
    for (int i = 0; i < 128; i++) {
        double sum = 0, count = 0;
        for (int k = 0; k < 9; k++) {
            int y = i / 32 + k / 3 - 1, x = i / 8 % 4 + k % 3 - 1;
            if (y < 0 || x < 0 || y > 3 || x > 3) continue;
            sum += at(n, 0, (y * 4 + x) * 8 + i % 8), count++;
        }
        n->want[i] = sum / count;
    }
}

/* clang-format off */
#define IMAGE "tensor<1x4x4x8xf32>"
#define HALF "tensor<1x2x2x8xf32>"
#define ROWS "tensor<2x32xf32>"
#define POOLING(word) TTIR("%a: " IMAGE, "1x2x2x8xf32", "  %y = \"ttir.pooling\"(%a) <{pooling_method = #ttir<pooling_method " word ">, " \
    "window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>, base_dilations = array<i64: 1, 1, 1, 1>, " \
    "window_dilations = array<i64: 1, 1, 1, 1>, padding = array<i64: 0, 0, 0, 0, 0, 0, 0, 0>, operandSegmentSizes = array<i32: 1, 1>}> : (" IMAGE ") -> " HALF "\n")
static const struct meaning meanings[] = {
    {"the largest of windows", TTIR("%a: " IMAGE, "1x2x2x8xf32", "  %y = \"ttir.max_pool2d\"(%a) <{kernel = array<i32: 2, 2>, stride = array<i32: 2, 2>, "
     "dilation = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>, ceil_mode = false}> : (" IMAGE ") -> " HALF "\n"), largest},
    {"means of windows", TTIR("%a: " IMAGE, "1x2x2x8xf32", "  %y = \"ttir.avg_pool2d\"(%a) <{kernel = 2 : i32, stride = 2 : i32, dilation = 1 : i32, padding = 0 : i32, "
     "ceil_mode = false}> : (" IMAGE ") -> " HALF "\n"), means},
    {"means of what is there", TTIR("%a: " IMAGE, "1x4x4x8xf32", "  %y = \"ttir.avg_pool2d\"(%a) <{kernel = array<i32: 3, 3>, stride = array<i32: 1, 1>, "
     "dilation = array<i32: 1, 1>, padding = array<i32: 1, 1, 1, 1>, ceil_mode = false, count_include_pad = false}> : (" IMAGE ") -> " IMAGE "\n"), means_inside},
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
