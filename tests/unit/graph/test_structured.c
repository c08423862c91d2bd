/* Readers of structured placement problems: dsa-problem-v1 and D2M. What they mean, and where mistakes are. */
#include "unstable.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char whole[] =
    "{\"schema_version\": 1, \"profile\": \"pypto_hard_v1\", \"instance\": \"i\",\n"
    "\"metadata\": {\"corpus_problem_fingerprint_fnv1a64\": \"00ff\"},\n"
    "\"problem\": {\"pools\": [{\"id\": 9, \"name\": \"Vec\", \"capacity\": 64, \"reserved_ranges\": "
    "[{\"begin\": 0, \"end\": 8}]},\n"
    "{\"id\": 2, \"name\": \"Acc\", \"capacity\": null}],\n"
    "\"buffers\": [{\"id\": 5, \"name\": \"x\", \"size\": 8, \"alignment\": 4, \"live_intervals\": "
    "[{\"lower\": 4, \"upper\": 6}, "
    "{\"lower\": -3, \"upper\": 0}, {\"lower\": -1, \"upper\": 2}], \"allowed_pools\": [2, 9]},\n"
    "{\"id\": 1, \"name\": \"x\", \"size\": 16, \"live_intervals\": [{\"lower\": 0, \"upper\": 3}], "
    "\"allowed_pools\": [9]},\n"
    "{\"id\": 3, \"size\": 8, \"live_intervals\": [{\"lower\": 1, \"upper\": 3}], \"allowed_pools\": [9]},\n"
    "{\"id\": 4, \"size\": 8, \"live_intervals\": [{\"lower\": 1, \"upper\": 3}], \"allowed_pools\": [9]}],\n"
    "\"constraints\": {\"colocations\": [{\"first\": 3, \"second\": 4}], \"separations\": [{\"first\": 5, "
    "\"second\": 1, "
    "\"reasons\": [\"generic\"]}],\n"
    "\"temporal_exclusions\": [{\"first\": 1, \"second\": 3}], \"pinned_allocations\": [{\"buffer\": 1, "
    "\"pool\": 9, "
    "\"offset\": 16, \"exclusive_for_all_time\": true}]},\n"
    "\"cost_model\": {\"reuse_penalties\": [{\"first\": 5, \"second\": 3, \"cost\": 2, \"reason\": "
    "\"r\"}]},\n"
    "\"objective\": {\"aggregation\": \"lexicographic\", \"terms\": [\"capacity_overflow\", "
    "\"reuse_cost\"]}}}";

static const struct lx_graph *parse(const char *text, lx_status *st)
{
    memset(st, 0, sizeof *st);
    return lx_graph_of_text("t.json", text, strlen(text), st);
}

static void test_dsa_problem(void **state)
{
    (void)state;
    lx_status st;
    const struct lx_graph *g = parse(whole, &st);
    if (!g) fail_msg("%d:%d: %s", st.line, st.column, st.text);
    const struct lx_buffer *b = g->list->buffers;
    assert_true(g->list && g->list->objective == LX_SPILL && g->list->pool_count == 2 &&
                g->list->buffer_count == 4);
    assert_string_equal(g->list->pools[0].name, "Vec#9");
    assert_int_equal(g->list->pools[0].reserved_count, 1);
    assert_true(g->list->pools[1].capacity > 40); /* no limit: room for everything */
    assert_string_equal(b[0].name, "x#5");
    assert_true(b[0].must && b[0].alignment == 4 && b[0].pool_count == 2 && b[0].pools[0] == 1);
    assert_true(b[0].life_count == 2 && b[0].lives[0].start == 0 && b[0].lives[0].end == 5);
    assert_true(b[0].lives[1].start == 7 && b[0].end == 9);
    assert_true(b[1].fixed == 16 && b[1].fixed_pool == 0 && b[1].alone && b[1].start == 3);
    assert_true(g->list->bonds.same_place_count == 1 && g->list->bonds.same_place[0].count == 2);
    assert_true(g->list->bonds.apart_count == 1 && g->list->bonds.apart[0].a == 0 &&
                g->list->bonds.apart[0].b == 1);
    assert_true(g->list->bonds.exclusive_count == 1 && g->list->bonds.reuse_count == 1 &&
                g->list->bonds.reuse[0].cost == 2);
    lx_graph_free(g);
}

