/* Patterns in and out: what is accepted and how it is understood, what is refused and where the error
 * points, and round trips. */
#include "unstable.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define HEAD                "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"t\",\n"
#define GRAPH(tensors, ops) HEAD "\"tensors\": [\n" tensors "],\n\"ops\": [\n" ops "]}\n"
#define LIST(buffers)       HEAD "\"buffers\": [\n" buffers "]}\n"
#define XY                  "{\"name\": \"x\", \"shape\": [64, 128]},\n{\"name\": \"y\", \"shape\": [64, 128]}\n"
#define EXP                 "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\"}\n"

static const struct lx_graph *parse_as(const char *file, const char *text)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text(file, text, strlen(text), &st);
    if (!g) fail_msg("%s:%d:%d: %s\n%s", file, st.line, st.column, st.text, text);
    return g;
}

static const struct lx_graph *parse(const char *text)
{
    return parse_as("t.json", text);
}

static void test_shapes_and_bytes(void **state)
{
    (void)state;
    const struct lx_graph *g = parse(GRAPH("{\"name\": \"a\", \"shape\": [3, 5], \"dtype\": \"fp32\"},\n"
                                           "{\"name\": \"b\", \"shape\": [7], \"dtype\": \"int4\"},\n"
                                           "{\"name\": \"c\", \"shape\": []},\n"
                                           "{\"name\": \"d\", \"bytes\": 0}\n",
                                           ""));
    static const int64_t bytes[] = {60, 4, 2, 0};
    static const int rank[] = {2, 1, 0, -1};
    assert_int_equal(g->tensor_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(g->tensors[i].bytes, bytes[i]);
        assert_int_equal(g->tensors[i].rank, rank[i]);
        assert_int_equal(g->tensors[i].role, LX_INPUT);
    }
    assert_int_equal(g->tensors[2].dtype, LX_FP16);
    assert_int_equal(g->tensors[1].line, 4);
    lx_graph_free(g);
}

static void test_roles_follow_from_use(void **state)
{
    (void)state;
    const struct lx_graph *g = parse(
        GRAPH("{\"name\": \"x\", \"bytes\": 8},\n{\"name\": \"w\", \"bytes\": 8, \"role\": \"weight\"},\n"
              "{\"name\": \"m\", \"bytes\": 8},\n{\"name\": \"y\", \"bytes\": 8},\n"
              "{\"name\": \"kept\", \"bytes\": 8, \"role\": \"output\"}\n",
              "{\"name\": \"1\", \"kind\": \"add\", \"inputs\": [\"x\", \"w\"], \"output\": \"m\"},\n"
              "{\"name\": \"2\", \"kind\": \"exp\", \"inputs\": [\"m\"], \"output\": \"kept\"},\n"
              "{\"name\": \"3\", \"kind\": \"neg\", \"inputs\": [\"kept\"], \"output\": \"y\"}\n"));
    static const enum lx_role roles[] = {LX_INPUT, LX_WEIGHT, LX_INTERMEDIATE, LX_OUTPUT, LX_OUTPUT};
    for (int i = 0; i < 5; i++) assert_int_equal(g->tensors[i].role, roles[i]);
    lx_graph_free(g);
}

