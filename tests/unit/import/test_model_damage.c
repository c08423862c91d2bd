/* Models under attack: small ones of every format damaged in every way that support/model_damage.h knows, lines and
 * brackets without end, lengths beyond the file. What comes of it is a graph or an error with words; tests/measure's
 * bench_model_mutations does the same to whole files. */
#include "graph/graph.h"
#include "base/memory.h"
#include "import/model_import.h"
#include "support/model_damage.h"
#include "support/onnx_bytes.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define T "tensor<"
static const char ttir[] =
    "#loc1 = loc(\"a\"(#loc2))\n#loc2 = loc(\"b\")\n"
    "module @m attributes {ttcore.meshes = #ttcore.meshes<[<\"mesh\" = 1x2>]>} {\n"
    "func.func @f(%x: " T "2x8x64xbf16> {ttcore.argument_type = #ttcore.argument_type<input>}, %w: " T
    "64x128xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.weight_dtype = "
    "\"bfp_bf8\"}, "
    "%c: " T "1x2x32x64xbf16>, %u: " T "1x2x1x64xbf16>, %i: " T "1xi32>, %p: " T "1x16x16x3xbf16>, %k: " T
    "8x3x3x3xbf16>) -> (" T "2x8x128xbf16>, " T "1x8x8x8xbf16>) {\n"
    "  %0 = \"ttir.dot_general\"(%x, %w) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, "
    "contract_dims_lhs = array<i64: 2>, contract_dims_rhs = array<i64: 0>}> : (" T "2x8x64xbf16>, " T
    "64x128xbf16>) -> " T "2x8x128xbf16> loc(#loc1)\n"
    "  %1 = \"ttir.slice_static\"(%0) <{begins = [0 : i32, 0 : i32, 64 : i32], ends = [2 : i32, 8 : i32, 128 "
    ": i32], "
    "step = [1 : i32, 1 : i32, 1 : i32]}> : (" T "2x8x128xbf16>) -> " T "2x8x64xbf16>\n"
    "  %2 = \"ttir.concat\"(%1, %x) <{dim = 2 : si32}> : (" T "2x8x64xbf16>, " T "2x8x64xbf16>) -> " T
    "2x8x128xbf16>\n"
    "  %3 = \"ttir.softmax\"(%2) <{dimension = -1 : si32}> : (" T "2x8x128xbf16>) -> " T "2x8x128xbf16>\n"
    "  %4 = \"ttir.permute\"(%3) <{permutation = array<i64: 1, 0, 2>}> : (" T "2x8x128xbf16>) -> " T
    "8x2x128xbf16>\n"
    "  %5 = \"ttir.reshape\"(%4) <{shape = [2 : i32, 8 : i32, 128 : i32]}> : (" T "8x2x128xbf16>) -> " T
    "2x8x128xbf16>\n"
    "  %6 = \"ttir.constant\"() <{value = dense<0x3F80> : " T "2x8x128xbf16>}> : () -> " T "2x8x128xbf16>\n"
    "  %7 = \"ttir.add\"(%5, %6) : (" T "2x8x128xbf16>, " T "2x8x128xbf16>) -> " T "2x8x128xbf16>\n"
    "  \"ttir.update_cache\"(%c, %u, %i) <{batch_offset = 0 : i32}> : (" T "1x2x32x64xbf16>, " T
    "1x2x1x64xbf16>, " T "1xi32>) -> ()\n"
    "  %8 = \"ttir.conv2d\"(%p, %k) <{dilation = array<i32: 1, 1>, groups = 1 : i32, "
    "padding = array<i32: 1, 1, 1, 1>, "
    "stride = array<i32: 2, 2>}> : (" T "1x16x16x3xbf16>, " T "8x3x3x3xbf16>) -> " T "1x8x8x8xbf16>\n"
    "  return %7, %8 : " T "2x8x128xbf16>, " T "1x8x8x8xbf16>\n} }\n";
#undef T