/* `was` becomes `is`; the error must have this code and stand on this line. */
static const struct mistake {
    const char *was, *is;
    enum lx_code code;
    int line;
} mistakes[] = {
    {"\"schema_version\": 1", "\"schema_version\": 2", LX_E_RANGE, 1},
    {"pypto_hard_v1", "other", LX_E_SCHEMA, 1},
    {"\"instance\": \"i\"", "\"relaxed_from\": \"i\"", LX_E_SCHEMA, 1},
    {"\"00ff\"", "3", LX_E_SCHEMA, 2},
    {"\"end\": 8", "\"end\": 80", LX_E_RANGE, 3},
    {"\"end\": 8", "\"end\": 0", LX_E_RANGE, 3},
    {"\"name\": \"Vec\"", "\"colour\": \"red\"", LX_E_SCHEMA, 3},
    {"\"id\": 2", "\"id\": 9", LX_E_DUPLICATE, 4},
    {"\"alignment\": 4", "\"alignment\": 0", LX_E_RANGE, 5},
    {"\"upper\": 6", "\"upper\": 4", LX_E_RANGE, 5},
    {"[2, 9]", "[2, 2]", LX_E_DUPLICATE, 5},
    {"[2, 9]", "[2, 7]", LX_E_UNKNOWN_NAME, 5},
    {"[2, 9]", "[]", LX_E_SCHEMA, 5},
    {"\"size\": 16", "\"size\": 0", LX_E_RANGE, 6},
    {"\"id\": 4, \"size\"", "\"id\": 3, \"size\"", LX_E_DUPLICATE, 8},
    {"\"first\": 3, \"second\": 4", "\"first\": 3, \"second\": 3", LX_E_MODEL, 9},
    {"\"first\": 1, \"second\": 3", "\"first\": 1, \"second\": 30", LX_E_UNKNOWN_NAME, 10},
    {"\"cost\": 2", "\"cost\": -2", LX_E_RANGE, 11},
    {"\"reuse_cost\"]", "\"bank_cost\"]", LX_E_UNSUPPORTED, 12},
    {"\"reuse_cost\"]", "\"beauty\"]", LX_E_UNSUPPORTED, 12},
    {"lexicographic", "weighted", LX_E_UNSUPPORTED, 12},
};

static void test_dsa_mistakes(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
        const struct mistake *m = &mistakes[k];
        const char *at = strstr(whole, m->was);
        assert_non_null(at);
        char text[sizeof whole + 64];
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, m->is, at + strlen(m->was));
        lx_status st;
        const struct lx_graph *g = parse(text, &st);
        if (g || st.code != m->code || st.line != m->line)
            fail_msg("%s: %s at %d:%d: %s", m->is, lx_code_word(st.code), st.line, st.column, st.text);
    }
}

static void test_dsa_objectives(void **state)
{
    (void)state;
    static const struct {
        const char *terms;
        enum lx_objective objective;
    } asked[] = {{"[\"total_peak\", \"max_peak\"]", LX_HEIGHT},
                 {"[\"capacity_overflow\", \"total_peak\"]", LX_HEIGHT},
                 {"[\"capacity_overflow\"]", LX_FIT},
                 {"[\"capacity_overflow\", \"reuse_cost\"]", LX_SPILL}};
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        static const char was[] = "[\"capacity_overflow\", \"reuse_cost\"]";
        const char *at = strstr(whole, was);
        char text[sizeof whole + 64];
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, asked[k].terms, at + strlen(was));
        lx_status st;
        const struct lx_graph *g = parse(text, &st);
        if (!g) fail_msg("%s: %s", asked[k].terms, st.text);
        assert_int_equal(g->list->objective, asked[k].objective);
        lx_graph_free(g);
    }
}

