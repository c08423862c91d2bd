/* Where bytes go and what ops wait for: both add up to what the plan says, on every bundled pattern, device and pass,
 * whether a plan was made or read. */
#include "support/each_plan.h"
#include "base/memory.h"

#include <math.h>
#include <stddef.h>

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-7 * fmax(fmax(fabs(a), fabs(b)), 1);
}

static void bytes_add_up(const struct lx_plan *p, void *unused)
{
    int64_t *moved = mem_zeroed((size_t)p->problem.count + 1, sizeof *moved), all = 0, by_kind = 0;
    (void)unused;
    lx_plan_moved(p, moved);
    struct lx_byte_sums sums = lx_plan_byte_sums(p, moved);
    for (int32_t i = 0; i < p->problem.count; i++) all += moved[i];
    for (int k = 0; k < LX_BYTE_KIND_COUNT; k++) {
        assert_true(sums.bytes[k] >= 0);
        by_kind += sums.bytes[k];
    }
    assert_true(by_kind == p->figures.hbm_bytes);
    assert_true(p->graph->list || all == p->figures.hbm_bytes);
    mem_free(moved);
}

static double bundle_us(const struct lx_bundle *b, const struct lx_op_wait *w)
{
    double us = 0;
    for (int32_t o = b->first; o < b->first + b->count; o++) us += lx_wait_us(&w[o]);
    return us;
}

static void parts_add_up(const struct lx_plan *p, const struct lx_op_wait *w)
{
    double hbm = 0;
    for (int k = 0; k < LX_WAIT_COUNT; k++) assert_true(w->us[k] >= -1e-9);
    for (int k = 0; k < LX_BYTE_KIND_COUNT; k++) hbm += w->of_hbm_us[k];
    assert_true(near(hbm, w->us[LX_WAIT_HBM]));
    assert_true(near(lx_wait_us(w) - w->us[LX_WAIT_LAUNCH], w->device_us));
    assert_true(w->us[lx_wait_longest(w)] >= w->us[LX_WAIT_HBM]);
    assert_non_null(p);
}

static void times_add_up(const struct lx_plan *p)
{
    if (p->graph->list) return;
    int32_t n = p->layouts->graph->op_count;
    struct lx_op_wait *w = mem_zeroed((size_t)n + 1, sizeof *w);
    lx_plan_waits(p, w);
    for (int32_t o = 0; o < n; o++) {
        parts_add_up(p, &w[o]);
        assert_true(near(w[o].device_us, p->traffic[o].device_us));
    }
    for (int32_t i = 0; i < p->bundle_count; i++)
        assert_true(near(bundle_us(&p->bundles[i], w), p->bundles[i].end_to_end_us));
    struct lx_op_wait sum = lx_waits_sum(w, n);
    parts_add_up(p, &sum);
    assert_true(near(lx_wait_us(&sum), p->figures.end_to_end_us));
    mem_free(w);
}

static void both_add_up(const struct lx_plan *p, void *unused)
{
    bytes_add_up(p, NULL);
    (void)unused;
    times_add_up(p);
}

/* What is read from a file is as it was when it was made. */
static void also_when_read(const struct lx_plan *p)
{
    size_t length;
    lx_status st = {0};
    char *json = lx_plan_to_json(p, &length);
    struct lx_plan *again = lx_plan_of_text("again", json, length, &st);
    if (!again) fail_msg("%s", st.text);
    both_add_up(again, NULL);
    lx_plan_free(again);
    mem_free(json);
}

static void sums_are_the_plans_own(void **state)
{
    (void)state;
    each_plan(both_add_up, NULL);
}

static struct lx_plan *planned(const char *name, int64_t lx)
{
    struct lx_passes passes = {0};
    char path[300];
    lx_status st = {0};
    snprintf(path, sizeof path, SOURCE_DIR "/patterns/%s", name);
    const struct lx_graph *g = lx_graph_read(path, &st);
    if (!g) fail_msg("%s", st.text);
    if (lx > 0) g = with_capacity(g, lx);
    return plan_of(g, &passes);
}