static const char hlo[] =
    "HloModule jit_f, input_output_alias={ {1}: (1, {}, may-alias) }, num_partitions=2\n\n"
    "%sum (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n"
    "  ROOT %s = f32[] add(%a, %b)\n}\n\n"
    "body {\n  p = (s32[], f32[4,64]{1,0}, f32[3,64,64]{2,1,0}) parameter(0)\n"
    "  i = s32[] get-tuple-element(p), index=0\n  one = s32[] constant(1)\n  next = s32[] add(i, one)\n"
    "  x = f32[4,64]{1,0} get-tuple-element(p), index=1\n  w = f32[3,64,64]{2,1,0} get-tuple-element(p), "
    "index=2\n"
    "  z = s32[] constant(0)\n  d = f32[1,64,64]{2,1,0} dynamic-slice(w, i, z, z), "
    "dynamic_slice_sizes={1,64,64}\n"
    "  v = f32[64,64]{1,0} reshape(d)\n"
    "  y = f32[4,64]{1,0} dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT t = (s32[], f32[4,64]{1,0}, f32[3,64,64]{2,1,0}) tuple(next, /*index=1*/y, w)\n}\n\n"
    "cond {\n  p = (s32[], f32[4,64]{1,0}, f32[3,64,64]{2,1,0}) parameter(0)\n"
    "  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(3)\n"
    "  ROOT c = pred[] compare(i, n), direction=LT\n}\n\n"
    "ENTRY main {\n  x = f32[4,64]{1,0} parameter(0), metadata={op_name=\"the {x\"}\n"
    "  c = f32[16,64]{1,0} parameter(1)\n  w = f32[3,64,64]{2,1,0} parameter(2), "
    "sharding={devices=[2,1,1]<=[2]}\n"
    "  j = s32[4,1]{1,0} parameter(3)\n  zero = s32[] constant(0)\n  f = f32[] constant(-inf)\n"
    "  t = (s32[], f32[4,64]{1,0}, f32[3,64,64]{2,1,0}) tuple(zero, x, w)\n"
    "  l = (s32[], f32[4,64]{1,0}, f32[3,64,64]{2,1,0}) while(t), condition=cond, body=body\n"
    "  r = f32[4,64]{1,0} get-tuple-element(l), index=1\n"
    "  g = f32[4,64]{1,0} gather(c, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, "
    "index_vector_dim=1, slice_sizes={1,64}\n"
    "  a = f32[4,64]{1,0} all-reduce(g), replica_groups=[1,2]<=[2], to_apply=%sum\n"
    "  e = f32[4,64]{1,0} add(r, a)\n  q = f32[6,68]{1,0} pad(e, f), padding=1_1x2_2\n"
    "  h = f32[4,64]{1,0} slice(q), slice={[1:5], [2:66]}\n"
    "  n = f32[16,64]{1,0} dynamic-update-slice(c, h, zero, zero)\n"
    "  o = f32[2] constant({1, 2})\n  m = f32[64]{0} reduce(h, f), dimensions={0}, to_apply=%sum\n"
    "  ROOT u = (f32[64]{0}, f32[16,64]{1,0}, f32[2]) tuple(m, n, o)\n}\n";

/* Conv, pool, a reshape by a constant, slices by constants, a gather and a product. */
static struct onnx_bytes onnx(void)
{
    struct onnx_bytes graph = {.n = 0}, weight = onnx_tensor_of("w", 1, (int64_t[]){8, 3, 3, 3, 0});
    onnx_message(&graph, 5, &weight);
    weight = onnx_tensor_of("m", 1, (int64_t[]){64, 32, 0});
    onnx_message(&graph, 5, &weight);
    onnx_ints(&graph, "shape", (int64_t[]){8, -1}, 2);
    onnx_ints(&graph, "from", (int64_t[]){0}, 1);
    onnx_ints(&graph, "to", (int64_t[]){64}, 1);
    onnx_ints(&graph, "axis", (int64_t[]){1}, 1);
    onnx_ints(&graph, "rows", (int64_t[]){0, 3, -1}, 3);
    onnx_node_of(&graph, "Conv", "x w", "c", NULL, 0);
    onnx_node_of(&graph, "Relu", "c", "r", NULL, 0);
    onnx_node_of(&graph, "Reshape", "r shape", "f", NULL, 0);
    onnx_node_of(&graph, "Slice", "f from to axis", "s", NULL, 0);
    onnx_node_of(&graph, "MatMul", "s m", "p", NULL, 0);
    onnx_node_of(&graph, "Softmax", "p", "q", "axis", -1);
    onnx_node_of(&graph, "Gather", "q rows", "g", "axis", 0);
    onnx_node_of(&graph, "Concat", "g q", "y", "axis", 0);
    onnx_end(&graph, 11, "x", (int64_t[]){1, 3, 12, 12, 0});
    onnx_end(&graph, 12, "y", (int64_t[]){11, 32, 0});
    return onnx_model_of(&graph, 17);
}

