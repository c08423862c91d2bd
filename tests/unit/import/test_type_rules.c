/* Types of results against the rules of their kinds: what contradicts its operands is refused, with place, rule and both
 * shapes; what is legal passes, odd as it may look. Each row is one op among operands that are the same for all. */
#include "import/types/typing.h"
#include "import/model_parts.h"
#include "support/onnx_bytes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *op;
    enum lx_code code;
    const char *words; /* in the message */
};

static const char hlo_text[] =
    "HloModule m\n"
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
    "ENTRY e {\n"
    " x = f32[4,8]{1,0} parameter(0)\n y = f32[8,5]{1,0} parameter(1)\n i = s32[] parameter(2)\n"
    " n = s32[3]{0} parameter(3)\n c = f32[] parameter(4)\n im = f32[1,9,9,4]{3,2,1,0} parameter(5)\n"
    " k = f32[3,3,4,8] parameter(6)\n p = pred[4,8] parameter(7)\n h = bf16[4,8] parameter(8)\n"
    " q = s8[4,8] parameter(9)\n q2 = s8[8,5] parameter(10)\n z = c64[4,8] parameter(11)\n"
    " t = (f32[4,8], (s32[], f32[2])) parameter(12)\n u = u64[4,8] parameter(13)\n"
    " k2 = f32[3,3,2,8] parameter(14)\n f = f32[3] parameter(15)\n"
    " ROOT r = %s\n}\n";

#define SHAPE  LX_E_SHAPE
#define SCHEMA LX_E_SCHEMA
#define GATHER "offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1"