static void files_say_the_same(void **state)
{
    static const struct {
        const char *name;
        int64_t lx;
    } rows[] = {{"graphs/moe_mlp.json", 0},
                {"graphs/moe_mlp.json", 102400},
                {"graphs/gq_attention.json", 60000},
                {"targets/moe_mlp.json", 0},
                {"targets/staircase.json", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lx_plan *p = planned(rows[i].name, rows[i].lx);
        both_add_up(p, NULL);
        also_when_read(p);
        lx_plan_free(p);
    }
}

/* Barred weights are what this one moves, and it waits for them. */
static void barred_weights_are_counted(void **state)
{
    (void)state;
    struct lx_plan *p = planned("graphs/moe_mlp.json", 0);
    int32_t n = p->layouts->graph->op_count;
    int64_t *moved = mem_zeroed((size_t)p->problem.count + 1, sizeof *moved);
    struct lx_op_wait *w = mem_zeroed((size_t)n + 1, sizeof *w);
    lx_plan_moved(p, moved);
    lx_plan_waits(p, w);
    struct lx_byte_sums sums = lx_plan_byte_sums(p, moved);
    struct lx_op_wait all = lx_waits_sum(w, n);
    assert_true(sums.bytes[LX_BYTES_WEIGHTS] > p->figures.hbm_bytes * 9 / 10);
    assert_int_equal(lx_wait_longest(&all), LX_WAIT_HBM);
    assert_true(all.of_hbm_us[LX_BYTES_WEIGHTS] > 0.8 * all.us[LX_WAIT_HBM]);
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->problem.buffers[i].reason && p->layouts->graph->tensors[p->stays[i].tensor].role == LX_WEIGHT)
            assert_true(moved[i] > 0);
    mem_free(moved);
    mem_free(w);
    lx_plan_free(p);
}

/* No plan computes or moves faster than the device can; bytes of the credit cost no time. */
static void expect_below_roofs(struct lx_plan *p)
{
    struct lx_roofs r = lx_device_roofs(&p->layouts->graph->device);
    int32_t n = p->layouts->graph->op_count;
    struct lx_op_wait *w = mem_zeroed((size_t)n + 1, sizeof *w);
    double most = 1.000001, ns = p->figures.device_us * 1e3;
    struct clock_times clock = lx_plan_clock(p, NULL);
    lx_plan_waits(p, w);
    assert_true(r.hbm_gb_per_s > 0 && r.lx_gb_per_s > r.hbm_gb_per_s && r.gflop_per_s > 0);
    for (int32_t o = 0; o < n; o++) {
        const struct lx_op_traffic *t = &p->traffic[o];
        assert_true(w[o].hbm_bytes <= (double)(t->hbm_read + t->hbm_written));
        assert_true((w[o].hbm_bytes > 0) == (t->hbm_read + t->hbm_written > 0));
    }
    struct lx_op_wait sum = lx_waits_sum(w, n);
    assert_true(near(clock.device_us, p->figures.device_us) &&
                near(clock.end_to_end_us, p->figures.end_to_end_us));
    assert_true(clock.device_us <= clock.end_to_end_us * most);
    assert_true(clock.hbm_us <= clock.device_us * most && clock.ring_us <= clock.device_us * most);
    assert_true((sum.hbm_bytes - clock.credit_bytes) / ns <= r.hbm_gb_per_s * most);
    assert_true(sum.flops > 0 && sum.flops / ns <= r.gflop_per_s * most);
    mem_free(w);
    lx_plan_free(p);
}

static void roofs_hold(void **state)
{
    static const char *const files[] = {"graphs/gq_attention.json", "graphs/moe_mlp.json",
                                        "graphs/transformer_block.json", "showcase/moe_tight.json",
                                        "showcase/attention_tight.json"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) expect_below_roofs(planned(files[i], 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_plans_own),
        cmocka_unit_test(files_say_the_same),
        cmocka_unit_test(barred_weights_are_counted),
        cmocka_unit_test(roofs_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