/* Where it is, and what helps against it or should be there. */
static bool says_enough(const lx_status *st)
{
    static const char *const places[] = {"at byte ", "node ",    "graph ",     "input ",
                                         "output ",  "operand ", "no model: ", "extents without a number"};
    static const char *const helps[] = {"; ",           "expected ",   " is missing",
                                        "should close", "it would be", "no model: "};
    bool place = st->line > 0 || st->code == LX_E_CYCLE || st->code == LX_E_LIMIT ||
                 st->code == LX_E_UNKNOWN_NAME,
         help = false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) place |= strstr(st->text, places[i]) != NULL;
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++) help |= strstr(st->text, helps[i]) != NULL;
    return st->code != LX_OK && place && help;
}

static bool import_bytes(const char *text, size_t n, bool no_fold, lx_status *st)
{
    struct lx_import_options options = {.branch = -1, .no_fold = no_fold};
    char *report = NULL;
    *st = (lx_status){0};
    const struct lx_graph *g = lx_model_import("here", text, n, &options, &report, st);
    bool made = g != NULL;
    lx_graph_free(g);
    mem_free(report);
    if (!made && !says_enough(st))
        fail_msg("refused without a place or a remedy: %d:%d: %s: %s", st->line, st->column,
                 lx_code_word(st->code), st->text);
    return made;
}

static void attack(const char *text, size_t length)
{
    size_t room = length + 256;
    struct rng r = rng_seed(length);
    lx_status st;
    int made = 0, count = SAMPLED ? 1200 : 40000;
    if (!import_bytes(text, length, false, &st)) print_error("%d:%d: %s\n", st.line, st.column, st.text);
    assert_true(import_bytes(text, length, false, &st));
    for (int i = 0; i < count; i++) {
        char *copy = mem_alloc(room + 1);
        assert_non_null(copy);
        size_t n = damage_model(&r, copy, text, length, room);
        copy = mem_resize(copy, n + 1); /* a byte too far is seen */
        assert_non_null(copy);
        made += import_bytes(copy, n, i % 2, &st);
        mem_free(copy);
    }
    assert_in_range(made, 1, count - 1);
}

static void test_damage(void **state)
{
    struct onnx_bytes bytes = onnx();
    (void)state;
    attack(ttir, sizeof ttir - 1);
    attack(hlo, sizeof hlo - 1);
    attack((const char *)bytes.at, bytes.n);
}

/* One line of 800 arguments and 64,000 characters. */
static void test_long_line(void **state)
{
    size_t room = 200000, n = 0;
    char *text = mem_alloc(room);
    lx_status st;
    (void)state;
    assert_non_null(text);
    n += (size_t)snprintf(text, room, "func.func @f(");
    for (int i = 0; i < 800; i++)
        n += (size_t)snprintf(text + n, room - n,
                              "%s%%a%d: tensor<8x128xf32> {ttir.name = \"%040d\"} loc(\"%d\")", i ? ", " : "",
                              i, i, i);
    n +=
        (size_t)snprintf(text + n, room - n,
                         ") -> tensor<8x128xf32> {\n  %%0 = \"ttir.add\"(%%a0, %%a799) : (tensor<8x128xf32>, "
                         "tensor<8x128xf32>) -> tensor<8x128xf32>\n  return %%0 : tensor<8x128xf32>\n}\n");
    assert_true(n > 64000);
    assert_true(import_bytes(text, n, false, &st));
    text[n / 2] = '\x01';
    assert_false(import_bytes(text, n, false, &st) && st.line != 1);
    mem_free(text);
}