static const char dump[] =
    "{\"variables\": [{\"placement\": \"NA\", \"bound\": false, \"domain\": {\"scratch\": [0, 1], \"spill\": "
    "[2]}},\n"
    "{\"placement\": \"scratch\", \"bound\": true, \"domain\": {\"scratch\": [3], \"spill\": []}},\n"
    "{\"placement\": \"spill\", \"bound\": true, \"domain\": {\"scratch\": [], \"spill\": [4]}}],\n"
    "\"requests\": [[0, 0, 2, 64, -1], [0, 5, 6, 32, -1], [0, 2, 2, 4, -1], [1, 1, 3, 8, 0], [2, 3, 3, 2, "
    "-1]]}";

static void test_d2m(void **state)
{
    (void)state;
    lx_status st;
    const struct lx_graph *g = parse(dump, &st);
    if (!g) fail_msg("%d:%d: %s", st.line, st.column, st.text);
    const struct lx_buffer *b = g->list->buffers;
    assert_true(g->list && g->list->objective == LX_SPILL && g->list->capacity == -1 &&
                g->list->buffer_count == 6);
    assert_true(b[0].spill_cost == 96 && b[1].spill_cost == 0 && b[0].end == 3 && b[1].start == 5);
    assert_true(g->list->bonds.together_count == 1 && g->list->bonds.together[0].count == 2);
    assert_true(g->list->bonds.staging_count == 2 && g->list->bonds.staging[0].a == 2 &&
                g->list->bonds.staging[0].b == 0);
    assert_true(b[3].must && b[4].reason && b[4].size == 0);
    assert_true(g->list->bonds.staging[1].a == 5 && g->list->bonds.staging[1].b == 4);
    lx_graph_free(g);
}

static void test_d2m_mistakes(void **state)
{
    (void)state;
    static const struct mistake wrong[] = {
        {"[0, 1]", "[0, 0]", LX_E_MODEL, 1},
        {"[0, 1]", "[0, 3]", LX_E_MODEL, 1},
        {"[0, 1]", "[0, 7]", LX_E_RANGE, 1},
        {"\"spill\": [2]", "\"dram\": [2]", LX_E_SCHEMA, 1},
        {"\"scratch\", \"b", "\"NA\", \"b", LX_E_MODEL, 2},
        {"[1, 1, 3, 8, 0]", "[1, 3, 1, 8, 0]", LX_E_RANGE, 4},
        {"[1, 1, 3, 8, 0]", "[1, 1, 3, 8]", LX_E_SCHEMA, 4},
        {"[1, 1, 3, 8, 0]", "[9, 1, 3, 8, 0]", LX_E_RANGE, 4},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const char *at = strstr(dump, wrong[k].was);
        assert_non_null(at);
        char text[sizeof dump + 64];
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - dump), dump, wrong[k].is,
                 at + strlen(wrong[k].was));
        lx_status st;
        const struct lx_graph *g = parse(text, &st);
        if (g || st.code != wrong[k].code || st.line != wrong[k].line)
            fail_msg("%s: %s at %d:%d: %s", wrong[k].is, lx_code_word(st.code), st.line, st.column, st.text);
    }
}

static void test_dsa_solution(void **state)
{
    (void)state;
    lx_status st;
    const struct lx_graph *g = parse(whole, &st);
    assert_non_null(g);
    const struct lx_format *f = lx_format_find("dsa");
    size_t length;
    char *text = f->write_answer(g, (int64_t[]){0, 16, 8, 8}, (int32_t[]){1, 0, 0, 0}, &length, &st);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"problem_fingerprint\": \"00ff\""));
    assert_non_null(strstr(text, "{\"buffer\": 5, \"pool\": 2, \"offset\": 0}"));
    assert_non_null(strstr(text, "{\"buffer\": 1, \"pool\": 9, \"offset\": 16}"));
    mem_free(text);
    lx_graph_free(g);
    g = parse(dump, &st);
    assert_null(f->write_answer(g, (int64_t[]){-1, -1, -1, -1, -1, -1}, NULL, &length, &st));
    assert_int_equal(st.code, LX_E_UNSUPPORTED);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dsa_problem),    cmocka_unit_test(test_dsa_mistakes),
        cmocka_unit_test(test_dsa_objectives), cmocka_unit_test(test_d2m),
        cmocka_unit_test(test_d2m_mistakes),   cmocka_unit_test(test_dsa_solution),
    };
    return cmocka_run_group_tests_name("structured", tests, NULL, NULL);
}
