/* --objective time: no pass that is switched off gives less time than all of them, bounds hold, and what was found is a
 * plan like any other: legal, executed, the same each time. */
#include "support/device_plans.h"
#include "base/memory.h"
#include "cost/rates.h"
#include "support/random_graph.h"
#include "support/sampled.h"

#include <math.h>

static const struct {
    const char *name;
    struct lx_passes passes;
} without[] = {
    {"undivided", {.undivided = true}},
    {"matmul by rule", {.matmul = LX_MATMUL_RULE}},
    {"not co-optimised", {.cooptimise = LX_COOPTIMISE_NONE}},
    {"no clones", {.clone = LX_CLONE_NONE}},
    {"no outputs", {.no_outputs = true}},
    {"not in place", {.no_in_place = true}},
    {"no dumps", {.no_dump = true}},
    {"no ring", {.no_ring = true}},
    {"no clones, no ring", {.clone = LX_CLONE_NONE, .no_ring = true}},
    {"baseline", {.stage = LX_STAGE_BASELINE}},
    {"reductions", {.stage = LX_STAGE_REDUCTIONS}},
    {"in place", {.stage = LX_STAGE_IN_PLACE}},
};
enum { WITHOUT = sizeof without / sizeof *without };

/* As the command line asks: time co-optimises unless that was switched off. */
static struct lx_plan *fastest(const char *path, int64_t cores, const char *solver, int i)
{
    struct lx_passes passes = i < 0 ? (struct lx_passes){0} : without[i].passes;
    bool plain = i >= 0 && strstr(without[i].name, "co-optimised");
    passes.by_time = true;
    if (!plain) passes.cooptimise = LX_COOPTIMISE_FULL;
    struct lx_plan_options how = {
        .solver = lx_solver_find(solver), .passes = passes, .objective = LX_ASK_TIME};
    const struct lx_graph *g = with_cores(device_test_graph(path), cores);
    lx_status st = {0};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) fail_msg("%s, %lld cores: %s", path, (long long)cores, st.text);
    return p;
}

static void is_honest(const struct lx_plan *p)
{
    lx_status st = {0};
    if (!lx_plan_check(p, &st)) fail_msg("%s: %s", p->graph->name, st.text);
    assert_true(p->figures.bound_us > 0 && p->figures.bound_us <= p->figures.end_to_end_us * (1 + 1e-9));
    assert_true((p->answer.status == LX_OPTIMAL) == (lx_plan_gap(p) == 0));
}

static void compare_passes(const char *path, const char *solver, int step)
{
    static const int64_t counts[] = {1, 4, 32};
    for (int k = 0; k < 3; k++) {
        struct lx_plan *all = fastest(path, counts[k], solver, -1);
        is_honest(all);
        for (int i = k % step; i < WITHOUT; i += step) {
            struct lx_plan *less = fastest(path, counts[k], solver, i);
            if (less->figures.end_to_end_us < all->figures.end_to_end_us * 0.995)
                fail_msg("%s, %lld cores: %.3f us, but %.3f us with %s", path, (long long)counts[k],
                         all->figures.end_to_end_us, less->figures.end_to_end_us, without[i].name);
            if (less->figures.end_to_end_us < all->figures.bound_us * (1 - 1e-9))
                fail_msg("%s: the bound %.3f us is refuted", path, all->figures.bound_us);
            lx_plan_free(less);
        }
        lx_plan_free(all);
    }
}

static void no_pass_off_is_faster(void **state)
{
    static const char *const small[] = {"rms_norm",  "softmax_512x1024", "softmax_1024x2048",
                                        "layernorm", "mha_4h",           "sdpa"};
    static const char *const large[] = {"gq_attention", "mlp", "stencil_star", "moe_mlp",
                                        "transformer_block"}; /* the last three take as long as all others */
    char path[80];
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        snprintf(path, sizeof path, "graphs/%s.json", small[i]);
        compare_passes(path, "auto", SAMPLED ? 29 : 1);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large - (SAMPLED ? 3 : 0); i++) {
        snprintf(path, sizeof path, "graphs/%s.json", large[i]);
        compare_passes(path, "bestfit", SAMPLED ? 61 : 4);
    }
}

/* What leaving copies out by hand reached when buffers cost bytes. */
static void copies_that_do_not_pay_are_left_out(void **state)
{
    (void)state;
    struct lx_plan *p = fastest("graphs/rms_norm.json", 1, "auto", -1);
    assert_true(p->figures.end_to_end_us <= 61.0 && p->figures.device_us <= 61.0);
    lx_plan_free(p);
    p = fastest("graphs/softmax_512x1024.json", 1, "auto", -1);
    assert_true(p->figures.end_to_end_us <= 61.5 && lx_plan_gap(p) <= 0.001);
    lx_plan_free(p);
}

/* Heads on few cores, as all ops then work on what their own core has. The products stream batches slowly: their
 * operands are loaded, though only they read them. */
