/* Why a tensor is cut as it is: every other way is listed once, costs what a plan costs that was asked for it, and stands in the
 * order of what counts; whose word a cut is; what is not tried says so. */
#include "unstable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char text[] =
    "{\"lxplan\": 1, \"kind\": \"pattern\", \"name\": \"two\", \"device\": \"spyre\", \"tensors\": ["
    "{\"name\": \"x\", \"shape\": [16, 64], \"dtype\": \"fp32\", \"role\": \"input\"},"
    "{\"name\": \"w\", \"shape\": [64, 128], \"dtype\": \"fp32\", \"role\": \"weight\"},"
    "{\"name\": \"h\", \"shape\": [16, 128], \"dtype\": \"fp32\"},"
    "{\"name\": \"y\", \"shape\": [16, 128], \"dtype\": \"fp32\", \"role\": \"output\"}], \"ops\": ["
    "{\"name\": \"h\", \"kind\": \"matmul\", \"inputs\": [\"x\", \"w\"], \"output\": \"h\", \"einsum\": "
    "\"mk,kn->mn\"},"
    "{\"name\": \"y\", \"kind\": \"gelu\", \"inputs\": [\"h\"], \"output\": \"y\"}]}";

enum { X, W, H, TENSORS = 4 };

struct asked {
    const struct lx_graph *g;
    struct lx_team_options how;
    struct lx_plan_options plan;
    struct lx_team_plans *plans;
};

static void begin(struct asked *a, bool by_time, const struct lx_team_choice *choice)
{
    lx_status st = {0};
    *a = (struct asked){
        .plan = {.solver = lx_solver_find("greedy")},
        .how = {.grid = {2, {2, 2}}, .by_time = by_time, .choices = choice, .choice_count = choice ? 1 : 0}};
    a->g = lx_graph_of_text("two", text, sizeof text - 1, &st);
    a->plans = a->g ? lx_team_plans_choose(a->g, &a->how, &a->plan, &st) : NULL;
    if (!a->plans) fail_msg("%s", st.text);
}

static void end(struct asked *a)
{
    lx_team_plans_free(a->plans);
    lx_graph_free(a->g);
}

static struct lx_shard_reasons reasons_of(const struct asked *a, int32_t tensor, bool (*stop)(void *))
{
    struct lx_shard_reasons r;
    struct lx_shard_question q = {a->g, &a->how, &a->plan, a->plans, stop, NULL};
    lx_shard_reasons_find(&q, tensor, &r);
    return r;
}

/* Planned here, by who states it. */
static void expect_price(const struct asked *a, int32_t tensor, const struct lx_shard_price *x)
{
    lx_status st = {0};
    struct lx_team_choice c = {.tensor = a->g->tensors[tensor].name};
    memcpy(c.shard, x->shard, sizeof c.shard);
    struct lx_team_options how = a->how;
    how.choices = &c;
    how.choice_count = 1;
    struct lx_team_plans *p = lx_team_plans_choose(a->g, &how, &a->plan, &st);
    if (!p) fail_msg("%s", st.text);
    assert_memory_equal(p->team->tensors[tensor].shard, x->shard, sizeof x->shard);
    assert_int_equal(x->bytes, p->team->bytes + p->team->combine_bytes);
    assert_true(x->us == p->team->predicted_us);
    int64_t most = 0;
    for (int m = 0; m < p->team->devices; m++) {
        struct lx_counters planned = lx_team_planned(p, m).planned;
        int64_t hbm = planned.hbm_read + planned.hbm_written;
        most = hbm > most ? hbm : most;
    }
    assert_int_equal(x->hbm_bytes, most);
    lx_team_plans_free(p);
}

static void expect_all_ways(const struct asked *a, int32_t tensor)
{
    struct lx_shard_reasons r = reasons_of(a, tensor, NULL);
    bool stated = !lx_team_is_partial(&a->plans->team->tensors[tensor]);
    assert_int_equal(r.other_count, 3 * 3 - (stated ? 1 : 0));
    assert_memory_equal(r.is.shard, a->plans->team->tensors[tensor].shard, sizeof r.is.shard);
    assert_int_equal(r.is.bytes, a->plans->team->bytes + a->plans->team->combine_bytes);
    assert_true(r.is.us == a->plans->team->predicted_us);
    for (int i = 0; i < r.other_count; i++) {
        assert_int_equal(r.others[i].why.code, LX_OK);
        assert_true(memcmp(r.others[i].shard, r.is.shard, sizeof r.is.shard) != 0);
        for (int k = 0; k < i; k++) {
            assert_true(memcmp(r.others[i].shard, r.others[k].shard, sizeof r.is.shard) != 0);
            assert_false(lx_shard_better(&r.others[i], &r.others[k], a->how.by_time));
        }
        expect_price(a, tensor, &r.others[i]);
    }
    lx_shard_reasons_free(&r);
}

static void test_costs(void **state)
{
    (void)state;
    for (int by_time = 0; by_time < 2; by_time++) {
        struct asked a;
        begin(&a, by_time, NULL);
        for (int32_t t = 0; t < TENSORS; t++) expect_all_ways(&a, t);
        end(&a);
    }
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void expect_origin(const struct asked *a, int32_t tensor, enum lx_shard_origin origin)
{
    struct lx_shard_reasons r = reasons_of(a, tensor, at_once);
    assert_int_equal(r.origin, origin);
    for (int i = 0; i < r.other_count; i++) assert_int_equal(r.others[i].why.code, LX_E_STOPPED);
    lx_shard_reasons_free(&r);
}

static void test_origins(void **state)
{
    (void)state;
    struct asked a;
    const struct lx_team_choice choice = {"w", {-1, 1, -1}};
    begin(&a, false, &choice);
    expect_origin(&a, X, LX_SHARD_ARRIVES);
    expect_origin(&a, W, LX_SHARD_ASKED);
    expect_origin(&a, H, LX_SHARD_FOUND);
    end(&a);
    begin(&a, true, &choice);
    expect_origin(&a, X, LX_SHARD_FOUND);
    end(&a);
}

/* What is combined and what is exchanged is all that is received. */
static void test_combined(void **state)
{
    (void)state;
    struct asked a;
    const struct lx_team_choice choice = {"w", {0, 0, -1}};
    int64_t bytes = 0;
    begin(&a, false, &choice);
    for (int32_t o = 0; o < a.plans->team->graph->op_count; o++) bytes += lx_team_combined(a.plans->team, o);
    assert_int_equal(bytes, a.plans->team->combine_bytes);
    end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_combined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