static void test_index_maps(void **state)
{
    (void)state;
    const struct lx_graph *g = parse(GRAPH(
        "{\"name\": \"q\", \"shape\": [2, 4, 16, 8]},\n{\"name\": \"k\", \"shape\": [2, 4, 32, 8]},\n"
        "{\"name\": \"s\", \"shape\": [2, 4, 16, 32]},\n{\"name\": \"m\", \"shape\": [2, 4, 16]},\n"
        "{\"name\": \"d\", \"shape\": [2, 4, 16, 32]},\n{\"name\": \"e\", \"shape\": [2, 4, 16, 32]},\n"
        "{\"name\": \"z\", \"shape\": [2, 4, 16, 32]}\n",
        "{\"name\": \"s\", \"kind\": \"matmul\", \"inputs\": [\"q\", \"k\"], \"output\": \"s\", "
        "\"einsum\": \"bhmd,bhnd->bhmn\"},\n"
        "{\"name\": \"m\", \"kind\": \"max\", \"inputs\": [\"s\"], \"output\": \"m\", \"einsum\": "
        "\"bhmn->bhm\"},\n"
        "{\"name\": \"d\", \"kind\": \"sub\", \"inputs\": [\"s\", \"m\"], \"output\": \"d\", "
        "\"einsum\": \"bhmn,bhm->bhmn\"},\n"
        "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"d\"], \"output\": \"e\"},\n"
        "{\"name\": \"z\", \"kind\": \"max\", \"inputs\": [\"e\"], \"output\": \"z\", \"value\": 0.5}\n"));
    const struct lx_einsum *map = g->ops[0].map;
    assert_non_null(map);
    assert_int_equal(map->var_count, 5);
    assert_int_equal(map->operand_count, 3);
    assert_memory_equal(map->letter, "bhmdn", 5);
    assert_int_equal(map->extent[3], 8);
    assert_int_equal(map->extent[4], 32);
    assert_int_equal(map->rank[2], 4);
    assert_int_equal(map->index[1][2], 4);
    static const bool reduces[] = {true, true, false, false, false};
    for (int i = 0; i < 5; i++) assert_int_equal(g->ops[i].reduces, reduces[i]);
    assert_string_equal(g->ops[3].einsum, "abcd->abcd"); /* implied: one shape */
    assert_true(g->ops[4].has_value && g->ops[4].value == 0.5);
    lx_graph_free(g);
}

static void test_broadcasts_views_and_rewrites(void **state)
{
    (void)state;
    const struct lx_graph *g = parse(
        GRAPH("{\"name\": \"v\", \"shape\": [8]},\n{\"name\": \"x\", \"shape\": [4, 8]},\n{\"name\": \"p\", "
              "\"shape\": [2, 3]},\n"
              "{\"name\": \"s\", \"shape\": [4, 8]}\n",
              "{\"name\": \"spread\", \"kind\": \"clone\", \"inputs\": [\"v\"], \"output\": \"x\", "
              "\"einsum\": \"n->mn\"},\n"
              "{\"name\": \"part\", \"kind\": \"slice\", \"inputs\": [\"x\"], \"output\": \"p\", \"offset\": "
              "[1, 2], "
              "\"stride\": [2, 2]},\n"
              "{\"name\": \"moved\", \"kind\": \"shift\", \"inputs\": [\"x\"], \"output\": \"s\", "
              "\"offset\": [0, -1]},\n"
              "{\"name\": \"back\", \"kind\": \"insert\", \"inputs\": [\"p\"], \"output\": \"s\", "
              "\"offset\": [2, 5]},\n"
              "{\"name\": \"again\", \"kind\": \"add\", \"inputs\": [\"s\", \"x\"], \"output\": \"s\"}\n"));
    assert_false(g->ops[0].reduces);
    assert_int_equal(g->ops[1].offset[1], 2);
    assert_int_equal(g->ops[1].stride[0], 2);
    assert_null(g->ops[2].stride);
    assert_int_equal(g->ops[2].offset[1], -1);
    assert_null(g->ops[3].einsum);
    lx_graph_free(g);
}

static void test_devices(void **state)
{
    (void)state;
    const struct lx_graph *g = parse(HEAD "\"device\": \"spyre\",\n\"buffers\": []}");
    assert_int_equal(lx_device_usable(&g->device), 1625344);
    assert_int_equal(g->list->alignment, 128);
    lx_graph_free(g);
    g = parse(HEAD "\"device\": {\"preset\": \"tenstorrent\", \"lx_bytes\": 1000, \"lx_reserved_bytes\": 0, "
                   "\"hbm_gb_per_s\": "
                   "1.5},\n\"buffers\": []}");
    assert_int_equal(g->device.cores, 64);
    assert_int_equal(lx_device_usable(&g->device), 1024); /* rounded up to sticks of 32 */
    assert_true(g->device.hbm_gb_per_s == 1.5);
    assert_int_equal(g->list->alignment, 32);
    uint64_t before = g->hash;
    lx_status st;
    const struct lx_graph *other = lx_graph_with_capacity(g, 512, &st), *third;
    assert_non_null(other);
    assert_true(other->hash != before && g->hash == before);
    assert_int_equal(lx_device_usable(&other->device), 512);
    assert_int_equal(lx_device_usable(&g->device), 1024);
    lx_graph_free(g); /* what it shares with the other lives on, also for a copy of the copy */
    third = lx_graph_with_capacity(other, 1024, &st);
    lx_graph_free(other);
    assert_non_null(third);
    assert_string_equal(third->name, "t");
    assert_ptr_equal(lx_graph_ref(third), third);
    lx_graph_free(third);
    assert_int_equal(third->device.cores, 64);
    lx_graph_free(third);
}

