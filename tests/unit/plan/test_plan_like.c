/* A plan made like another: it shares layouts and divisions with it, outlives it, and is the plan that would
 * have been made without; one that does not fit shares nothing. */
#include "unstable.h"
#include "base/memory.h"
#include "support/other_sizes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define GQ SOURCE_DIR "/patterns/graphs/gq_attention.json"

static const struct lx_plan *make(const struct lx_graph *g, const char *solver, struct lx_passes passes,
                                  const struct lx_plan *like)
{
    struct lx_plan_options how = {.solver = lx_solver_find(solver), .passes = passes, .like = like};
    lx_status st = {0};
    const struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    return p;
}

static void same_plan(const struct lx_plan *a, const struct lx_plan *b)
{
    size_t length;
    char *one = lx_plan_to_json(a, &length), *other = lx_plan_to_json(b, &length);
    assert_string_equal(one, other);
    mem_free(one);
    mem_free(other);
}

static void plans_share_what_is_the_same(void **state)
{
    (void)state;
    static const char *const solvers[] = {"greedy", "bestfit", "exact"};
    static const struct lx_passes all[] = {{0}, {.evict = true}, {.reorder = true}};
    lx_status st;
    const struct lx_graph *g = lx_graph_read(GQ, &st);
    assert_non_null(g);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) {
            const struct lx_plan *first = make(g, "firstfit", (struct lx_passes){0}, NULL);
            const struct lx_plan *second = make(g, solvers[i], all[k], first);
            assert_ptr_equal(second->own_layouts, first->own_layouts);
            const struct lx_plan *third = make(g, solvers[i], all[k], second);
            assert_ptr_equal(third->own_divisions, first->own_divisions);
            lx_plan_free(second);
            lx_plan_free(first); /* what was lent stays */
            const struct lx_plan *alone = make(g, solvers[i], all[k], NULL);
            assert_true(lx_plan_check(third, &st));
            same_plan(third, alone);
            lx_plan_free(alone);
            lx_plan_free(third);
        }
    lx_graph_free(g);
}

static void others_share_nothing(void **state)
{
    (void)state;
    lx_status st;
    const struct lx_graph *g = lx_graph_read(GQ, &st), *fewer = with_cores(lx_graph_ref(g), 8);
    const struct lx_plan *first = make(g, "greedy", (struct lx_passes){0}, NULL);
    const struct lx_plan *other_device = make(fewer, "greedy", (struct lx_passes){0}, first);
    const struct lx_plan *other_rules = make(g, "greedy", (struct lx_passes){.undivided = true}, first);
    assert_ptr_not_equal(other_device->own_layouts, first->own_layouts);
    assert_ptr_not_equal(other_rules->own_divisions, first->own_divisions);
    size_t length;
    char *json = lx_plan_to_json(first, &length); /* a file may state other layouts than ours */
    const struct lx_plan *from_file = lx_plan_of_text("plan.json", json, length, &st);
    const struct lx_plan *like_file = make(g, "greedy", (struct lx_passes){0}, from_file);
    assert_null(like_file->lender);
    mem_free(json);
    lx_plan_free(from_file);
    lx_plan_free(like_file);
    lx_plan_free(first);
    assert_true(lx_plan_check(other_device, &st) && lx_plan_check(other_rules, &st));
    lx_plan_free(other_device);
    lx_plan_free(other_rules);
    lx_graph_free(fewer);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_share_what_is_the_same),
        cmocka_unit_test(others_share_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
