/* Plans with nests in files: read back they are the same plan, and a file that states a nest or a hold that cannot be is
 * refused with its place. */
#include "lxplan.h"
#include "plan/plan_fields.h"
#include "support/nest_plans.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* Written, read and written again: the same bytes. Returns how many nests it had. */
static int32_t comes_back(struct lx_plan *p, const char *name, const lx_status *made)
{
    lx_status st = {0};
    size_t length, again_length;
    if (!p) fail_msg("%s: %s", name, made->text);
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *back = lx_plan_parse("plan", text, length, &st);
    if (!back) fail_msg("%s: line %d: %s", name, st.line, st.text);
    char *again = lx_plan_to_json(back, &again_length);
    assert_string_equal(text, again);
    assert_int_equal(back->nest_count, p->nest_count);
    int32_t count = p->nest_count;
    lx_plan_free(back);
    lx_plan_free(p);
    free(text);
    free(again);
    return count;
}

static void plans_come_back(void **state)
{
    (void)state;
    cJSON *all = tiling_cases();
    const cJSON *c;
    int32_t nests = 0;
    lx_status st = {0};
    cJSON_ArrayForEach(c, case_array(all)) nests +=
        comes_back(plan_of_case(c, LX_ASK_OWN, &st), cJSON_GetObjectItem(c, "id")->valuestring, &st);
    assert_true(nests > 30);
    assert_true(comes_back(plan_of_block(512, 100000, LX_ASK_OWN, &st), "block", &st) > 0);
    cJSON_Delete(all);
}

/* Takes out of an object what follows from the rest, and predicted times. */
static void strip(cJSON *object, enum plan_section_id section)
{
    const struct plan_section *s = &plan_sections[section];
    for (size_t i = 0; i < s->count; i++)
        if (s->fields[i].standing == FIELD_CHECKED || strstr(s->fields[i].key, "_us"))
            cJSON_DeleteItemFromObjectCaseSensitive(object, s->fields[i].key);
}

static void strip_all(cJSON *parent, const char *key, enum plan_section_id section)
{
    cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(parent, key)) strip(item, section);
}

static char *without_figures(const char *text)
{
    cJSON *root = cJSON_Parse(text), *graph = cJSON_GetObjectItemCaseSensitive(root, "graph");
    assert_non_null(graph);
    strip(root, PLAN_ROOT);
    strip(graph, PLAN_GRAPH);
    strip_all(graph, "ops", PLAN_OP);
    strip_all(graph, "bundles", PLAN_BUNDLE);
    strip_all(graph, "transfers", PLAN_TRANSFER);
    strip_all(root, "buffers", PLAN_BUFFER);
    char *out = cJSON_Print(root);
    cJSON_Delete(root);
    return out;
}

static void near(double a, double b)
{
    if (fabs(a - b) > 1e-7 * (fabs(a) + 1)) fail_msg("%.10g is not %.10g", a, b);
}

static void same_op(const struct lx_op_traffic *a, const struct lx_op_traffic *b)
{
    assert_int_equal(a->hbm_read, b->hbm_read);
    assert_int_equal(a->hbm_written, b->hbm_written);
    assert_int_equal(a->ring, b->ring);
    assert_int_equal(a->reduce_ring, b->reduce_ring);
    assert_int_equal(a->lx_read, b->lx_read);
    assert_int_equal(a->lx_written, b->lx_written);
    near(a->device_us, b->device_us);
    near(a->end_to_end_us, b->end_to_end_us);
}

/* What a file leaves out is filled in as the planner counts it, in all iterations. */
static void figures_follow(struct lx_plan *p, const char *name)
{
    lx_status st = {0};
    size_t length;
    char *text = lx_plan_to_json(p, &length), *bare = without_figures(text);
    struct lx_plan *back = lx_plan_parse("plan", bare, strlen(bare), &st);
    if (!back) fail_msg("%s: %s", name, st.text);
    assert_int_equal(back->figures.hbm_bytes, p->figures.hbm_bytes);
    assert_int_equal(back->figures.ring_bytes, p->figures.ring_bytes);
    near(back->figures.device_us, p->figures.device_us);
    near(back->figures.end_to_end_us, p->figures.end_to_end_us);
    assert_int_equal(back->transfer_count, p->transfer_count);
    for (int32_t i = 0; i < p->transfer_count; i++)
        assert_int_equal(back->transfers[i].bytes, p->transfers[i].bytes);
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) same_op(&back->traffic[o], &p->traffic[o]);
    lx_plan_free(back);
    lx_plan_free(p);
    free(text);
    free(bare);
}

