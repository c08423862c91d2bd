/* Buffer lists as comma-separated values: both forms in and out, capacities in file names, mistakes. */
#include "unstable.h"
#include "base/memory.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const struct lx_graph *parse_as(const char *file, const char *text)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_of_text(file, text, strlen(text), &st);
    if (!g) fail_msg("%s:%d:%d: %s", file, st.line, st.column, st.text);
    return g;
}

/* Malloc'ed: the buffers of a list in a format of lists. */
static char *write_as(const char *format, const struct lx_graph *g)
{
    size_t length;
    struct lx_buffers list = {g->list->buffers, g->list->buffer_count, g->list->alignment,
                              g->list->buffer_ids};
    char *csv = lx_format_find(format)->write_buffers(&list, &length);
    assert_non_null(csv);
    assert_int_equal(strlen(csv), length);
    return csv;
}

static char *write_graph_as(const char *format, const struct lx_graph *g)
{
    size_t length;
    char *text = lx_format_find(format)->write_graph(g, &length);
    assert_non_null(text);
    return text;
}

static void test_minimalloc_csv(void **state)
{
    (void)state;
    const struct lx_graph *g =
        parse_as("dir.99/A.1048576.csv", "upper,id,size,lower\n3,a,10,0\n9,\"b,\"\"c\",20,3\n");
    assert_true(g->list);
    assert_int_equal(g->list->capacity, 1048576);
    assert_int_equal(g->list->objective, LX_SPILL);
    assert_int_equal(g->list->alignment, 1);
    assert_int_equal(g->list->buffer_count, 2);
    assert_string_equal(g->list->buffers[1].name, "b,\"c");
    assert_int_equal(g->list->buffers[1].start, 3);
    assert_int_equal(g->list->buffers[1].end, 9);
    assert_int_equal(g->list->buffers[1].spill_cost, 20);
    assert_int_equal(g->list->buffers[1].fixed, -1);
    lx_graph_free(g);
    g = parse_as("A.csv",
                 "id,lower,upper,size,offset,alignment,weight\r\n1,0,3,10,,1,5\r\n2,1,4,64,128,64,\r\n");
    assert_int_equal(g->list->capacity, -1);
    assert_int_equal(g->list->objective, LX_HEIGHT);
    assert_int_equal(g->list->buffers[0].spill_cost, 5);
    assert_int_equal(g->list->buffers[0].alignment, 0);
    assert_int_equal(g->list->buffers[1].fixed, 128);
    assert_int_equal(g->list->buffers[1].alignment, 64);
    assert_int_equal(g->list->buffers[1].spill_cost, 64);
    lx_graph_free(g);
}

