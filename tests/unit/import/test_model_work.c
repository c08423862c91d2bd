/* Multiply-adds of products and convolutions as they are work_rows in files: all taps, and those that are not in the padding. */
#include "import/facts.h"
#include "import/read/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define HLO(body) "HloModule m\nENTRY e {\n" body "}\n"
#define TTIR(args, result, op)                                                                               \
    "func.func @main(" args ") -> tensor<" result "> {\n  %y = " op " -> tensor<" result                     \
    ">\n  return %y : tensor<" result ">\n}\n"

/* Rows of 4 under windows of 3 with 1 around: 10 taps of 12 are inside. */
static const struct work_row {
    const char *text;
    int64_t flops, macs, valid;
} work_rows[] = {
    {TTIR("%a: tensor<4x8xf32>, %b: tensor<8x16xf32>", "4x16xf32",
          "\"ttir.matmul\"(%a, %b) : (tensor<4x8xf32>, tensor<8x16xf32>)"),
     2 * 4 * 8 * 16, 0, 0},
    {TTIR("%a: tensor<1x4x4x8xf32>, %b: tensor<16x8x3x3xf32>", "1x4x4x16xf32",
          "\"ttir.conv2d\"(%a, %b) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : "
          "i32}> : "
          "(tensor<1x4x4x8xf32>, tensor<16x8x3x3xf32>)"),
     0, 4 * 4 * 16 * 8 * 9, 10 * 10 * 16 * 8},
    {HLO("  a = f32[4,8] parameter(0)\n  b = f32[8,16] parameter(1)\n"
         "  ROOT y = f32[4,16] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"),
     2 * 4 * 8 * 16, 0, 0},
    {HLO("  a = f32[1,4,4,8] parameter(0)\n  b = f32[3,3,8,16] parameter(1)\n"
         "  ROOT y = f32[1,4,4,16] convolution(a, b), window={size=3x3 pad=1_1x1_1}, "
         "dim_labels=b01f_01io->b01f\n"),
     0, 4 * 4 * 16 * 8 * 9, 10 * 10 * 16 * 8},
};

static void work_is_counted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof work_rows / sizeof *work_rows; i++) {
        const struct work_row *c = &work_rows[i];
        lx_status st = {0};
        struct model_facts f;
        struct lx_model *m = lx_model_read("here", c->text, strlen(c->text), NULL, &st);
        if (!m) fail_msg("%s: %s", c->text, st.text);
        lx_model_facts(&f, m);
        assert_int_equal(model_fact(&f, "flops", "", -1), c->flops);
        assert_int_equal(model_fact(&f, "macs", "", -1), c->macs);
        assert_int_equal(model_fact(&f, "macs_valid", "", -1), c->valid);
        lx_model_facts_free(&f);
        lx_model_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(work_is_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