static void what_is_left_out_is_filled_in(void **state)
{
    (void)state;
    cJSON *all = tiling_cases();
    const cJSON *c;
    lx_status st = {0};
    cJSON_ArrayForEach(c, case_array(all))
        figures_follow(plan_of_case(c, LX_ASK_OWN, &st), cJSON_GetObjectItem(c, "id")->valuestring);
    figures_follow(plan_of_block(512, 100000, LX_ASK_OWN, &st), "block");
    cJSON_Delete(all);
}

static void refused(const char *text, const char *from, const char *to, const char *what)
{
    lx_status st = {0};
    const char *at = strstr(text, from);
    char *bad = calloc(strlen(text) + strlen(to) + 1, 1);
    assert_non_null(at);
    assert_non_null(bad);
    memcpy(bad, text, (size_t)(at - text));
    strcat(bad, to);
    strcat(bad, at + strlen(from));
    struct lx_plan *p = lx_plan_parse("plan", bad, strlen(bad), &st);
    if (p) fail_msg("%s was taken for %s", to, from);
    if (!strstr(st.text, what)) fail_msg("%s, not: %s", st.text, what);
    assert_true(st.line > 1);
    assert_int_equal(lx_code_exit(st.code), 2);
    free(bad);
}

/* A chain of two ops over 8 rows, which are walked in 4 tiles. */
static void wrong_nests_are_refused(void **state)
{
    (void)state;
    static const char pattern[] =
        "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"chain\", \"device\": \"spyre\", \"tensors\": ["
        "{\"name\": \"x\", \"shape\": [2048, 4096], \"dtype\": \"fp16\", \"role\": \"input\"}, "
        "{\"name\": \"y\", \"shape\": [2048, 4096], \"dtype\": \"fp16\", \"role\": \"intermediate\"}, "
        "{\"name\": \"z\", \"shape\": [2048, 4096], \"dtype\": \"fp16\", \"role\": \"output\"}], \"ops\": ["
        "{\"name\": \"a\", \"kind\": \"relu\", \"inputs\": [\"x\"], \"output\": \"y\", \"einsum\": "
        "\"mn->mn\"}, "
        "{\"name\": \"b\", \"kind\": \"exp\", \"inputs\": [\"y\"], \"output\": \"z\", \"einsum\": "
        "\"mn->mn\"}]}";
    lx_status st = {0};
    const struct lx_graph *whole = lx_graph_parse("chain", pattern, strlen(pattern), &st);
    const struct lx_graph *g = whole ? lx_graph_with_capacity(whole, 262144, &st) : NULL;
    struct lx_plan *p = nest_plan(g, LX_ASK_OWN, &st);
    size_t length;
    if (!p) fail_msg("%s", st.text);
    char *text = lx_plan_to_json(p, &length);
    static const char right[] = "\"first\": 0, \"last\": 1, \"tiles\": [2], \"vars\": [0, 0]";
    if (!strstr(text, right)) fail_msg("%s", text);
    refused(text, right, "\"first\": 0, \"last\": 2, \"tiles\": [2], \"vars\": [0, 0]", "last is 2");
    refused(text, right, "\"first\": 1, \"last\": 0, \"tiles\": [2], \"vars\": [0, 0]", "last is 0");
    refused(text, right, "\"first\": 0, \"last\": 1, \"tiles\": [], \"vars\": []", "one to three levels");
    refused(text, right, "\"first\": 0, \"last\": 1, \"tiles\": [1], \"vars\": [0, 0]", "at least two tiles");
    refused(text, right, "\"first\": 0, \"last\": 1, \"tiles\": [3], \"vars\": [0, 0]", "do not divide");
    refused(text, right, "\"first\": 0, \"last\": 1, \"tiles\": [2], \"vars\": [0]", "one variable per op");
    refused(text, right, "\"first\": 0, \"last\": 1, \"tiles\": [2], \"vars\": [0, 1]", "another dimension");
    refused(text, right, "\"first\": 0, \"last\": 1, \"tiles\": [2], \"vars\": [0, 7]",
            "does not have the axis");
    refused(text, right, "\"first\": 0, \"last\": 1, \"tiles\": [2, 2], \"vars\": [0, 0, 0, 0]",
            "two levels");
    refused(text, "\"hold\": 1", "\"hold\": 2", "hold is 2");
    free(text);
    lx_plan_free(p);
    lx_graph_free(g);
    lx_graph_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_come_back),
                                       cmocka_unit_test(what_is_left_out_is_filled_in),
                                       cmocka_unit_test(wrong_nests_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