static void test_capacity_in_file_names(void **state)
{
    (void)state;
    static const char plain[] = "id,lower,upper,size\na,0,3,10\n",
                      weighed[] = "id,lower,upper,size,weight\na,0,3,10,1\n";
    static const struct {
        const char *file, *text;
        int64_t capacity;
    } cases[] = {
        {"NAME.4096.csv", plain, 4096},   {"x/NAME.4096.csv", weighed, 4096},
        {"NAME_4096.csv", weighed, 4096}, {"NAME_4096.csv", plain, -1},
        {"NAME4096.csv", weighed, -1},    {"4096.csv", plain, -1},
        {"NAME.4096x.csv", plain, -1},    {"d.4096/NAME.csv", plain, -1},
        {"standard input", plain, -1},    {"N.99999999999999999999.csv", plain, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lx_graph *g = parse_as(cases[i].file, cases[i].text);
        assert_int_equal(g->list->capacity, cases[i].capacity);
        assert_int_equal(g->list->objective, cases[i].capacity < 0 ? LX_HEIGHT : LX_SPILL);
        lx_graph_free(g);
    }
}

static void test_xla_csv(void **state)
{
    (void)state;
    const struct lx_graph *g =
        parse_as("x.csv", "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,"
                          "is_scoped\n0,first,12.6,100,5,9;7;7,\"a;b\",false\n1,second,-3,8,2,,,true\n");
    assert_int_equal(g->list->buffer_count, 2);
    assert_int_equal(g->list->objective, LX_SPILL);
    assert_int_equal(g->list->buffers[0].use_count, 3);
    assert_int_equal(g->list->buffers[0].uses[1], 7);
    assert_int_equal(g->list->buffers[0].end, 10);
    assert_int_equal(g->list->buffers[0].spill_cost, 13);
    assert_int_equal(g->list->buffers[1].spill_cost, 0);
    assert_int_equal(g->list->buffers[1].end, 3);
    lx_graph_free(g);
}

/* Numbers of another tool go all the way; 0, 1, 2 are nobody's, and one that stands twice names neither. */
static void test_xla_ids(void **state)
{
    static const struct {
        int64_t ids[3];
        bool kept;
    } cases[] = {{{41, -7, 3}, true}, {{0, 1, 2}, false}, {{5, 6, 5}, false}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[300];
        int n = snprintf(text, sizeof text,
                         "buffer_id,buffer_name,alt_mem_benefit,size,definition_time,use_times,use_names,"
                         "is_scoped\n");
        for (int i = 0; i < 3; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%" PRId64 ",b%d,9,64,%d,5,,false\n",
                          cases[k].ids[i], i, i);
        const struct lx_graph *g = parse_as("x.csv", text);
        assert_int_equal(g->list->buffer_ids != NULL, cases[k].kept);
        char *csv = write_as("xla", g), *json = write_graph_as("pattern", g);
        if (cases[k].kept) assert_string_equal(csv, text);
        const struct lx_graph *again = parse_as("x.json", json);
        assert_true(again->hash == g->hash);
        assert_int_equal(again->list->buffer_ids != NULL, cases[k].kept);
        for (int i = 0; i < 3 && cases[k].kept; i++)
            assert_int_equal(again->list->buffer_ids[i], cases[k].ids[i]);
        lx_graph_free(g), lx_graph_free(again);
        mem_free(csv), mem_free(json);
    }
}

static void test_csv_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum lx_code code;
        int line, column;
    } cases[] = {
        {"id,lower,upper\na,0,1\n", LX_E_SCHEMA, 1, 1},
        {"id,lower,upper,size,colour\na,0,1,2,3\n", LX_E_SCHEMA, 1, 21},
        {"id,lower,upper,size,size\na,0,1,2,3\n", LX_E_DUPLICATE, 1, 21},
        {"id,lower,upper,size\na,0,1\n", LX_E_SYNTAX, 2, 1},
        {"id,lower,upper,size\na,0,1,2\n\nb,0,x,2\n", LX_E_SYNTAX, 4, 5},
        {"id,lower,upper,size\na,5,5,2\n", LX_E_RANGE, 2, 5},
        {"id,lower,upper,size\na,0,1,-2\n", LX_E_RANGE, 2, 7},
        {"id,lower,upper,size\na,0,1,99999999999999999999\n", LX_E_SYNTAX, 2, 7},
        {"id,lower,upper,size\na,0,1,2\na,0,1,2\n", LX_E_DUPLICATE, 3, 1},
        {"id,lower,upper,size\n\"a,0,1,2\n", LX_E_SYNTAX, 2, 1},
        {"buffer_name,buffer_id,alt_mem_benefit,size,definition_time,use_times\na,x,1,8,0,1\n", LX_E_SYNTAX,
         2, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lx_status st = {0};
        const struct lx_graph *g = lx_graph_of_text("t.csv", cases[i].text, strlen(cases[i].text), &st);
        if (g) fail_msg("accepted: %s", cases[i].text);
        if (st.code != cases[i].code || st.line != cases[i].line || st.column != cases[i].column)
            fail_msg("wanted %s at %d:%d, got %s at %d:%d (%s) for: %s", lx_code_word(cases[i].code),
                     cases[i].line, cases[i].column, lx_code_word(st.code), st.line, st.column, st.text,
                     cases[i].text);
    }
}

static void test_csv_round_trips(void **state)
{
    (void)state;
    static const char text[] =
        "id,lower,upper,size,offset,alignment,weight\na,0,3,10,,64,5\n\"b,c\",1,4,64,128,64,9\n";
    const struct lx_graph *a = parse_as("a.1000.csv", text);
    char *csv = write_as("minimalloc", a);
    const struct lx_graph *b = parse_as("b.1000.csv", csv);
    assert_true(a->hash == b->hash);
    mem_free(csv);
    lx_graph_free(b);
    csv = write_as("xla", a);
    b = parse_as("b.csv", csv);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(a->list->buffers[i].name, b->list->buffers[i].name);
        assert_int_equal(a->list->buffers[i].start, b->list->buffers[i].start);
        assert_int_equal(a->list->buffers[i].end, b->list->buffers[i].end);
        assert_int_equal(a->list->buffers[i].spill_cost, b->list->buffers[i].spill_cost);
    }
    mem_free(csv);
    lx_graph_free(a);
    lx_graph_free(b);
    /* A life that outlasts its uses (a loop) must not become shorter on the way. */
    a = parse_as("l.json", "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"l\", \"buffers\": ["
                           "{\"name\": \"a\", \"size\": 8, \"uses\": [0, 3], \"end\": 10},"
                           "{\"name\": \"b\", \"size\": 8, \"uses\": [2], \"end\": 5},"
                           "{\"name\": \"c\", \"size\": 8, \"uses\": [1, 4]}]}");
    csv = write_as("xla", a);
    b = parse_as("l.csv", csv);
    for (int i = 0; i < 3; i++) assert_int_equal(a->list->buffers[i].end, b->list->buffers[i].end);
    assert_int_equal(b->list->buffers[2].use_count, 2);
    mem_free(csv);
    lx_graph_free(a);
    lx_graph_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_minimalloc_csv), cmocka_unit_test(test_capacity_in_file_names),
        cmocka_unit_test(test_xla_ids),        cmocka_unit_test(test_xla_csv),
        cmocka_unit_test(test_csv_mistakes),   cmocka_unit_test(test_csv_round_trips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
