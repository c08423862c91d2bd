/* Plans with nests in files: read back they are the same plan, and a file that states a nest or a hold that cannot be is
 * refused with its place. */
#include "unstable.h"
#include "base/memory.h"
#include "support/nest_files.h"
#include "support/nest_plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void plans_come_back(void **state)
{
    (void)state;
    cJSON *all = tiling_cases();
    const cJSON *c;
    int32_t nests = 0;
    lx_status st = {0};
    cJSON_ArrayForEach(c, case_array(all))
    {
        struct lx_plan *p = plan_of_case(c, LX_ASK_OWN, &st);
        if (!p) fail_msg("%s", st.text);
        nests += comes_back(p, cJSON_GetObjectItem(c, "id")->valuestring);
        figures_follow(p, cJSON_GetObjectItem(c, "id")->valuestring);
        lx_plan_free(p);
    }
    assert_true(nests > 30);
    struct lx_plan *p = plan_of_block(128, 25000, LX_ASK_OWN, &st);
    assert_non_null(p);
    assert_true(comes_back(p, "block") > 0);
    figures_follow(p, "block");
    lx_plan_free(p);
    cJSON_Delete(all);
}

static void refused(const char *text, const char *from, const char *to, const char *what)
{
    lx_status st = {0};
    const char *at = strstr(text, from);
    char *bad = mem_zeroed(strlen(text) + strlen(to) + 1, 1);
    assert_non_null(at);
    assert_non_null(bad);
    memcpy(bad, text, (size_t)(at - text));
    strcat(bad, to);
    strcat(bad, at + strlen(from));
    struct lx_plan *p = lx_plan_of_text("plan", bad, strlen(bad), &st);
    if (p) fail_msg("%s was taken for %s", to, from);
    if (!strstr(st.text, what)) fail_msg("%s, not: %s", st.text, what);
    assert_true(st.line > 1);
    assert_int_equal(lx_code_exit(st.code), 2);
    mem_free(bad);
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
    const struct lx_graph *whole = lx_graph_of_text("chain", pattern, strlen(pattern), &st);
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
    mem_free(text);
    lx_plan_free(p);
    lx_graph_free(g);
    lx_graph_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_come_back),

                                       cmocka_unit_test(wrong_nests_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