static void test_buffer_lists(void **state)
{
    (void)state;
    const struct lx_graph *g = parse(
        HEAD
        "\"capacity\": 4096, \"alignment\": 64, \"objective\": \"fit\",\n\"buffers\": [\n"
        "{\"name\": \"child\", \"size\": 100, \"uses\": [3, 5], \"in_place_parents\": [\"parent\"]},\n"
        "{\"name\": \"parent\", \"size\": 100, \"uses\": [0, 2, 3]},\n"
        "{\"name\": \"in\", \"size\": 10, \"uses\": [1, 2, 4], \"first_use_is_read\": true, \"end\": 9},\n"
        "{\"name\": \"held\", \"size\": 20, \"start\": 2, \"end\": 8, \"fixed\": 128, \"alignment\": 128, "
        "\"cost\": 7, "
        "\"reason\": \"because\"}]}");
    const struct lx_buffer *b = g->list->buffers;
    assert_true(g->list);
    assert_int_equal(g->list->objective, LX_FIT);
    assert_int_equal(g->list->capacity, 4096);
    assert_int_equal(b[0].parents[0], 1); /* a parent may stand further down */
    assert_int_equal(b[0].spill_cost, 200);
    assert_int_equal(b[1].start, 0);
    assert_int_equal(b[1].end, 4);
    assert_int_equal(b[1].spill_cost, 300);
    assert_int_equal(b[2].spill_cost, 20); /* read first: one read remains either way */
    assert_int_equal(b[2].end, 9);
    assert_int_equal(b[3].fixed, 128);
    assert_int_equal(b[3].spill_cost, 7);
    assert_int_equal(b[3].use_count, 0);
    assert_string_equal(b[3].reason, "because");
    lx_graph_free(g);
}