static const struct row hlo_rows[] = {
    /* element by element */
    {"f32[4,8] add(x, x)", LX_OK, ""},
    {"f32[4,8] add(x, h)", LX_OK, ""}, /* floats mixed, as after passes that change precision */
    {"f32[4,8] add(x)", SCHEMA, "has 1 operands; it takes 2"},
    {"f32[4,8] add(x, q)", SHAPE, "of f32, s8 is f32"},
    {"f32[4,9] add(x, x)", SHAPE, "of [4,8], [4,8] is [4,9]"},
    {"s32[4,8] exponential(x)", SHAPE, "of f32 is s32"},
    {"f32[4,8] abs(z)", LX_OK, ""},
    {"f32[4,8] select(p, x, x)", LX_OK, ""},
    {"f32[4,8] select(x, x, x)", SHAPE, "a truth chooses"},
    {"pred[4,8] compare(x, x), direction=LT", LX_OK, ""},
    {"f32[4,8] compare(x, x), direction=LT", SHAPE, "make a truth"},
    {"f32[4,8] clamp(c, x, c)", LX_OK, ""},
    {"s32[4,8] convert(x)", LX_OK, ""},
    /* views */
    {"f32[8,4] transpose(x), dimensions={1,0}", LX_OK, ""},
    {"f32[8,4] transpose(x)", SCHEMA, "it needs a permutation"},
    {"f32[4,8] transpose(x), dimensions={0,0}", SHAPE, "its permutation is none"},
    {"f32[4,8] reshape(x)", LX_OK, ""},
    {"f32[4,9] reshape(x)", SHAPE, "as many elements"},
    {"f32[2,4,8] broadcast(x), dimensions={1,2}", LX_OK, ""},
    {"f32[4,9,8] broadcast(x), dimensions={0,1}", SHAPE, "it would be [4,8,8]"},
    {"f32[4,8] broadcast(c), dimensions={}", LX_OK, ""},
    {"f32[2,4] slice(x), slice={[1:3], [0:8:2]}", LX_OK, ""},
    {"f32[3,8] slice(x), slice={[0:2], [0:8]}", SHAPE, "it would be [2,8]"},
    {"f32[9,8] slice(x), slice={[0:9], [0:8]}", SHAPE, "outside of the operand"},
    {"f32[4,8] slice(x)", SCHEMA, "it needs slice="},
    {"f32[6,15] pad(x, c), padding=1_1x0_0_1", LX_OK, ""},
    {"f32[3,8] pad(x, c), padding=-1_0x0_0", LX_OK, ""},
    {"f32[5,8] pad(x, c), padding=1_1x0_0", SHAPE, "it would be [6,8]"},
    {"f32[6,8] pad(x), padding=1_1x0_0", SCHEMA, "it takes 2"},
    {"f32[8,8] concatenate(x, x), dimensions={0}", LX_OK, ""},
    {"f32[8,8] concatenate(x, y), dimensions={0}", SHAPE, "one after the other"},
    {"s32[4,7] iota(), iota_dimension=1", LX_OK, ""},
    {"s32[4,7] iota(), iota_dimension=2", SCHEMA, "iota_dimension within the rank"},
    {"f32[4,8] copy(x)", LX_OK, ""},
    /* products and windows */
    {"f32[4,5] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}", LX_OK, ""},
    {"s32[4,5] dot(q, q2), lhs_contracting_dims={1}, rhs_contracting_dims={0}", LX_OK, ""},
    {"f32[4,5] dot(h, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "
     "operand_precision={highest,highest}",
     LX_OK, ""},
    {"f32[8,8] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={1}", SHAPE,
     "of [4,8], [8,5] is [8,8]"},
    {"f32[1,7,7,8] convolution(im, k), window={size=3x3}, dim_labels=b01f_01io->b01f", LX_OK, ""},
    {"f32[1,9,9,8] convolution(im, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f", LX_OK, ""},
    {"f32[1,8,7,8] convolution(im, k), window={size=3x3}, dim_labels=b01f_01io->b01f", SHAPE,
     "it would be [1,7,7,8]"},
    {"f32[1,7,7,8] convolution(im, k2), window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=2",
     LX_OK, ""},
    {"f32[1,7,7,8] convolution(im, k2), window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=3",
     SHAPE, "group count"},
    {"f32[4] reduce(x, c), dimensions={1}, to_apply=add", LX_OK, ""},
    {"f32[8] reduce(x, c), dimensions={1}, to_apply=add", SHAPE, "it would be [4]"},
    {"f32[4,4] reduce-window(x, c), window={size=1x2 stride=1x2}, to_apply=add", LX_OK, ""},
    {"f32[4,8] reduce-window(x, c), window={size=1x8 pad=0_0x7_0}, to_apply=add", LX_OK, ""},
    {"f32[4,5] reduce-window(x, c), window={size=1x2 stride=1x2}, to_apply=add", SHAPE, "it would be [4,4]"},
    /* places that operands say */
    {"f32[3,8] gather(x, n), " GATHER ", slice_sizes={1,8}", LX_OK, ""},
    {"f32[3,9] gather(x, n), " GATHER ", slice_sizes={1,8}", SHAPE, "it would be [3,8]"},
    {"f32[3,9] gather(x, n), " GATHER ", slice_sizes={1,9}", SHAPE, "beyond the operand"},
    {"f32[3,8] gather(x, f), " GATHER ", slice_sizes={1,8}", SHAPE, "the others are integers"},
    {"f32[2,8] dynamic-slice(x, i, i), dynamic_slice_sizes={2,8}", LX_OK, ""},
    {"f32[5,8] dynamic-slice(x, i, i), dynamic_slice_sizes={2,8}", SHAPE, "it would be [2,8]"},
    {"f32[5,8] dynamic-slice(x, i, i), dynamic_slice_sizes={5,8}", SHAPE, "beyond the operand"},
    {"f32[8,5] dynamic-update-slice(y, x, i, i)", SHAPE, "has room"},
    {"f32[4,8] dynamic-update-slice(x, x, i, i)", LX_OK, ""},
    /* tuples */
    {"(f32[4,8], s32[]) tuple(x, i)", LX_OK, ""},
    {"(f32[4,8], s32[]) tuple(x)", SHAPE, "the types of its operands"},
    {"(s32[], f32[2]) get-tuple-element(t), index=1", LX_OK, ""},
    {"f32[4,8] get-tuple-element(t), index=2", SCHEMA, "within it"},
    {"f32[4,9] get-tuple-element(t), index=0", SHAPE, "it would be [4,8]"},
    /* what is called */
    {"f32[] call(c, c), to_apply=add", LX_OK, ""},
    {"f32[4,8] call(x, x), to_apply=add", SHAPE, "what is called"},
    {"f32[] fusion(c), kind=kLoop, calls=add", SHAPE, "what is called"},
    /* nobody knows these: taken at their word */
    {"f32[7] custom-call(x), custom_call_target=\"a, b = c\"", LX_OK, ""},
    {"f32[4,8] frobnicate(x, x), bar={1,2}", LX_OK, ""},
    /* types that stand beside operands */
    {"f32[4,8] negate(f32[4,8]{0,1} %x)", LX_OK, ""},
    {"f32[4,8] negate(f32[4,9]{1,0} %x)", SHAPE, "x is f32[4,8], but f32[4,9] stands here"},
};

