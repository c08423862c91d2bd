/* Moves: planned, written and read back, checked, executed with the same counts, and never at the cost of HBM traffic. */
#include "support/device_plans.h"
#include "base/memory.h"
#include "support/moving_graph.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static int count_moves(const struct lx_plan *p)
{
    int count = 0;
    for (int32_t i = 0; i < p->transfer_count; i++) count += p->transfers[i].kind == LX_MOVE;
    return count;
}

static struct lx_plan *plan_with(const struct lx_graph *g, const char *solver, struct lx_passes passes)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find(solver), .passes = passes};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p) fail_msg("%s", st.text);
    if (!lx_plan_check(p, &st)) fail_msg("%s", st.text);
    return p;
}

/* As a file and back; the same text again. */
static void comes_back(const struct lx_plan *p)
{
    lx_status st = {0};
    size_t length = 0, again = 0;
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *back = lx_plan_of_text("plan", text, length, &st);
    if (!back || !lx_plan_check(back, &st)) fail_msg("%s", st.text);
    char *second = lx_plan_to_json(back, &again);
    assert_int_equal(length, again);
    assert_memory_equal(text, second, length);
    mem_free(text);
    mem_free(second);
    lx_plan_free(back);
}

static void runs(const struct lx_plan *p)
{
    lx_status st = {0};
    struct lx_device_options how = {.verify = LX_VERIFY_FULL};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    assert_non_null(r);
    if (!r->ok) fail_msg("%s", r->fault_count ? r->faults[0].text : what_is_wrong(r));
    lx_run_result_free(r);
}

static void pattern_needs_moves(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/targets/needs_moves.json", &st);
    assert_non_null(g);
    struct lx_plan *off = plan_with(g, "exact", (struct lx_passes){0});
    struct lx_plan *on = plan_with(g, "exact", (struct lx_passes){.move = true});
    assert_true(on->figures.hbm_bytes < off->figures.hbm_bytes);
    assert_true(lx_plan_meets_target(on) && !lx_plan_meets_target(off));
    assert_true(count_moves(on) > 0);
    assert_int_equal(on->answer.status, LX_OPTIMAL);
    int64_t more = 0, moved = 0;
    for (int32_t o = 0; o < on->layouts->graph->op_count; o++)
        more += on->traffic[o].lx_read - off->traffic[o].lx_read;
    for (int32_t i = 0; i < on->transfer_count; i++)
        if (on->transfers[i].kind == LX_MOVE) moved += on->transfers[i].bytes;
    assert_true(moved > 0 && more >= moved);
    comes_back(on);
    runs(on);
    lx_plan_free(off);
    lx_plan_free(on);
    lx_graph_free(g);
}

/* Of a simple solver, which leaves holes. */
static void crowded_scratchpads(void **state)
{
    (void)state;
    int moves = 0, fewer = 0;
    for (uint64_t seed = 1; seed <= OFTEN(40); seed++) {
        struct rng r = rng_seed(seed);
        lx_status st = {0};
        const struct lx_graph *g = moving_graph(&r, seed % 2 ? 1 : 4, 9 + (int64_t)rng_below(&r, 8), 9, &st);
        assert_non_null(g);
        struct lx_passes passes = {.evict = seed % 3 == 0};
        struct lx_plan *off = plan_with(g, "firstfit", passes);
        passes.move = true;
        struct lx_plan *on = plan_with(g, "firstfit", passes);
        assert_true(on->figures.hbm_bytes <= off->figures.hbm_bytes);
        if (count_moves(on)) assert_true(on->figures.hbm_bytes < off->figures.hbm_bytes);
        moves += count_moves(on);
        fewer += on->figures.hbm_bytes < off->figures.hbm_bytes;
        comes_back(on);
        runs(on);
        lx_plan_free(off);
        lx_plan_free(on);
        lx_graph_free(g);
    }
    assert_true(moves > 0 && fewer > 0);
}

/* A copy takes time: where that counts, no plan with moves is slower than one without. */
static void moves_take_time(void **state)
{
    (void)state;
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/targets/needs_moves.json", &st);
    double us[2];
    for (int on = 0; on < 2; on++) {
        struct lx_plan_options how = {
            .solver = lx_solver_find("greedy"), .objective = LX_ASK_TIME, .passes = {.move = on}};
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        assert_non_null(p);
        us[on] = p->figures.end_to_end_us;
        lx_plan_free(p);
    }
    assert_true(us[1] <= us[0]);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pattern_needs_moves),
        cmocka_unit_test(crowded_scratchpads),
        cmocka_unit_test(moves_take_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