/* The mistake stands where '@' is; it is taken out before the text is read. */
static const struct {
    enum lx_code code;
    const char *text;
} mistakes[] = {
    {LX_E_SYNTAX, "@"},
    {LX_E_SYNTAX, HEAD "\"tensors\": [], \"ops\": []@"},
    {LX_E_SYNTAX, GRAPH(XY, EXP) "@{}"},
    {LX_E_SYNTAX, GRAPH(XY ",\n@", EXP)},
    {LX_E_SYNTAX, HEAD "\"capacity\": @NaN}"},
    {LX_E_SYNTAX, HEAD "\"capacity\": 0@x10}"},
    {LX_E_SYNTAX, HEAD "\"summary\": \"open@\n\"}"},
    {LX_E_RANGE, LIST("{\"name\": \"a\", \"size\": @9007199254740993, \"uses\": [1]}")},
    {LX_E_RANGE, LIST("{\"name\": \"a\", \"size\": @-1, \"uses\": [1]}")},
    {LX_E_RANGE, LIST("{\"name\": \"a\", \"size\": @1e999, \"uses\": [1]}")},
    {LX_E_SCHEMA, LIST("{\"name\": \"a\", \"size\": @1.5, \"uses\": [1]}")},
    {LX_E_SCHEMA, LIST("@{\"name\": \"a\", \"size\": 1}")},
    {LX_E_SCHEMA, LIST("{\"name\": \"a\", \"size\": 1, \"uses\": [1], @\"colour\": \"red\"}")},
    {LX_E_SCHEMA, LIST("{\"name\": \"a\", \"size\": 1, \"uses\": [1, @\"2\"]}")},
    {LX_E_SCHEMA, LIST("{\"name\": @7, \"size\": 1, \"uses\": [1]}")},
    {LX_E_DUPLICATE, LIST("{\"name\": \"a\", \"size\": 1, @\"size\": 1, \"uses\": [1]}")},
    {LX_E_DUPLICATE,
     LIST("{\"name\": \"a\", \"size\": 1, \"uses\": [1]},\n@{\"name\": \"a\", \"size\": 1, \"uses\": [1]}")},
    {LX_E_UNKNOWN_NAME,
     LIST("{\"name\": \"a\", \"size\": 1, \"uses\": [1], \"in_place_parents\": [@\"b\"]}")},
    {LX_E_SCHEMA, "@{\"kind\": \"pattern\", \"name\": \"t\", \"buffers\": []}"},
    {LX_E_SCHEMA, "{\"lxplan\": @2, \"kind\": \"pattern\", \"name\": \"t\", \"buffers\": []}"},
    {LX_E_SCHEMA, "{\"lxplan\": 1, \"kind\": @\"plan\", \"name\": \"t\", \"buffers\": []}"},
    {LX_E_SCHEMA, "@[]"},
    {LX_E_SCHEMA, HEAD "\"objective\": @\"speed\", \"buffers\": []}"},
    {LX_E_UNKNOWN_NAME, HEAD "\"device\": @\"abacus\", \"buffers\": []}"},
    {LX_E_SCHEMA, HEAD "\"device\": {@\"wheels\": 4}, \"buffers\": []}"},
    {LX_E_RANGE, HEAD "\"device\": {\"cores\": @0}, \"buffers\": []}"},
    {LX_E_RANGE, HEAD "\"device\": {\"cores\": @2.5}, \"buffers\": []}"},
    {LX_E_SCHEMA, HEAD "\"buffers\": [], \"expect\": {\"greedy\": @\"maybe\"}}"},
    {LX_E_SCHEMA, GRAPH("@{\"name\": \"x\"},\n" XY, "")},
    {LX_E_UNKNOWN_KIND, GRAPH("{\"name\": \"x\", \"shape\": [2], \"dtype\": @\"fp12\"}\n", "")},
    {LX_E_ROLE, GRAPH("{\"name\": \"x\", \"shape\": [2], \"role\": @\"king\"}\n", "")},
    {LX_E_RANGE, GRAPH("{\"name\": \"x\", \"shape\": [2, @0]}\n", "")},
    {LX_E_LIMIT, GRAPH("{\"name\": \"x\", \"shape\": @[1, 1, 1, 1, 1, 1, 1, 1, 1]}\n", "")},
    {LX_E_RANGE, GRAPH("@{\"name\": \"x\", \"shape\": [1000000000, 1000000000, 1000000000]}\n", "")},
    {LX_E_UNKNOWN_NAME,
     GRAPH(XY, "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [@\"z\"], \"output\": \"y\"}")},
    {LX_E_UNKNOWN_NAME,
     GRAPH(XY, "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": @\"z\"}")},
    {LX_E_SCHEMA, GRAPH(XY, "@{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"]}")},
    {LX_E_UNKNOWN_KIND,
     GRAPH(XY, "{\"name\": \"e\", \"kind\": @\"expo\", \"inputs\": [\"x\"], \"output\": \"y\"}")},
    {LX_E_SCHEMA,
     GRAPH(XY, "@{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\", \"x\"], \"output\": \"y\"}")},
    {LX_E_SCHEMA,
     GRAPH(XY,
           "@{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\", \"value\": 1}")},
    {LX_E_DUPLICATE, GRAPH(XY, EXP ",@" EXP)},
    {LX_E_EINSUM, GRAPH(XY, "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\", "
                            "\"einsum\": @\"mn\"}")},
    {LX_E_EINSUM, GRAPH(XY, "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\", "
                            "\"einsum\": @\"m2->mn\"}")},
    {LX_E_EINSUM, GRAPH(XY, "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\", "
                            "\"einsum\": @\"mn->mk\"}")},
    {LX_E_SHAPE, GRAPH(XY, "{\"name\": \"e\", \"kind\": \"exp\", \"inputs\": [\"x\"], \"output\": \"y\", "
                           "\"einsum\": @\"mn->nm\"}")},
    {LX_E_EINSUM, GRAPH(XY, "{\"name\": \"e\", \"kind\": \"sum\", \"inputs\": [\"x\"], \"output\": \"y\", "
                            "\"einsum\": @\"mn->mn\"}")},
    {LX_E_EINSUM, GRAPH(XY, "{\"name\": \"e\", \"kind\": \"max\", \"inputs\": [\"x\"], \"output\": \"y\", "
                            "\"einsum\": @\"mn->mk\"}")},
    {LX_E_EINSUM,
     GRAPH(XY, "@{\"name\": \"e\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"x\"], \"output\": \"y\"}")},
    {LX_E_SHAPE,
     GRAPH(XY, "@{\"name\": \"e\", \"kind\": \"slice\", \"inputs\": [\"x\"], \"output\": \"y\"}")},
    {LX_E_SHAPE, GRAPH(XY, "@{\"name\": \"e\", \"kind\": \"slice\", \"inputs\": [\"x\"], \"output\": \"y\", "
                           "\"offset\": [0, 1]}")},
    {LX_E_SHAPE,
     GRAPH(
         "{\"name\": \"x\", \"shape\": [4]}, {\"name\": \"y\", \"bytes\": 8}",
         "@{\"name\": \"e\", \"kind\": \"slice\", \"inputs\": [\"x\"], \"output\": \"y\", \"offset\": [0]}")},
    {LX_E_ORDER,
     GRAPH(XY ",{\"name\": \"z\", \"shape\": [64, 128]}",
           "@{\"name\": \"f\", \"kind\": \"neg\", \"inputs\": [\"y\"], \"output\": \"z\"},\n" EXP)},
    {LX_E_CYCLE,
     GRAPH(XY, "@{\"name\": \"f\", \"kind\": \"neg\", \"inputs\": [\"y\"], \"output\": \"x\"},\n" EXP)},
    {LX_E_ROLE,
     GRAPH("{\"name\": \"x\", \"bytes\": 8},\n@{\"name\": \"y\", \"bytes\": 8, \"role\": \"weight\"}\n",
           EXP)},
    {LX_E_ROLE, GRAPH(XY ",\n@{\"name\": \"z\", \"bytes\": 8, \"role\": \"output\"}\n", EXP)},
};

