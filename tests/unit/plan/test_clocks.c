/* Two clocks: what is predicted from end to end is what was measured, device time follows the device's rates, and bundles
 * have their borders, limits and wipes. */
#include "support/softmax_rows.h"
#include "cost/op.h"
#include "base/memory.h"
#include "support/other_sizes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void measured_kernels_are_met(void **state)
{
    (void)state;
    for (int i = 0; i < SOFTMAX_ROWS; i++) {
        lx_status st = {0};
        struct lx_plan *p = softmax_plan(&softmax_rows[i], &st);
        if (!p) fail_msg("%s", st.text);
        double off = p->figures.end_to_end_us / softmax_rows[i].measured_us - 1;
        if (fabs(off) > 0.05)
            fail_msg("%s: %.2f us, measured %.2f", softmax_rows[i].name, p->figures.end_to_end_us,
                     softmax_rows[i].measured_us);
        lx_plan_free(p);
    }
}

static struct lx_plan *planned(const char *path, int64_t cores, int64_t tensors, const char *preset,
                               double hbm)
{
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(path, &st);
    struct lx_device d;
    if (!g) fail_msg("%s", st.text);
    d = g->device;
    if (preset) assert_true(lx_device_preset(preset, &d));
    if (cores > 0) d.cores = d.grid_x = cores, d.grid_y = 1;
    if (hbm > 0) d.hbm_gb_per_s = hbm;
    d.bundle_tensors = tensors;
    g = with_device(g, &d);
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit")};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    return p;
}

#define GRAPH(name) SOURCE_DIR "/patterns/graphs/" name ".json"

/* No device moves its bytes faster than its memory can; and a kernel as large as was never measured takes no less. */
static void bytes_take_their_time(void **state)
{
    static const char *const paths[] = {GRAPH("softmax_512x1024"), GRAPH("gq_attention"), GRAPH("moe_mlp")};
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            struct lx_plan *p = planned(paths[i], 0, 0, k ? "tenstorrent" : NULL, 1);
            double least =
                0.999 * (double)p->figures.hbm_bytes / 1e3; /* matmuls count elements, not sticks */
            assert_true(p->figures.device_us >= least && p->figures.end_to_end_us >= least);
            lx_plan_free(p);
        }
}

/* One percent more bytes takes no less time, and at most three percent more. */
static void time_goes_with_bytes(void **state)
{
    const struct lx_device *d = lx_device_at(0);
    (void)state;
    for (int64_t cores = 1; cores <= 32; cores *= 2)
        for (int64_t operands = 1; operands < 20; operands += 3) {
            double launch = cost_launch(d, operands, cores), last = 0;
            for (double bytes = 1e4; bytes < 1e10; bytes *= 1.01) {
                double charged = cost_charged_bytes(d, bytes),
                       us = cost_end_to_end(launch, charged / cost_hbm_rate(d));
                assert_true(charged >= 0 && charged <= bytes && us >= launch);
                assert_true(us >= last && (last == 0 || us <= 1.0305 * last));
                last = us;
            }
        }
}

/* A device without measurements has no launch: both clocks are one. */
static void a_roofline_has_one_clock(void **state)
{
    (void)state;
    struct lx_plan *p = planned(GRAPH("gq_attention"), 16, 0, "tenstorrent", 0);
    assert_true(fabs(p->figures.end_to_end_us - p->figures.device_us) < 1e-9 * p->figures.device_us);
    lx_plan_free(p);
}

static void executes(const struct lx_plan *p)
{
    struct lx_device_options how = {.threads = 1};
    lx_status st = {0};
    struct lx_run_result *r = lx_device_run(p, &how, &st);
    if (!r) fail_msg("%s", st.text);
    if (!r->ok) fail_msg("%s", r->fault_count ? r->faults[0].text : r->unequal ? r->unequal : "wrong");
    lx_run_result_free(r);
}

static void comes_back(const struct lx_plan *p)
{
    lx_status st = {0};
    size_t length, again;
    char *text = lx_plan_to_json(p, &length);
    struct lx_plan *q = lx_plan_of_text("plan", text, length, &st);
    if (!q || !lx_plan_check(q, &st)) fail_msg("%s", st.text);
    char *second = lx_plan_to_json(q, &again);
    assert_string_equal(text, second);
    mem_free(text);
    mem_free(second);
    lx_plan_free(q);
}

/* With a limit there are several bundles, nothing lives across a border, and the limit holds. */
static void bundles_keep_their_limit(void **state)
{
    static const char *const paths[] = {GRAPH("softmax_512x1024"), GRAPH("rms_norm"), GRAPH("gq_attention"),
                                        GRAPH("layernorm")};
    int several = 0;
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int64_t limit = 1; limit <= 4; limit++) {
            struct lx_plan *p = planned(paths[i], 4, limit, NULL, 0);
            int32_t next = 0;
            several += p->bundle_count > 1;
            for (int32_t k = 0; k < p->bundle_count; k++) {
                const struct lx_bundle *b = &p->bundles[k];
                assert_int_equal(b->first, next);
                next += b->count;
                if (b->count > 1) assert_true(b->tensors <= limit);
                for (int32_t s = 0; k > 0 && s < p->problem.count; s++)
                    assert_false(p->answer.address[s] >= 0 && p->problem.buffers[s].start < b->first &&
                                 p->problem.buffers[s].end > b->first);
            }
            assert_int_equal(next, p->layouts->graph->op_count);
            executes(p);
            comes_back(p);
            lx_plan_free(p);
        }
    assert_true(several >= 4);
}

/* Tensors on chip do not count: all of the normalisation is one kernel of three tensors in HBM, though its ops have
 * eight. */
static void placed_tensors_need_no_border(void **state)
{
    (void)state;
    struct lx_plan *p = planned(GRAPH("rms_norm"), 4, 4, NULL, 0);
    assert_int_equal(p->bundle_count, 1);
    assert_true(p->bundles[0].tensors <= 4);
    lx_plan_free(p);
}

/* The clocks of ops, bundles and the plan are one sum each. */
static void clocks_add_up(void **state)
{
    (void)state;
    struct lx_plan *p = planned(GRAPH("transformer_block"), 32, 12, NULL, 0);
    double device = 0, whole = 0;
    for (int32_t o = 0; o < p->layouts->graph->op_count; o++) {
        device += p->traffic[o].device_us;
        whole += p->traffic[o].end_to_end_us;
    }
    assert_true(fabs(device - p->figures.device_us) < 1e-6 * device);
    assert_true(fabs(whole - p->figures.end_to_end_us) < 1e-6 * whole);
    lx_plan_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(measured_kernels_are_met),
                                       cmocka_unit_test(bytes_take_their_time),
                                       cmocka_unit_test(time_goes_with_bytes),
                                       cmocka_unit_test(a_roofline_has_one_clock),
                                       cmocka_unit_test(bundles_keep_their_limit),
                                       cmocka_unit_test(placed_tensors_need_no_border),
                                       cmocka_unit_test(clocks_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
