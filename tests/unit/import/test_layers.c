/* Layers in smaller ops, control flow, collectives, roles and type rules: small models that stand here as text, or are
 * put together in bytes. */
#include "graph/graph.h"
#include "base/memory.h"
#include "import/model_import.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Bytes of a protobuf that grow. */
struct bytes {
    unsigned char at[4096];
    size_t count;
};

static void put_number(struct bytes *b, uint64_t n)
{
    for (; n > 127; n >>= 7) b->at[b->count++] = (unsigned char)(n | 128);
    b->at[b->count++] = (unsigned char)n;
}

static void put_int(struct bytes *b, int field, uint64_t n)
{
    put_number(b, (uint64_t)field << 3);
    put_number(b, n);
}

static void put_bytes(struct bytes *b, int field, const void *from, size_t n)
{
    put_number(b, (uint64_t)field << 3 | 2);
    put_number(b, n);
    memcpy(b->at + b->count, from, n);
    b->count += n;
}

static void put_word(struct bytes *b, int field, const char *word)
{
    put_bytes(b, field, word, strlen(word));
}

/* An input of fp32, or (element 7) of int64. */
static void put_input(struct bytes *graph, const char *name, int element, int rank, const int *extent)
{
    struct bytes shape = {.count = 0}, tensor = {.count = 0}, type = {.count = 0}, info = {.count = 0};
    for (int d = 0; d < rank; d++) {
        struct bytes dim = {.count = 0};
        put_int(&dim, 1, (uint64_t)extent[d]);
        put_bytes(&shape, 1, dim.at, dim.count);
    }
    put_int(&tensor, 1, (uint64_t)element);
    put_bytes(&tensor, 2, shape.at, shape.count);
    put_bytes(&type, 1, tensor.at, tensor.count);
    put_word(&info, 1, name);
    put_bytes(&info, 2, type.at, type.count);
    put_bytes(graph, 11, info.at, info.count);
}

static void put_attr(struct bytes *node, const char *key, int64_t n)
{
    struct bytes a = {.count = 0};
    put_word(&a, 1, key);
    put_int(&a, 3, (uint64_t)n);
    put_int(&a, 20, 2);
    put_bytes(node, 5, a.at, a.count);
}

static void put_text(struct bytes *node, const char *key, const char *word)
{
    struct bytes a = {.count = 0};
    put_word(&a, 1, key);
    put_word(&a, 4, word);
    put_int(&a, 20, 3);
    put_bytes(node, 5, a.at, a.count);
}

/* Names parted by blanks; "-" is left out. */
static void put_names(struct bytes *node, int field, const char *names)
{
    while (*names) {
        size_t n = strcspn(names, " ");
        put_bytes(node, field, names, *names == '-' ? 0 : n);
        names += n + (names[n] == ' ');
    }
}

static struct bytes begin_node(const char *kind, const char *inputs, const char *outputs)
{
    struct bytes node = {.count = 0};
    const char *colon = strchr(kind, ':');
    put_names(&node, 1, inputs);
    put_names(&node, 2, outputs);
    put_word(&node, 3, "layer");
    put_word(&node, 4, colon ? colon + 1 : kind);
    if (colon) put_bytes(&node, 7, kind, (size_t)(colon - kind));
    return node;
}

static void put_output(struct bytes *graph, const char *name)
{
    struct bytes info = {.count = 0};
    put_word(&info, 1, name);
    put_bytes(graph, 12, info.at, info.count);
}

/* The one node of a model whose inputs are in `graph`; what becomes of it. */
static const struct lx_graph *import_node(struct bytes *graph, const struct bytes *node, const char *outputs,
                                          char **report)
{
    struct bytes model = {.count = 0}, set = {.count = 0}, other = {.count = 0};
    struct lx_import_options options = {.branch = -1};
    lx_status st = {0};
    put_bytes(graph, 1, node->at, node->count);
    for (const char *p = outputs; *p; p += strcspn(p, " ") + (p[strcspn(p, " ")] == ' ')) {
        char name[16];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(p, " "), p);
        put_output(graph, name);
    }
    put_int(&set, 2, 17);
    put_word(&other, 1, "com.microsoft");
    put_int(&other, 2, 1);
    put_int(&model, 1, 8);
    put_bytes(&model, 8, set.at, set.count);
    put_bytes(&model, 8, other.at, other.count);
    put_bytes(&model, 7, graph->at, graph->count);
    const struct lx_graph *g =
        lx_model_import("here", (const char *)model.at, model.count, &options, report, &st);
    if (!g) print_error("%s\n", st.text);
    assert_non_null(g);
    return g;
}

