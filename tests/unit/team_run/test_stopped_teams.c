/* Teams that are told to stop, or have little time: they have plans, legal ones, and say so where nothing is cut for want of it. */
#include "support/stopping.h"
#include "base/memory.h"
#include "team/run/team_contest.h"

#include <stdlib.h>

/* Stopped at any look there are plans; before there are any cuts, nothing is cut. */
static void teams_are_stopped(void **state)
{
    const struct lx_graph *g = generate("block", "layers", 1);
    struct lx_team_options team = {.members = 4, .grid = {2, {2, 2}}, .by_time = true};
    (void)state;
    for (int64_t most = 0; most < 100; most = most * 6 + 1) {
        struct looks looks = {.most = most};
        struct lx_plan_options how = {.solver = lx_solver_find("bestfit"),
                                      .passes = {.tile = LX_TILE_NONE},
                                      .run = {.stop = counted_stop, .context = &looks}};
        lx_status st = {0};
        struct lx_team_plans *p = lx_team_plans_choose(g, &team, &how, &st);
        if (!p || !lx_team_plans_check(p, &st)) fail_msg("look %lld: %s", (long long)most, st.text);
        assert_true(looks.count > most || most > 50);
        lx_team_plans_free(p);
    }
    lx_graph_free(g);
}

/* Told to stop when the cuts are found: it is not waited until all members are made, whoever tells it; and a team of one has
 * nothing to be cut. */
static void stopped_behind_the_cuts(void **state)
{
    const struct lx_graph *g = generate("block", "layers", 1);
    struct lx_team_options team = {.members = 4};
    struct looks looks = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"),
                                  .run = {.stop = counted_stop, .context = &looks}};
    lx_status st = {0};
    bool late = false;
    (void)state;
    struct lx_team_plans *p = team_plans_begin(lx_team_make(g, &team, &st), &how, &late, &st);
    assert_true(p && late && p->members[0] && !p->members[3] && !p->team->uncut);
    lx_team_plans_free(p);
    for (team.members = 1; team.members < 3; team.members++) {
        p = lx_team_plans_choose(g, &team, &how, &st);
        assert_true(p && p->team->uncut == (team.members > 1));
        lx_team_plans_free(p);
    }
    lx_graph_free(g);
}

static char *team_by_clock(const struct lx_graph *g, double limit, double each, int64_t *bound)
{
    struct lx_team_options team = {.members = 4, .grid = {2, {2, 2}}};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .run = {.time_limit = limit}};
    lx_status st = {0};
    size_t length;
    hands.each = each;
    double began = hands.now;
    struct lx_team_plans *p = lx_team_plans_choose(g, &team, &how, &st);
    if (!p || !lx_team_plans_check(p, &st)) fail_msg("%g s, %g each: %s", limit, each, st.text);
    *bound = p->team->bound_bytes;
    char *text = lx_team_plans_to_json(p, &length);
    assert_non_null(text);
    if (limit > 0 && each > 0)
        assert_true(hands.now > began + limit / 2); /* some is left for the last plan */
    lx_team_plans_free(p);
    return text;
}

/* A team has its time once. A limit that is not reached changes nothing; one that is leaves a plan. */
static void teams_have_time(void **state)
{
    const struct lx_graph *g = generate("block", "layers", 1);
    int64_t bound, same, other;
    (void)state;
    char *without = team_by_clock(g, 0, 0, &bound), *unreached = team_by_clock(g, 1, 0, &same);
    assert_true(bound > 0 && same == bound);
    assert_string_equal(without, unreached);
    for (double each = 1e-4; each < 10; each *= 10) {
        char *stopped = team_by_clock(g, 0.05, each, &other);
        assert_true(other <= bound && strstr(stopped, "team"));
        mem_free(stopped);
    }
    mem_free(without);
    mem_free(unreached);
    lx_graph_free(g);
}

static struct lx_team_plans *team_each(const struct lx_graph *g, const struct lx_team_options *team,
                                       double each)
{
    struct lx_plan_options how = {
        .solver = lx_solver_find("bestfit"), .passes = {.tile = LX_TILE_NONE}, .run = {.time_limit = 0.05}};
    lx_status st = {0};
    hands.each = each;
    struct lx_team_plans *p = lx_team_plans_choose(g, team, &how, &st);
    if (!p || !lx_team_plans_check(p, &st)) fail_msg("%g each: %s", each, st.text);
    hands.each = 0;
    return p;
}