static void test_mistakes_are_shown_where_they_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const char *text = mistakes[i].text, *mark = strchr(text, '@');
        assert_non_null(mark);
        int line = 1, column = 1;
        for (const char *p = text; p < mark; p++) {
            column = *p == '\n' ? 1 : column + 1;
            line += *p == '\n';
        }
        char *clean = mem_string(text);
        assert_non_null(clean);
        memmove(clean + (mark - text), mark + 1, strlen(mark));
        lx_status st = {0};
        const struct lx_graph *g = lx_graph_of_text("t.json", clean, strlen(clean), &st);
        if (g) fail_msg("accepted: %s", text);
        if (st.code != mistakes[i].code || st.line != line || st.column != column)
            fail_msg("wanted %s at %d:%d, got %s at %d:%d (%s) for: %s", lx_code_word(mistakes[i].code), line,
                     column, lx_code_word(st.code), st.line, st.column, st.text, text);
        assert_string_equal(st.file, "t.json");
        mem_free(clean);
    }
}

static void test_hostile_text_ends_soon(void **state)
{
    (void)state;
    size_t n = 4 << 20;
    char *text = mem_alloc(n);
    lx_status st = {0};
    assert_non_null(text);
    memset(text, '[', n);
    assert_null(lx_graph_of_text("t.json", text, n, &st));
    assert_int_equal(st.code, LX_E_LIMIT);
    text[10] = 0;
    memset(text, '"', 10);
    assert_null(lx_graph_of_text("t.json", text, n, &st));
    assert_int_equal(st.code, LX_E_SYNTAX);
    mem_free(text);
}

static void check_round_trip(const struct lx_graph *a)
{
    size_t n, m;
    char *one = lx_graph_to_json(a, &n);
    assert_non_null(one);
    const struct lx_graph *b = parse(one);
    char *two = lx_graph_to_json(b, &m);
    assert_non_null(two);
    assert_int_equal(n, m);
    assert_string_equal(one, two);
    assert_true(a->hash == b->hash);
    mem_free(one);
    mem_free(two);
    lx_graph_free(b);
}