static int64_t count_in(const char *report, const char *key)
{
    const char *at = strstr(report, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : -1;
}

/* Products as many as the file has; the node is expanded or (a kind that is not there yet) generic, never lost. */
static void assert_work(const char *report, int64_t flops)
{
    assert_int_equal(count_in(report, "\"flops of the pattern\": "), flops);
    assert_null(strstr(report, "\"dead\""));
}

/* Four query heads share each pair of caches, which grow by one row. */
static void test_group_query(void **state)
{
    struct bytes graph = {.count = 0};
    struct bytes node = begin_node("com.microsoft:GroupQueryAttention", "q k v pk pv len total", "y nk nv");
    char *report = NULL;
    (void)state;
    put_input(&graph, "q", 1, 3, (int[]){1, 1, 512});
    put_input(&graph, "k", 1, 3, (int[]){1, 1, 128});
    put_input(&graph, "v", 1, 3, (int[]){1, 1, 128});
    put_input(&graph, "pk", 1, 4, (int[]){1, 2, 63, 64});
    put_input(&graph, "pv", 1, 4, (int[]){1, 2, 63, 64});
    put_input(&graph, "len", 6, 1, (int[]){1});
    put_input(&graph, "total", 6, 1, (int[]){1});
    put_attr(&node, "num_heads", 8);
    put_attr(&node, "kv_num_heads", 2);
    lx_graph_free(import_node(&graph, &node, "y nk nv", &report));
    assert_work(report, 2 * 2 * 8 * 64 * 64);
    mem_free(report);
}

static void test_recurrent(void **state)
{
    struct bytes graph = {.count = 0}, node = begin_node("LSTM", "x w r b", "y h c");
    char *report = NULL;
    (void)state;
    put_input(&graph, "x", 1, 3, (int[]){5, 4, 64});
    put_input(&graph, "w", 1, 3, (int[]){2, 4 * 32, 64});
    put_input(&graph, "r", 1, 3, (int[]){2, 4 * 32, 32});
    put_input(&graph, "b", 1, 2, (int[]){2, 4 * 64});
    put_attr(&node, "hidden_size", 32);
    put_text(&node, "direction", "bidirectional");
    lx_graph_free(import_node(&graph, &node, "y h c", &report));
    /* The first step has no state to multiply. */
    assert_work(report, (int64_t)2 * 2 * (5 * 4 * 64 + 4 * 4 * 32) * 4 * 32);
    mem_free(report);
}

static const struct lx_graph *import_text(const char *text, const struct lx_import_options *options,
                                          char **report)
{
    static const struct lx_import_options plain = {.branch = -1};
    lx_status st = {0};
    const struct lx_graph *g =
        lx_model_import("here", text, strlen(text), options ? options : &plain, report, &st);
    if (!g) print_error("%d:%d: %s\n", st.line, st.column, st.text);
    assert_non_null(g);
    return g;
}

/* Links of a group of 4: twice 3/4 of what is summed, 3/4 of what is gathered. */
static void test_collectives(void **state)
{
    static const char text[] =
        "HloModule m\n%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] "
        "parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n"
        "ENTRY main {\n  x = f32[64,128]{1,0} parameter(0)\n"
        "  s = f32[64,128]{1,0} all-reduce(x), replica_groups=[2,4]<=[8], to_apply=%add\n"
        "  ROOT g = f32[256,128]{1,0} all-gather(s), replica_groups={{0,1,2,3},{4,5,6,7}}, "
        "dimensions={0}\n}\n";
    char *report = NULL;
    const struct lx_graph *g = import_text(text, NULL, &report);
    (void)state;
    assert_int_equal(g->op_count, 2);
    assert_string_equal(g->ops[0].kind->name, "all_reduce");
    assert_string_equal(g->ops[1].kind->name, "all_gather");
    assert_int_equal(count_in(report, "\"link_bytes\": {\"all_reduce\": "), 2 * 64 * 128 * 4 / 4 * 3);
    assert_int_equal(count_in(strstr(report, "\"link_bytes\""), "\"all_gather\": "), 256 * 128 * 4 / 4 * 3);
    lx_graph_free(g);
    mem_free(report);
}

/* A predicate that is known chooses; else the user, else bytes. */
static void test_branches(void **state)
{
    static const char form[] =
        "HloModule m\nt {\n  x = f32[64,128]{1,0} parameter(0)\n  ROOT y = f32[64,128]{1,0} "
        "exponential(x)\n}\n"
        "f {\n  x = f32[64,128]{1,0} parameter(0)\n  n = f32[64,128]{1,0} negate(x)\n  ROOT y = "
        "f32[64,128]{1,0} tanh(n)\n}\n"
        "ENTRY main {\n  x = f32[64,128]{1,0} parameter(0)\n  p = pred[] %s\n"
        "  ROOT r = f32[64,128]{1,0} conditional(p, x, x), true_computation=t, false_computation=f\n}\n";
    static const struct {
        const char *predicate;
        int branch, ops;
    } rows[] = {{"constant(true)", -1, 1},
                {"constant(false)", 0, 2},
                {"parameter(1)", 0, 1},
                {"parameter(1)", -1, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lx_import_options options = {.branch = rows[i].branch};
        char text[1024];
        snprintf(text, sizeof text, form, rows[i].predicate);
        const struct lx_graph *g = import_text(text, &options, NULL);
        assert_int_equal(g->op_count, rows[i].ops);
        lx_graph_free(g);
    }
}

/* What begins with another number than the neutral one gets it at the end. */
static void test_reduce_begins(void **state)
{
    static const char form[] =
        "HloModule m\n%%add (a: f32[], b: f32[]) -> f32[] {\n  %%a = f32[] parameter(0)\n  %%b = f32[] "
        "parameter(1)\n  ROOT %%s = f32[] add(%%a, %%b)\n}\n"
        "ENTRY main {\n  x = f32[64,128]{1,0} parameter(0)\n  n = f32[] constant(%s)\n"
        "  ROOT r = f32[64]{0} reduce(x, n), dimensions={1}, to_apply=%%add\n}\n";
    char text[1024];
    (void)state;
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, form, i ? "3" : "0");
        const struct lx_graph *g = import_text(text, NULL, NULL);
        assert_int_equal(g->op_count, 1 + i);
        lx_graph_free(g);
    }
}