static const char ttir_text[] =
    "func.func @\"a function\"(%x: tensor<4x8xf32>, %y: tensor<8x5xf32>, %i: tensor<3xi32>, %b: "
    "tensor<1x8xf32>,\n"
    "  %im: tensor<1x9x9x4xf32>, %w: tensor<8x4x3x3xf32>, %c: tensor<2x3x8x64xbf16>, %u: "
    "tensor<1x3x5x64xbf16>,\n"
    "  %long: tensor<1x3x9x64xbf16>, %p: tensor<1xi32>, %s: tensor<1x3x2x64xbf16>, %v: tensor<8xf32>) {\n"
    "  %e = ttir.empty() : tensor<4x8xf32>\n"
    "  %s\n  return\n}\n";

#define XX  "(tensor<4x8xf32>, tensor<4x8xf32>) -> "
#define X1  "(tensor<4x8xf32>) -> "
#define XY  "(tensor<4x8xf32>, tensor<8x5xf32>) -> "
#define CNV "(tensor<1x9x9x4xf32>, tensor<8x4x3x3xf32>) -> "

static const struct row ttir_rows[] = {
    {"%r = \"ttir.add\"(%x, %x) : " XX "tensor<4x8xf32>", LX_OK, ""},
    {"%r = \"ttir.add\"(%x, %b) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>", LX_OK, ""},
    {"%r = \"ttir.add\"(%x, %x) : " XX "tensor<4x9xf32>", SHAPE, "it would be [4,8]"},
    {"%r = \"ttir.add\"(%x, %x, %e) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<4x8xf32>, "
     "tensor<4x8xf32>, "
     "tensor<4x8xf32>) -> tensor<4x8xf32>",
     LX_OK, ""},
    {"%r = \"ttir.add\"(%x) : " X1 "tensor<4x8xf32>", SCHEMA, "it takes 2"},
    {"%r = \"ttir.exp\"(%x) : " X1 "tensor<4x8xi32>", SHAPE, "of f32 is i32"},
    {"%r = \"ttir.relu\"(%x, %e) : " XX "tensor<4x8xf32>", LX_OK, ""},
    {"%r = \"ttir.typecast\"(%x) : " X1 "tensor<4x8xi32>", LX_OK, ""},
    {"%r = \"ttir.eq\"(%x, %x) : " XX "tensor<4x8xbf16>", LX_OK, ""},
    {"%r = \"ttir.pad\"(%x) <{padding = array<i32: 0, 0, 0, 2>, value = 0.0 : f32}> : " X1 "tensor<4x10xf32>",
     LX_OK, ""},
    {"%r = \"ttir.pad\"(%x) <{padding = array<i32: 0, 0, 0, 2>, value = 0.0 : f32}> : " X1 "tensor<4x9xf32>",
     SHAPE, "it would be [4,10]"},
    {"%r = \"ttir.pad\"(%x) <{value = 0.0 : f32}> : " X1 "tensor<4x9xf32>", SCHEMA, "it needs padding"},
    {"%r = \"ttir.slice_static\"(%x) <{begins = [-2 : i32, 0 : i32], ends = [4 : i32, 8 : i32], step = [1 : "
     "i32, 3 : "
     "i32]}> : " X1 "tensor<2x3xf32>",
     LX_OK, ""},
    {"%r = \"ttir.slice_static\"(%x) <{begins = [2 : i32, 0 : i32], ends = [6 : i32, 8 : i32], step = [1 : "
     "i32, 1 : "
     "i32]}> : " X1 "tensor<4x8xf32>",
     SHAPE, "outside"},
    {"%r = \"ttir.transpose\"(%x) <{dim0 = -2 : si32, dim1 = -1 : si32}> : " X1 "tensor<8x4xf32>", LX_OK, ""},
    {"%r = \"ttir.transpose\"(%x) <{dim0 = -2 : si32, dim1 = -1 : si32}> : " X1 "tensor<4x8xf32>", SHAPE,
     "[8,4]"},
    {"%r = \"ttir.squeeze\"(%b) <{dim = 0 : si32}> : (tensor<1x8xf32>) -> tensor<8xf32>", LX_OK, ""},
    {"%r = \"ttir.squeeze\"(%b) <{dim = 1 : si32}> : (tensor<1x8xf32>) -> tensor<8xf32>", SCHEMA,
     "a dim of extent 1"},
    {"%r = \"ttir.matmul\"(%x, %y) : " XY "tensor<4x5xf32>", LX_OK, ""},
    {"%r = \"ttir.matmul\"(%v, %y) : (tensor<8xf32>, tensor<8x5xf32>) -> tensor<5xf32>", LX_OK, ""},
    {"%r = \"ttir.matmul\"(%x, %v) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>", LX_OK, ""},
    {"%r = \"ttir.matmul\"(%x, %y) : " XY "tensor<4x6xf32>", SHAPE, "it would be [4,5]"},
    {"%r = \"ttir.matmul\"(%x, %y) <{transpose_a = true}> : " XY "tensor<8x5xf32>", SHAPE, "what is between"},
    {"%r = \"ttir.conv2d\"(%im, %w) <{stride = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>, dilation "
     "= array<i32: "
     "1, 1>, groups = 1 : i32}> : " CNV "tensor<1x7x7x8xf32>",
     LX_OK, ""},
    {"%r = \"ttir.conv2d\"(%im, %w) <{stride = 2 : i32, padding = array<i32: 1, 1, 1, 1>, dilation = 1 : "
     "i32, groups = "
     "1 : i32}> : " CNV "tensor<1x5x5x8xf32>",
     LX_OK, ""},
    {"%r = \"ttir.conv2d\"(%im, %w) <{stride = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>, dilation "
     "= array<i32: "
     "1, 1>, groups = 1 : i32}> : " CNV "tensor<1x8x7x8xf32>",
     SHAPE, "it would be [1,7,7,8]"},
    {"%r = \"ttir.max_pool2d\"(%im) <{ceil_mode = true, dilation = array<i32: 1, 1>, kernel = array<i32: 2, "
     "2>, padding "
     "= array<i32: 0, 0, 0, 0>, stride = array<i32: 2, 2>}> : (tensor<1x9x9x4xf32>) -> tensor<1x5x5x4xf32>",
     LX_OK, ""},
    {"%r = \"ttir.embedding\"(%i, %x) : (tensor<3xi32>, tensor<4x8xf32>) -> tensor<3x8xf32>", LX_OK, ""},
    {"%r = \"ttir.embedding\"(%i, %x) : (tensor<3xi32>, tensor<4x8xf32>) -> tensor<3x9xf32>", SHAPE, "[3,8]"},
    {"%r = \"ttir.sum\"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : " X1 "tensor<4x1xf32>", LX_OK, ""},
    {"%r = \"ttir.sum\"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : " X1 "tensor<4xf32>", SHAPE, "[4,1]"},
    {"%r = \"ttir.arange\"() <{arange_dimension = 0 : i64, end = 7 : si64, start = 0 : si64, step = 2 : "
     "si64}> : () -> "
     "tensor<4xi32>",
     LX_OK, ""},
    {"%r = \"ttir.arange\"() <{arange_dimension = 0 : i64, end = 7 : si64, start = 0 : si64, step = 2 : "
     "si64}> : () -> "
     "tensor<7xi32>",
     SHAPE, "it would be [4]"},
    {"\"ttir.fill_cache\"(%c, %u) <{batch_offset = 1 : i32}> : (tensor<2x3x8x64xbf16>, "
     "tensor<1x3x5x64xbf16>) -> ()",
     LX_OK, ""},
    {"\"ttir.fill_cache\"(%c, %u) <{batch_offset = 2 : i32}> : (tensor<2x3x8x64xbf16>, "
     "tensor<1x3x5x64xbf16>) -> ()",
     SHAPE, "within its rows"},
    {"\"ttir.fill_cache\"(%c, %long) <{batch_offset = 0 : i32}> : (tensor<2x3x8x64xbf16>, "
     "tensor<1x3x9x64xbf16>) -> ()",
     SHAPE, "of [2,3,8,64], [1,3,9,64]"},
    {"\"ttir.update_cache\"(%c, %s, %p) <{batch_offset = 0 : i32}> : (tensor<2x3x8x64xbf16>, "
     "tensor<1x3x2x64xbf16>, "
     "tensor<1xi32>) -> ()",
     LX_OK, ""},
    {"%r = \"ttir.constant\"() <{value = dense<\"0x05\"> : tensor<4xi1>}> : () -> tensor<4xi1>", LX_OK, ""},
    {"%r = \"ttir.constant\"() <{value = dense<1> : tensor<4xi32>}> : () -> tensor<5xi32>", SHAPE,
     "it would be [4]"},
    {"%r = \"ttir.softmax\"(%x) <{dimension = 1 : si32}> : " X1 "tensor<4x9xf32>", SHAPE, "[4,8]"},
    {"%r = \"ttir.none_of_ours\"(%x) : " X1 "tensor<7xf32>", LX_OK, ""},
};