static void test_round_trips(void **state)
{
    (void)state;
    static const char *const files[] = {"targets/gqattention",      "targets/eviction_reallocation",
                                        "graphs/softmax_512x1024",  "graphs/stencil_star",
                                        "graphs/transformer_block", "graphs/moe_mlp",
                                        "errors/fixed_misaligned",  "errors/in_place_larger_child"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[500];
        lx_status st;
        snprintf(path, sizeof path, "%s/patterns/%s.json", SOURCE_DIR, files[i]);
        const struct lx_graph *g = lx_graph_read(path, &st);
        if (!g) fail_msg("%s: %s", path, st.text);
        check_round_trip(g);
        lx_graph_free(g);
    }
    const struct lx_graph *g =
        parse("{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"quote \\\" and \\u00e9\\t\", \"device\": "
              "{\"cores\": 4, "
              "\"lx_reserved_fraction\": 0.1}, \"objective\": \"height\", \"buffers\": [{\"name\": \"a,b\", "
              "\"size\": 3, "
              "\"uses\": [1, 4], \"end\": 7, \"cost\": 0}, {\"name\": \"c\", \"size\": 0, \"start\": 0, "
              "\"end\": 1}], "
              "\"target_hbm_bytes\": 0, \"expect\": {\"greedy\": \"pass\", \"ilp\": \"fail\"}}");
    assert_int_equal(g->expect_count, 2);
    assert_false(g->expects[1].pass);
    check_round_trip(g);
    lx_graph_free(g);
}

/* Integers that a double has not, through the text and back. */
static void test_wide_integers_are_exact(void **state)
{
    (void)state;
    const struct lx_graph *g =
        parse(GRAPH("{\"name\": \"x\", \"shape\": [3], \"dtype\": \"int64\"},\n"
                    "{\"name\": \"c\", \"shape\": [3], \"dtype\": \"int64\"},\n"
                    "{\"name\": \"u\", \"shape\": [], \"dtype\": \"uint64\"},\n"
                    "{\"name\": \"y\", \"shape\": [3], \"dtype\": \"int64\"}\n",
                    "{\"name\": \"c\", \"kind\": \"constant\", \"inputs\": [], \"output\": \"c\", \"data\": "
                    "[9007199254740993, -9223372036854775808, 7]},\n"
                    "{\"name\": \"u\", \"kind\": \"constant\", \"inputs\": [], \"output\": \"u\", \"data\": "
                    "18446744073709551615},\n"
                    "{\"name\": \"y\", \"kind\": \"min\", \"inputs\": [\"x\"], \"output\": \"y\", \"value\": "
                    "9223372036854775807}\n"));
    assert_true(g->ops[0].data->wholes[0] == 9007199254740993 && g->ops[0].data->wholes[1] == INT64_MIN);
    assert_true(g->ops[0].data->wholes[2] == 7 && g->ops[1].data->wholes[0] == -1);
    assert_true(g->ops[2].whole == INT64_MAX && g->ops[2].value == 0x1p63);
    size_t n;
    char *text = lx_graph_to_json(g, &n);
    assert_non_null(strstr(text, "[9007199254740993, -9223372036854775808, 7]"));
    assert_non_null(strstr(text, "\"data\": 18446744073709551615}"));
    assert_non_null(strstr(text, "\"value\": 9223372036854775807}"));
    mem_free(text);
    check_round_trip(g);
    lx_graph_free(g);
}

static void test_the_hash_is_of_what_is_planned(void **state)
{
    (void)state;
    const struct lx_graph *a = parse(GRAPH(XY, EXP));
    const struct lx_graph *b = parse_as(
        "other.json", "{\"kind\": \"pattern\", \"lxplan\": 1, \"name\": \"u\", \"summary\": \"s\", "
                      "\"tensors\": [" XY "], \"ops\": [" EXP "], \"expect\": {\"greedy\": \"fail\"}}");
    const struct lx_graph *c = parse(
        GRAPH("{\"name\": \"x\", \"shape\": [64, 127]},\n{\"name\": \"y\", \"shape\": [64, 127]}", EXP));
    assert_true(a->hash == b->hash);
    assert_true(a->hash != c->hash);
    lx_graph_free(a);
    lx_graph_free(b);
    lx_graph_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_and_bytes),
        cmocka_unit_test(test_roles_follow_from_use),
        cmocka_unit_test(test_index_maps),
        cmocka_unit_test(test_broadcasts_views_and_rewrites),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_buffer_lists),
        cmocka_unit_test(test_mistakes_are_shown_where_they_are),
        cmocka_unit_test(test_hostile_text_ends_soon),
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_wide_integers_are_exact),
        cmocka_unit_test(test_the_hash_is_of_what_is_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