/* The ends of ranges are neutral to the bit, and no others; reductions of bits are generic. */
static void test_reduced_integers(void **state)
{
    static const char form[] =
        "HloModule m\nf { a = %s[] parameter(0) b = %s[] parameter(1) ROOT s = %s[] %s(a, b) }\n"
        "ENTRY main {\n x = %s[64,128]{1,0} parameter(0)\n n = %s[] constant(%s)\n"
        " ROOT r = %s[64]{0} reduce(x, n), dimensions={1}, to_apply=f\n}\n";
    static const struct {
        const char *type, *op, *number, *kind;
        int ops;
    } rows[] = {{"s64", "minimum", "9223372036854775807", "min", 1},
                {"s64", "minimum", "9223372036854775806", "min", 3},
                {"s64", "maximum", "-9223372036854775808", "max", 1},
                {"u64", "maximum", "0", "max", 1},
                {"u64", "minimum", "18446744073709551615", "min", 1},
                {"s8", "maximum", "-128", "max", 1},
                {"s8", "maximum", "-127", "max", 2},
                {"s32", "and", "-1", "generic", 2},
                {"u32", "or", "1", "generic", 2},
                {"pred", "xor", "false", "generic", 2},
                {"pred", "and", "true", "all", 1},
                {"pred", "or", "false", "any", 1},
                {"s64", "add", "9007199254740993", "sum", 3}};
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *t = rows[i].type;
        snprintf(text, sizeof text, form, t, t, t, rows[i].op, t, t, rows[i].number, t);
        const struct lx_graph *g = import_text(text, NULL, NULL);
        assert_int_equal(g->op_count, rows[i].ops);
        int there = 0;
        for (int32_t o = 0; o < g->op_count; o++) there += strcmp(g->ops[o].kind->name, rows[i].kind) == 0;
        assert_true(there > 0);
        lx_graph_free(g);
    }
}

