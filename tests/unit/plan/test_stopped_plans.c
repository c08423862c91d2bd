/* Planning that is told to stop at any of its looks: there is a plan, a legal one, whose bound is below every plan of the question,
 * and the same one whenever it is stopped at the same look. Looks are counted, not timed. */
#include "base/fail.h"
#include "base/stop.h"
#include "plan/fuse.h"
#include "support/stopping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static struct lx_plan *plan(const struct lx_graph *g, const char *words, struct looks *looks)
{
    char text[200];
    struct lx_settings o = {.solvers = lx_solvers()};
    struct lx_plan_options how = {0};
    int64_t values[LX_MOST_SOLVER_OPTIONS];
    lx_status st = {0};
    snprintf(text, sizeof text, "%s", words);
    for (char *name = strtok(text, " "); name; name = strtok(NULL, " ")) {
        char *value = strchr(name, '=');
        if (value) *value++ = 0;
        assert_true(lx_settings_set(&o, name, value ? value : "on", &st));
    }
    assert_true(lx_settings_plan(&o, LX_SPILL, &how, values, &st));
    how.run.stop = counted_stop;
    how.run.context = looks;
    looks->count = 0;
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s, %s, stopped at look %lld: %s", g->name, words, (long long)looks->most, st.text);
    return p;
}

/* Its bound is below the best plan that is known, too. */
static void is_honest(const struct lx_plan *p, const struct lx_plan *best, const char *words, int64_t most)
{
    lx_status st = {0};
    if (!lx_plan_check(p, &st)) fail_msg("%s, stopped at look %lld: %s", words, (long long)most, st.text);
    if (best && !p->asks_time && lx_plan_least(p) > lx_plan_value(best))
        fail_msg("%s, stopped at look %lld: bound %lld above %lld", words, (long long)most,
                 (long long)lx_plan_least(p), (long long)lx_plan_value(best));
    if (best && p->asks_time) assert_true(p->figures.bound_us <= best->figures.end_to_end_us * (1 + 1e-7));
}

static void stop_anywhere(const struct lx_graph *g, const char *words)
{
    struct looks looks = {.most = INT64_MAX};
    struct lx_plan *best = plan(g, words, &looks);
    int64_t all = looks.count;
    is_honest(best, NULL, words, INT64_MAX);
    assert_true(all > 0);
    for (looks.most = 0; looks.most < all; looks.most = looks.most * 12 + 1) {
        struct lx_plan *p = plan(g, words, &looks);
        int64_t looked = looks.count;
        is_honest(p, best, words, looks.most);
        struct lx_plan *again = plan(g, words, &looks);
        assert_int_equal(looks.count, looked);
        assert_true(lx_plan_value(p) == lx_plan_value(again) && lx_plan_least(p) == lx_plan_least(again));
        lx_plan_free(again);
        lx_plan_free(p);
    }
    lx_plan_free(best);
}

static void stopped_anywhere(void **state)
{
    static const char *const ways[] = {"solver=bestfit", "solver=bestfit evict tile=none",
                                       "solver=bestfit evict move tile=none"};
    const struct lx_graph *decode = generate("decode", "ops", 40);
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) stop_anywhere(decode, ways[i]);
    lx_graph_free(decode);
}

/* What is left is shared out; when nothing is, plans are made in haste, and never without a limit. */
static void time_is_shared(void **state)
{
    struct lx_run asked = {.time_limit = 8};
    struct fuse fuse, inner;
    (void)state;
    hands.each = 0;
    struct lx_run lit = fuse_light(&fuse, &asked), part = fuse_share(&lit, 4);
    assert_true(part.time_limit == 2 && !part.hasty && !lx_run_stopped(&part));
    hands.now += 5; /* of 8: what 5 parts took, 3 more take, but not 4 */
    assert_true(fuse_suffices(&lit, 5, 3, 0) && !fuse_suffices(&lit, 5, 4, 0) &&
                fuse_suffices(&lit, 5, 4, 5));
    part = fuse_share(&lit, 2);
    assert_true(part.time_limit == 1.5 && !part.hasty);
    struct lx_run within = fuse_light(&inner, &part);
    hands.now += 1;
    assert_false(lx_run_stopped(&within));
    hands.now += 1;
    assert_true(lx_run_stopped(&within) && fuse_is_out(&within) && !fuse_is_out(&lit));
    within = fuse_light(&inner, &part);
    hands.now += 1.25; /* the whole time is over, before that of the part */
    assert_true(lx_run_stopped(&within) && fuse_is_out(&within));
    part = fuse_share(&lit, 2);
    assert_true(part.time_limit > 0 && part.time_limit < 0.01 && part.hasty);
    asked.time_limit = 0;
    lit = fuse_light(&fuse, &asked);
    part = fuse_share(&lit, 2);
    assert_true(part.time_limit == 0 && !part.hasty && !lx_run_stopped(&part) &&
                fuse_suffices(&part, 1, 1e9, 0));
}

