/* Syncs of small plans by hand: an in-core chain has none, a relayout one, and a bundle's begin is as good as
 * one. Files without them get the same when they are read. */
#include "unstable.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TENSOR(name, role) "{\"name\": \"" name "\", \"shape\": [128, 128], \"role\": \"" role "\"}"
#define OP(kind, inputs, output)                                                                             \
    "{\"name\": \"" output "\", \"kind\": \"" kind "\", \"inputs\": [" inputs "], \"output\": \"" output "\"}"

static struct lx_plan *plan_chain(const char *middle)
{
    char text[2000];
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("greedy"), .passes = {.tile = LX_TILE_NONE}};
    int n = snprintf(text, sizeof text,
                     "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"chain\", \"device\": {\"preset\": "
                     "\"spyre\", \"cores\": 4}, \"tensors\": [%s, %s, %s, %s], \"ops\": [%s, %s, %s]}",
                     TENSOR("x", "input"), TENSOR("a", "intermediate"), TENSOR("b", "intermediate"),
                     TENSOR("y", "output"), OP("exp", "\"x\"", "a"), middle, OP("exp", "\"b\"", "y"));
    const struct lx_graph *g = lx_graph_of_text("t.json", text, (size_t)n, &st);
    if (!g) fail_msg("%s", st.text);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    if (!lx_plan_check(p, &st)) fail_msg("%s", st.text);
    return p;
}

static void test_in_core_chain(void **state)
{
    (void)state;
    struct lx_plan *p = plan_chain(OP("relu", "\"a\"", "b"));
    assert_int_equal(p->sync_count, 0);
    assert_int_equal(p->figures.sync_times, 0);
    lx_plan_free(p);
}

static void test_extern_orders_all(void **state)
{
    (void)state;
    struct lx_plan *p = plan_chain(OP("extern", "\"a\"", "b"));
    assert_int_equal(p->bundle_count, 3);
    assert_int_equal(p->sync_count, 0);
    lx_plan_free(p);
}

/* Each core reads all of what the others have made. */
static void test_product_needs_one(void **state)
{
    (void)state;
    struct lx_plan *p =
        plan_chain("{\"name\": \"b\", \"kind\": \"matmul\", \"einsum\": \"mk,nk->mn\", \"inputs\": "
                   "[\"a\", \"a\"], \"output\": \"b\"}");
    lx_status st = {0};
    size_t length;
    assert_true(p->sync_count >= 1);
    assert_int_equal(p->syncs[0].before <= 1, 1);
    struct lx_plan without = *p;
    without.sync_count = 0;
    without.figures.sync_times = 0;
    assert_false(lx_plan_check(&without, &st));
    assert_non_null(strstr(st.text, "no sync stands between op a (tick 0)"));
    char *text = lx_plan_to_json(p, &length);
    char *key = strstr(text, "\"syncs\"");
    assert_non_null(key);
    key[1] = 'S'; /* nobody knows it */
    struct lx_plan *again = lx_plan_of_text("t.json", text, length, &st);
    if (!again) fail_msg("%s", st.text);
    assert_int_equal(again->sync_count, p->sync_count);
    assert_memory_equal(&again->syncs[0].before, &p->syncs[0].before, sizeof p->syncs[0].before);
    lx_plan_free(again);
    mem_free(text);
    lx_plan_free(p);
}

/* Core 0 has all of a, and two cores take two thirds of it. p overwrites the other third: nobody waits. */
static void test_bytes_that_nobody_takes(void **state)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("greedy")};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/tests/data/graphs/thirds.json", &st);
    (void)state;
    if (!g) fail_msg("%s", st.text);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
    assert_int_equal(p->sync_count, 1);
    assert_int_equal(p->syncs[0].before, 1);
    struct lx_plan without = *p;
    without.sync_count = 0;
    without.figures.sync_times = 0;
    assert_false(lx_plan_check(&without, &st));
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_core_chain), cmocka_unit_test(test_extern_orders_all),
        cmocka_unit_test(test_product_needs_one), cmocka_unit_test(test_bytes_that_nobody_takes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