static void slow_operands_are_loaded_and_ops_agree(void **state)
{
    (void)state;
    struct lx_plan *p = fastest("graphs/gq_attention.json", 32, "auto", -1);
    is_honest(p);
    assert_true(p->sync_count <= 2 && p->figures.end_to_end_us <= 34.8);
    lx_plan_free(p);
}

static struct lx_plan *fastest_softmax(const char *preset, int64_t cores)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("bestfit"), .objective = LX_ASK_TIME};
    const struct lx_graph *g = device_test_graph("graphs/softmax_512x1024.json");
    struct lx_device d = g->device;
    assert_true(lx_device_preset(preset, &d));
    if (cores) d.cores = d.grid_x = cores, d.grid_y = 1;
    g = with_device(g, &d);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    return p;
}

/* One core takes all operands through one port; no op takes less than its tick. */
static void bounds_know_ports_and_ticks(void **state)
{
    (void)state;
    struct lx_plan *p = fastest_softmax("tenstorrent", 1);
    is_honest(p);
    assert_true(lx_plan_gap(p) <= 0.01);
    lx_plan_free(p);
    p = fastest_softmax("h200", 0);
    const struct lx_device *d = &p->graph->device;
    is_honest(p);
    assert_true(p->figures.bound_us >=
                cost_rate(d, COST_BEGIN) + cost_rate(d, COST_TICK) * p->graph->op_count);
    lx_plan_free(p);
}

static char *text_of(const struct lx_plan *p)
{
    size_t length;
    char *text = lx_plan_to_json(p, &length);
    assert_non_null(text);
    return text;
}

static void fast_plans_are_plans(void **state)
{
    static const char *const paths[] = {"graphs/gq_attention.json", "graphs/rms_norm.json",
                                        "graphs/moe_mlp.json", "targets/gqattention.json"};
    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct lx_plan *p = fastest(paths[i], 32, "bestfit", -1),
                       *again = fastest(paths[i], 32, "bestfit", -1);
        char *text = text_of(p), *second = text_of(again);
        lx_status st = {0};
        struct lx_device_options how = {.threads = 1};
        assert_string_equal(text, second);
        struct lx_plan *read = lx_plan_of_text("plan", text, strlen(text), &st);
        if (!read || !lx_plan_check(read, &st)) fail_msg("%s: %s", paths[i], st.text);
        assert_true(read->asks_time);
        struct lx_run_result *r = lx_device_run(read, &how, &st);
        if (!r || !r->ok) fail_msg("%s: %s", paths[i], r ? what_is_wrong(r) : st.text);
        lx_run_result_free(r);
        lx_plan_free(read);
        lx_plan_free(p);
        lx_plan_free(again);
        mem_free(text);
        mem_free(second);
    }
}

/* Random graphs with extern ops, small scratchpads and limits on bundles: legal, executed, never below their bounds. */
static void random_graphs_are_fast_and_legal(void **state)
{
    static const enum lx_ask objectives[] = {LX_ASK_TRAFFIC, LX_ASK_TIME, LX_ASK_BALANCED};
    struct rng r = rng_seed(29);
    (void)state;
    for (int i = 0; i < (SAMPLED ? 4 : 150); i++) {
        lx_status st = {0};
        struct random_graph_shape shape = {.ops = 4 + (int)rng_below(&r, 9),
                                           .with_views = rng_below(&r, 2),
                                           .with_externs = rng_below(&r, 3) == 0,
                                           .again = rng_below(&r, 3) == 0,
                                           .cores = (int64_t)1 << rng_below(&r, 6)};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        if (!g) fail_msg("%s", st.text);
        struct lx_device d = g->device;
        d.bundle_tensors = rng_below(&r, 3) ? 0 : (int64_t)rng_between(&r, 1, 7);
        g = with_device(g, &d);
        if (i % 4 < 2) g = with_capacity(g, 128 * rng_between(&r, 4, 400));
        struct lx_plan_options how = {.solver = lx_solver_find(i % 5 ? "bestfit" : "auto"),
                                      .passes.tile = i % 7 ? LX_TILE_AUTO : LX_TILE_NONE,
                                      .objective = objectives[i % 3]};
        struct lx_plan *p = lx_plan_make(g, &how, &st);
        lx_graph_free(g);
        if (!p) fail_msg("graph %d: %s", i, st.text);
        if (!lx_plan_check(p, &st)) fail_msg("graph %d: %s", i, st.text);
        if (p->asks_time) is_honest(p);
        struct lx_run_result *run = lx_device_run(p, &(struct lx_device_options){.threads = 1}, &st);
        if (!run || !run->ok) fail_msg("graph %d: %s", i, run ? what_is_wrong(run) : st.text);
        lx_run_result_free(run);
        lx_plan_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_pass_off_is_faster),
                                       cmocka_unit_test(copies_that_do_not_pay_are_left_out),
                                       cmocka_unit_test(slow_operands_are_loaded_and_ops_agree),
                                       cmocka_unit_test(bounds_know_ports_and_ticks),
                                       cmocka_unit_test(fast_plans_are_plans),
                                       cmocka_unit_test(random_graphs_are_fast_and_legal)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