static void test_rules(void **state)
{
    static const char *const wrong[] = {
        "func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x8xf32> {\n  %0 = "
        "\"ttir.add\"(%a, %b) : "
        "(tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x8xf32>\n  return %0 : tensor<4x8xf32>\n}",
        "func.func @f(%a: tensor<4x8xf32>) -> tensor<4x9xf32> {\n  %0 = \"ttir.reshape\"(%a) <{shape = [4 : "
        "i32, 9 : "
        "i32]}> : (tensor<4x8xf32>) -> tensor<4x9xf32>\n  return %0 : tensor<4x9xf32>\n}",
        "HloModule m\nENTRY e {\n  a = f32[4,8]{1,0} parameter(0)\n  ROOT t = f32[4,8]{1,0} transpose(a), "
        "dimensions={1,0}\n}",
        "HloModule m\nENTRY e {\n  a = f32[4,8]{1,0} parameter(0)\n  ROOT t = f32[4,4]{1,0} dot(a, a), "
        "lhs_contracting_dims={1}, rhs_contracting_dims={0}\n}"};
    struct lx_import_options options = {.branch = -1};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lx_status st = {0};
        assert_null(lx_model_import("here", wrong[i], strlen(wrong[i]), &options, NULL, &st));
        assert_int_equal(st.code, LX_E_SHAPE);
        assert_non_null(strstr(st.text, "breaks the rule"));
        assert_true(st.line > 0);
    }
}

static void test_roles(void **state)
{
    static const char text[] =
        "HloModule m\nENTRY e {\n  a = f32[4,128]{1,0} parameter(0), metadata={op_name=\"kwargs['x']\"}\n"
        "  b = f32[4,128]{1,0} parameter(1), metadata={op_name=\"params['w']\"}\n"
        "  ROOT t = f32[4,128]{1,0} add(a, b)\n}";
    struct lx_model_binding role = {"a", LX_WEIGHT};
    struct lx_import_options options = {.branch = -1, .roles = &role, .role_count = 1};
    lx_status st = {0};
    const struct lx_graph *g = import_text(text, NULL, NULL);
    (void)state;
    assert_int_equal((int)g->tensors[g->ops[0].inputs[0]].role, LX_INPUT);
    assert_int_equal((int)g->tensors[g->ops[0].inputs[1]].role, LX_WEIGHT);
    lx_graph_free(g);
    g = import_text(text, &options, NULL);
    assert_int_equal((int)g->tensors[g->ops[0].inputs[0]].role, LX_WEIGHT);
    lx_graph_free(g);
    role.name = "nobody";
    assert_null(lx_model_import("here", text, strlen(text), &options, NULL, &st));
    assert_int_equal(st.code, LX_E_UNKNOWN_NAME);
}

/* 40 operands of an op that nobody knows: read in groups, none lost. */
static void test_many_operands(void **state)
{
    char text[4096];
    size_t n = (size_t)snprintf(text, sizeof text, "HloModule m\nENTRY e {\n");
    (void)state;
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  p%d = f32[8,128]{1,0} parameter(%d)\n", i, i);
    n += (size_t)snprintf(text + n, sizeof text - n, "  ROOT y = f32[8,128]{1,0} mystery(");
    for (int i = 0; i < 40; i++) n += (size_t)snprintf(text + n, sizeof text - n, "%sp%d", i ? ", " : "", i);
    snprintf(text + n, sizeof text - n, ")\n}\n");
    const struct lx_graph *g = import_text(text, NULL, NULL);
    int read = 0;
    for (int32_t i = 0; i < g->op_count; i++) read += g->ops[i].input_count;
    assert_int_equal(g->op_count, 3);
    assert_int_equal(read, 42);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group_query),   cmocka_unit_test(test_recurrent),
        cmocka_unit_test(test_collectives),   cmocka_unit_test(test_branches),
        cmocka_unit_test(test_reduce_begins), cmocka_unit_test(test_reduced_integers),
        cmocka_unit_test(test_rules),         cmocka_unit_test(test_roles),
        cmocka_unit_test(test_many_operands)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