static void check_row(const char *around, const struct row *row)
{
    char text[4000];
    const char *hole = strstr(around, "%s\n");
    lx_status st = {0};
    assert_true(hole != NULL);
    int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(hole - around), around, row->op, hole + 2);
    struct lx_model *m = lx_model_read("here", text, (size_t)n, NULL, &st);
    if (!m != (row->code != LX_OK) || (!m && st.code != row->code))
        fail_msg("%s: code %d, %s", row->op, (int)st.code, st.text);
    if (!m && !strstr(st.text, row->words)) fail_msg("%s: %s", row->op, st.text);
    if (!m) assert_true(st.line > 4 && st.column > 1);
    lx_model_free(m);
}

static void test_hlo(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof hlo_rows / sizeof *hlo_rows; i++) check_row(hlo_text, &hlo_rows[i]);
}

static void test_ttir(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ttir_rows / sizeof *ttir_rows; i++) check_row(ttir_text, &ttir_rows[i]);
}

/* What is returned has the type that the function states. */
static void test_what_is_returned(void **state)
{
    static const struct row rows[] = {
        {"func.func @f(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {\n return %x : tensor<2x8xf32>\n}\n", LX_OK,
         ""},
        {"func.func @f(%x: tensor<2x8xf32>) -> tensor<2x9xf32> {\n return %x : tensor<2x8xf32>\n}\n", SHAPE,
         "tensor<2x8xf32>, but tensor<2x9xf32>"},
        {"func.func @f(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {\n return %x : tensor<2x9xf32>\n}\n", SHAPE,
         "tensor<2x8xf32>, but tensor<2x9xf32>"},
        {"func.func @f(%x: tensor<2x8xf32>) {\n return %x : tensor<2x8xf32>\n}\n", SHAPE, "states 0"},
        {"func.func @f(%x: tensor<2x8x", LX_E_SYNTAX, "ends within a type"},
        {"HloModule m\nENTRY e (x: f32[4]) -> f32[5] {\n ROOT x = f32[4] parameter(0)\n}\n", SHAPE,
         "f32[4], but f32[5]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lx_status st = {0};
        struct lx_model *m = lx_model_read("here", rows[i].op, strlen(rows[i].op), NULL, &st);
        if (!m != (rows[i].code != LX_OK) ||
            (!m && (st.code != rows[i].code || !strstr(st.text, rows[i].words))))
            fail_msg("%s: code %d, %s", rows[i].op, (int)st.code, st.text);
        lx_model_free(m);
    }
}

/* One node between x [4,9], w [9,3], s [4], n (two integers) and y, which the file states. */
static void test_onnx(void **state)
{
    static const struct {
        const char *kind, *inputs, *key;
        int64_t number, y[3];
        enum lx_code code;
        const char *words;
    } rows_of[] = {
        {"Relu", "x", NULL, 0, {4, 9, 0}, LX_OK, ""},
        {"Relu", "x", NULL, 0, {4, 8, 0}, SHAPE, "y is [4,9], but the file declares [4,8]"},
        {"Relu", "x x", NULL, 0, {4, 9, 0}, SCHEMA, "2 operands; it takes 1"},
        {"Add", "x", NULL, 0, {4, 9, 0}, SCHEMA, "1 operands; it takes 2"},
        {"Add",
         "x n",
         NULL,
         0,
         {4, 9, 0},
         SHAPE,
         "of f32, i64 breaks the rule of its kind (elements: all of one type)"},
        {"Add", "x w", NULL, 0, {4, 9, 0}, SHAPE, "are broadcast"},
        {"MatMul", "x w", NULL, 0, {4, 3, 0}, LX_OK, ""},
        {"Gemm", "x w", NULL, 0, {4, 3, 0}, LX_OK, ""},
        {"Gemm", "x w s", NULL, 0, {4, 3, 0}, SHAPE, "the third operand"},
        {"Concat", "x x", "axis", 0, {8, 9, 0}, LX_OK, ""},
        {"Concat", "x x", NULL, 0, {8, 9, 0}, SCHEMA, "it needs \"axis\""},
        {"Where", "x x x", NULL, 0, {4, 9, 0}, SHAPE, "a truth"},
        {"Gather", "x n", "axis", 0, {2, 9, 0}, LX_OK, ""},
        {"Gather", "x x", "axis", 0, {2, 9, 0}, SHAPE, "the others are integers"},
        {"Softmax", "x", "axis", 2, {4, 9, 0}, SHAPE, "no such axis"},
        {"Slice", "x", NULL, 0, {4, 9, 0}, SCHEMA, "starts"},
        {"Clip", "x - -", NULL, 0, {4, 9, 0}, LX_OK, ""},
        {"Shape", "x", NULL, 0, {2, 0, 0}, SHAPE, "is i64, but the file declares f32"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++) {
        struct onnx_bytes graph = {.n = 0};
        lx_status st = {0};
        onnx_end(&graph, 11, "x", (int64_t[]){4, 9, 0});
        onnx_end(&graph, 11, "w", (int64_t[]){9, 3, 0});
        onnx_end(&graph, 11, "s", (int64_t[]){4, 0});
        onnx_ints(&graph, "n", (int64_t[]){0, 1}, 2);
        onnx_node_of(&graph, rows_of[i].kind, rows_of[i].inputs, "y", rows_of[i].key, rows_of[i].number);
        onnx_end(&graph, 12, "y", rows_of[i].y);
        struct onnx_bytes file = onnx_model_of(&graph, 17);
        struct lx_model *m = lx_model_read("here", (const char *)file.at, file.n, NULL, &st);
        if (!m != (rows_of[i].code != LX_OK) ||
            (!m && (st.code != rows_of[i].code || !strstr(st.text, rows_of[i].words))))
            fail_msg("%s(%s): code %d, %s", rows_of[i].kind, rows_of[i].inputs, (int)st.code, st.text);
        lx_model_free(m);
    }
}

/* What is computed ahead is what the op would have given. */
static void test_numbers_ahead(void **state)
{
    int64_t y;
    (void)state;
    assert_true(fold_kept_int(MODEL_I8, 300) == 44 && fold_kept_int(MODEL_I8, -200) == 56);
    assert_true(fold_kept_int(MODEL_U8, -1) == 255 && fold_kept_int(MODEL_I64, INT64_MIN) == INT64_MIN);
    assert_true(fold_to_int(MODEL_I8, 300.7) == 127 && fold_to_int(MODEL_I8, -1e9) == -128);
    assert_true(fold_to_int(MODEL_I64, 1e30) == INT64_MAX && fold_to_int(MODEL_I64, -1e30) == INT64_MIN);
    assert_true(fold_to_int(MODEL_U64, 1e30) == -1 && fold_to_int(MODEL_U8, -3.0) == 0);
    assert_true(fold_to_int(MODEL_I32, (double)NAN) == 0 && fold_to_int(MODEL_I32, -2.9) == -2);
    assert_true(fold_kept_real(MODEL_F32, 0.1) == (double)0.1f);
    assert_true(fold_kept_real(MODEL_F16, 2049) == 2048 && fold_kept_real(MODEL_F16, 2051) == 2052);
    assert_true(isinf(fold_kept_real(MODEL_F16, 65520)) && fold_kept_real(MODEL_F16, 65519) == 65504);
    assert_true(fold_kept_real(MODEL_BF16, 257) == 256 && fold_kept_real(MODEL_F64, 0.1) == 0.1);
    assert_true(fold_to_real(MODEL_F32, MODEL_I64, 9007199791611905) ==
                (double)(float)INT64_C(9007199791611905));
    assert_true(fold_to_real(MODEL_F64, MODEL_U64, -1) == 0x1p64);
    assert_true(fold_whole(MODEL_I64, DIV, -7, 2, false, &y) && y == -3);
    assert_true(fold_whole(MODEL_I64, MOD, -7, 2, false, &y) && y == 1);
    assert_true(fold_whole(MODEL_I64, EQ, 9007199254740993, 9007199254740992, false, &y) && y == 0);
    assert_false(fold_whole(MODEL_U64, LT, -1, 1, false, &y)); /* the op does it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hlo), cmocka_unit_test(test_ttir),
                                       cmocka_unit_test(test_what_is_returned), cmocka_unit_test(test_onnx),
                                       cmocka_unit_test(test_numbers_ahead)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