/* Brackets without end, wherever one may stand: an error at a place, not the end of the stack. */
static void test_brackets(void **state)
{
    static const char *const heads[] = {"",
                                        "func.func @f",
                                        "func.func @f(%x: tensor<8xf32> {a = ",
                                        "#loc = loc(",
                                        "module attributes {a = ",
                                        "HloModule ",
                                        "HloModule m, a=",
                                        "HloModule m\nENTRY e {\n a = ",
                                        "HloModule m\nENTRY e {\n a = f32[] constant(",
                                        "HloModule m\nENTRY e {\n a = f32[] add(",
                                        "HloModule m\nENTRY e {\n a = f32[] add(), b="};
    size_t n = (size_t)1 << 20;
    char *text = mem_alloc(n + 1);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        for (int k = 0; k < 4; k++) {
            lx_status st;
            memset(text, "([{<"[k], n);
            memcpy(text, heads[i], strlen(heads[i]));
            memcpy(text + n - 9, "func.func", 9);
            assert_false(import_bytes(text, n, false, &st));
            assert_true(st.line > 0 || i == 0);
        }
    mem_free(text);
}

/* Lengths that the file does not have, of the file, a message and a name, up to the largest number. */
static void test_lengths(void **state)
{
    static const uint64_t lengths[] = {
        200, 1 << 20, (uint64_t)1 << 32, (uint64_t)1 << 62, UINT64_MAX - 8, UINT64_MAX};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int depth = 0; depth < 3; depth++) {
            struct onnx_bytes b = {.n = 0}, graph = {.n = 0}, node = {.n = 0}, *in[] = {&b, &graph, &node};
            lx_status st;
            onnx_number(&b, 1, 8);
            onnx_varint(in[depth], depth == 0 ? 58 : 10);
            onnx_varint(in[depth], lengths[i]);
            onnx_raw(in[depth], "abc", 3);
            if (depth == 2) onnx_message(&graph, 1, &node);
            if (depth > 0) onnx_message(&b, 7, &graph);
            assert_false(import_bytes((const char *)b.at, b.n, false, &st));
            assert_int_equal(st.code, LX_E_SYNTAX);
            assert_non_null(strstr(st.text, "at byte"));
            assert_non_null(strstr(st.text, "a length of"));
        }
}

/* What is said of a tensor that is too large gets a place, in the text formats. */
static void test_too_large(void **state)
{
    static const char *const texts[] = {
        "func.func @f(%x: tensor<512x9007199254740992xf32>) -> tensor<4xf32> {\n}\n",
        "HloModule m\nENTRY e {\n  a = f32[512,9007199254740992] parameter(0)\n}\n"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        lx_status st;
        assert_false(import_bytes(texts[i], strlen(texts[i]), false, &st));
        assert_int_equal(st.code, LX_E_LIMIT);
        assert_int_equal(st.line, i ? 3 : 1);
        assert_non_null(strstr(st.text, "a tensor of more than 2^53 bytes; split"));
    }
}

/* Numbers whose products no integer holds, types that kinds do not have: found by damage, seen by sanitizers. */
static void test_found_by_damage(void **state)
{
    static const char *const texts[] = {
        "func.func @f(%x: tensor<1x8x8x4xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32> {\n"
        "  %0 = \"ttir.conv2d\"(%x, %w) <{stride = array<i32: 1, 1>, padding = array<i32: 1, 1, 1, 1>, "
        "dilation = "
        "array<i32: 1, 1>, groups = 9223372036854775807 : i32}> : (tensor<1x8x8x4xf32>, tensor<8x4x3x3xf32>) "
        "-> "
        "tensor<1x8x8x8xf32>\n  return %0 : tensor<1x8x8x8xf32>\n}\n",
        "HloModule m\nENTRY e {\n  a = c64[4] parameter(0)\n  ROOT b = (c64[4], c64[4]) add(a, a)\n}\n",
        "HloModule m\nENTRY e {\n  a = c64[4] parameter(0)\n  ROOT b = f32[4] add(a, a)\n}\n",
        "HloModule m\nENTRY e {\n  a = c64[4] parameter(0)\n  ROOT b = c64[4] abs(a)\n}\n",
        "HloModule m\nENTRY e {\n  a = f32[4] parameter(0)\n  ROOT b = f32[4] real(a)\n}\n",
        "HloModule m\nENTRY e {\n  a = f32[4] parameter(0)\n  ROOT b = c64[3] complex(a, a)\n}\n",
        "HloModule m\nENTRY e {\n  a = f32[4] parameter(0)\n  ROOT b = c64[4] complex(a)\n}\n"};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
        lx_status st;
        import_bytes(texts[i / 2], strlen(texts[i / 2]), i % 2, &st);
    }
}