/* In haste what is off chip is packed as it comes: legal, and no higher than one behind the other. */
static void packed_in_haste(void **state)
{
    static const char *const names[] = {"block", "decode", "flash", "moe"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct lx_generator *made_by = lx_generator_find(names[i]);
        if (!made_by) continue;
        const struct lx_graph *g = generate(names[i], "ops", 60);
        struct lx_plan_options how = {.solver = lx_solver_find("greedy"), .run = {.hasty = true}};
        lx_status st = {0};
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        if (!p || !lx_plan_check(p, &st)) fail_msg("%s: %s", names[i], st.text);
        int64_t behind = 0;
        for (int32_t t = 0; t < p->layouts->graph->tensor_count; t++)
            if (p->hbm_address[t] >= p->pool_at) behind += lx_layout_bytes(&p->layouts->layouts[t]) + 128;
        assert_true(p->pool_bytes > 0 && p->pool_bytes <= behind);
        lx_plan_free(p);
        lx_graph_free(g);
    }
}

/* Asked after so much work, whatever that was; yes stays yes; what is inside of a watch without a function goes on. */
static void work_is_counted(void **state)
{
    struct looks looks = {.most = 1};
    struct stop outer, inner;
    lx_status st = {0};
    (void)state;
    assert_false(stop_work(STOP_EACH));
    stop_begin(&outer, counted_stop, &looks);
    for (int i = 0; i < 100; i++) assert_false(stop_work(STOP_EACH / 100 - 1));
    assert_int_equal(looks.count, 0);
    assert_false(stop_work(100));
    assert_int_equal(looks.count, 1);
    assert_true(stop_work(STOP_EACH) && stop_work(1) && stop_is_now());
    assert_int_equal(looks.count, 2);
    stop_begin(&inner, NULL, NULL);
    assert_false(stop_work(STOP_EACH) || stop_is_now());
    assert_false(stop_forgiven(status_no_memory(&st), &st));
    stop_end(&inner);
    assert_true(stop_forgiven(status_no_memory(&st), &st));
    assert_int_equal(st.code, LX_OK);
    stop_end(&outer);
    assert_false(stop_work(STOP_EACH));
}

static bool looks_itself(void *context)
{
    stop_look(STOP_EACH);
    return counted_stop(context);
}

/* What nobody stops, and what ends already, looks for who is around it, who hears of it afterwards. */
static void looks_go_outwards(void **state)
{
    struct looks far = {.most = 1}, near = {.most = 0};
    struct stop outer, inner, none;
    (void)state;
    stop_begin(&outer, counted_stop, &far);
    stop_begin(&none, NULL, NULL);
    assert_false(stop_work(STOP_EACH));
    assert_int_equal(far.count, 1);
    stop_begin(&inner, looks_itself, &near); /* asks the outer one, too */
    assert_true(stop_work(STOP_EACH));
    assert_int_equal(near.count, 1);
    assert_int_equal(far.count, 2);
    stop_look(STOP_EACH);
    assert_int_equal(near.count + far.count, 3); /* both have said so */
    stop_end(&inner);
    assert_false(stop_work(STOP_EACH) || stop_is_now());
    stop_end(&none);
    assert_true(stop_is_now() && stop_work(1));
    stop_end(&outer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(looks_go_outwards), cmocka_unit_test(work_is_counted),
                                       cmocka_unit_test(stopped_anywhere), cmocka_unit_test(time_is_shared),
                                       cmocka_unit_test(packed_in_haste)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