static bool one_for_all(const struct lx_team_plans *p)
{
    for (int m = 1; m < p->team->members; m++)
        if (p->members[m] != p->members[0] || p->plans[m] != p->plans[0]) return false;
    return lx_team_all_whole(p->team);
}

/* A team that has no time for its cuts, or for the different plans of its members, has one plan for all: everything is whole,
 * and that is told. With time it is no slower than that, where that counts. */
static void whole_for_want_of_time(void **state)
{
    const struct lx_graph *g = generate("block", "layers", 1);
    (void)state;
    for (int by_time = 0; by_time < 2; by_time++) {
        struct lx_team_options team = {.members = 4, .grid = {2, {2, 2}}, .by_time = by_time};
        double us[2] = {0}; /* cut, whole */
        for (double each = 1e-7; each < 10; each *= 10) {
            struct lx_team_plans *p = team_each(g, &team, each);
            assert_true(!p->team->uncut || one_for_all(p));
            if (us[p->team->uncut] == 0) us[p->team->uncut] = p->team->predicted_us;
            lx_team_plans_free(p);
        }
        assert_true(us[0] > 0 && us[1] > 0 && (!by_time || us[0] <= us[1]));
    }
    lx_graph_free(g);
}

/* What is whole for want of time moves nothing: that is no reason to take it, nor to tell that cuts cost more. */
static void left_whole_is_no_answer(void **state)
{
    const struct lx_graph *g = generate("block", "layers", 1);
    struct lx_team_options team = {.members = 4, .grid = {2, {2, 2}}};
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"), .run = {.time_limit = 0.05}};
    struct lx_team_plans *cut = team_each(g, &team, 1e-7), *left = team_each(g, &team, 1);
    struct lx_cut_question q = {.graph = g, .how = &team, .plan = &how, .plans = cut};
    struct lx_cut_reasons r;
    int32_t input = 0, untried = 0;
    lx_status st = {0};
    (void)state;
    while (g->tensors[input].role != LX_INPUT) input++;
    hands.each = 1;
    assert_true(lx_cut_reasons_find(&q, input, &r, &st));
    assert_int_equal(r.origin, LX_CUT_ARRIVES);
    for (int i = 0; i < r.other_count; i++) untried += r.others[i].why.code == LX_E_STOPPED;
    assert_int_equal(untried, 1); /* all but to leave it whole is stated to be cut */
    lx_cut_reasons_free(&r);
    q.plans = left;
    assert_true(lx_cut_reasons_find(&q, input, &r, &st));
    assert_int_equal(r.origin, LX_CUT_LEFT);
    lx_cut_reasons_free(&r);
    hands.each = 0;
    assert_true(cut->team->bytes > left->team->bytes && left->team->bytes == 0);
    struct lx_team_plans *best = team_best_of(left, cut, false);
    assert_ptr_equal(best, cut);
    best = team_best_of(best, team_each(g, &team, 1), false);
    assert_ptr_equal(best, cut);
    lx_team_plans_free(best);
    lx_graph_free(g);
}

/* By bytes inputs are cut, unless there is no time for what that makes different; what is stated is kept in any case. */
static void inputs_whole_for_want_of_time(void **state)
{
    const struct lx_graph *g = generate("block", "layers", 1);
    struct lx_team_options team = {.members = 4, .grid = {2, {2, 2}}};
    int32_t input = 0;
    (void)state;
    while (g->tensors[input].role != LX_INPUT) input++;
    struct lx_team_plans *slow = team_each(g, &team, 1), *fast = team_each(g, &team, 1e-7);
    assert_true(slow->team->uncut && one_for_all(slow) && slow->team->bytes == 0);
    assert_false(fast->team->uncut || lx_team_is_whole(&fast->team->tensors[input]));
    lx_team_plans_free(slow);
    lx_team_plans_free(fast);
    team.choices = &(struct lx_team_choice){g->tensors[input].name, {0, -1, -1}};
    team.choice_count = 1;
    slow = team_each(g, &team, 1);
    assert_int_equal(slow->team->tensors[input].cut[0], 0);
    assert_false(one_for_all(slow));
    lx_team_plans_free(slow);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(teams_are_stopped),
                                       cmocka_unit_test(stopped_behind_the_cuts),
                                       cmocka_unit_test(teams_have_time),
                                       cmocka_unit_test(whole_for_want_of_time),
                                       cmocka_unit_test(inputs_whole_for_want_of_time),
                                       cmocka_unit_test(left_whole_is_no_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