/* x reshaped by numbers that stand in a file at `location`. */
static struct onnx_bytes with_external(const char *location, const char *offset)
{
    struct onnx_bytes graph = {.n = 0}, shape = onnx_tensor_of("shape", 7, (int64_t[]){2, 0});
    onnx_entry(&shape, "location", location);
    onnx_entry(&shape, "offset", offset);
    onnx_entry(&shape, "length", "16");
    onnx_number(&shape, 14, 1);
    onnx_message(&graph, 5, &shape);
    onnx_node_of(&graph, "Reshape", "x shape", "r", NULL, 0);
    onnx_node_of(&graph, "Relu", "r", "y", NULL, 0);
    onnx_end(&graph, 11, "x", (int64_t[]){64, 8, 0});
    onnx_end(&graph, 12, "y", (int64_t[]){4, 128, 0});
    return onnx_model_of(&graph, 17);
}

static const struct lx_graph *import_external(const char *folder, const char *location, const char *offset,
                                              char **report, lx_status *st)
{
    struct lx_import_options options = {.branch = -1};
    struct onnx_bytes b = with_external(location, offset);
    char file[4200];
    snprintf(file, sizeof file, "%s/model.onnx", folder);
    return lx_model_import(file, (const char *)b.at, b.n, &options, report, st);
}

/* Data beside the model is read where it is needed; upwards and from the root nothing is; what is missing is told. */
static void test_external(void **state)
{
    char folder[] = "/tmp/lxplan_external_XXXXXX", path[80];
    static const int64_t numbers[] = {7, 4, 128};
    static const char *const outside[] = {"../data", "/etc/passwd", "a/../../data", "", "..", "a/.."};
    lx_status st = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/data", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(numbers, 8, 3, f), 3);
    fclose(f);
    char *report = NULL;
    const struct lx_graph *g = import_external(folder, "data", "8", &report, &st);
    if (!g) print_error("%s\n", st.text);
    assert_non_null(g);
    assert_null(strstr(report, "is missing"));
    assert_int_equal(g->tensors[g->ops[g->op_count - 1].output].shape[0], 4);
    lx_graph_free(g);
    mem_free(report);
    /* A link out of the folder is not followed, one within it is. */
    char link[96], other[] = "/tmp/lxplan_elsewhere_XXXXXX";
    int fd = mkstemp(other);
    assert_int_equal(write(fd, numbers, sizeof numbers), sizeof numbers);
    close(fd);
    snprintf(link, sizeof link, "%s/link", folder);
    assert_int_equal(symlink(other, link), 0);
    assert_null(import_external(folder, "link", "8", NULL, &st));
    unlink(link);
    unlink(other);
    assert_int_equal(symlink("data", link), 0);
    g = import_external(folder, "link", "8", NULL, &st);
    assert_non_null(g);
    lx_graph_free(g);
    unlink(link);
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_null(import_external(folder, outside[i], "8", NULL, &st));
        assert_int_equal(st.code, LX_E_SCHEMA);
    }
    assert_null(import_external(folder, "data", "-8", NULL, &st));
    assert_int_equal(st.code, LX_E_SCHEMA);
    unlink(path);
    rmdir(folder);
}

/* Nothing needs the numbers of a weight: that its file is not there is a warning. */
static void test_external_missing(void **state)
{
    struct onnx_bytes graph = {.n = 0}, w = onnx_tensor_of("w", 1, (int64_t[]){128, 64, 0});
    struct lx_import_options options = {.branch = -1};
    char *report = NULL;
    lx_status st = {0};
    (void)state;
    onnx_entry(&w, "location", "nobody.bin");
    onnx_number(&w, 14, 1);
    onnx_message(&graph, 5, &w);
    onnx_node_of(&graph, "MatMul", "x w", "y", NULL, 0);
    onnx_end(&graph, 11, "x", (int64_t[]){64, 128, 0});
    onnx_end(&graph, 12, "y", (int64_t[]){64, 64, 0});
    struct onnx_bytes b = onnx_model_of(&graph, 17);
    const struct lx_graph *g = lx_model_import("here", (const char *)b.at, b.n, &options, &report, &st);
    assert_non_null(g);
    assert_non_null(strstr(report, "external data whose file is missing"));
    lx_graph_free(g);
    mem_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),           cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_brackets),         cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_too_large),        cmocka_unit_test(test_external),
        cmocka_unit_test(test_external_missing), cmocka_unit_test(test_found_by_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
