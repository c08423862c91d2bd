/* More choices are never worse, and bounds hold: a sample of what tests/measure/bench_monotone.c goes through. */
#include "support/monotone.h"
#include "support/random_graph.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void never_worse(const struct lx_graph *g, int64_t lx, int step, bool searches)
{
    lx_status st = {0};
    struct monotone m = {.print = true};
    const struct lx_graph *s = g ? lx_graph_with_capacity(g, lx, &st) : NULL;
    if (!s) fail_msg("%s", st.text);
    monotone_point(s, step, searches, &m);
    lx_graph_free(s);
    assert_int_equal(m.worse + m.below, 0);
}

static void graphs_under_pressure(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int64_t lx;
    } points[] = {
        {"moe_mlp", 102400}, {"moe_mlp", 24576}, {"gq_attention", 102400}, {"softmax_512x1024", 400000}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char path[300];
        lx_status st = {0};
        snprintf(path, sizeof path, SOURCE_DIR "/patterns/graphs/%s.json", points[i].path);
        const struct lx_graph *g = lx_graph_read(path, &st);
        never_worse(g, points[i].lx, SAMPLED ? 211 : 23, false);
        lx_graph_free(g);
    }
}

static void random_graphs(void **state)
{
    (void)state;
    static const int64_t sizes[] = {512, 2048, 4096, 20000};
    for (uint64_t seed = 0; seed < (SAMPLED ? 4 : 40); seed++) {
        struct rng r = rng_seed(seed + 7000);
        struct random_graph_shape shape = {.ops = 4 + (int)rng_below(&r, 12),
                                           .with_views = rng_below(&r, 2),
                                           .with_externs = rng_below(&r, 3) == 0,
                                           .again = rng_below(&r, 2),
                                           .with_results = seed % 3 == 2,
                                           .cores = seed & 1 ? 32 : 4};
        lx_status st = {0};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        never_worse(g, sizes[rng_below(&r, 4)], 11, true);
        lx_graph_free(g);
    }
}

/* Searches of passes where a bundle may have few tensors: plans are judged with their bundles merged. */
static void limited_bundles(void **state)
{
    (void)state;
    static const struct lx_passes passes[] = {
        {0},
        {.evict = true},
        {.reorder = true},
        {.move = true},
        {.evict = true, .move = true},
        {.cooptimise = LX_COOPTIMISE_FULL},
        {.clone = LX_CLONE_HEURISTIC, .cooptimise = LX_COOPTIMISE_FULL},
    };
    struct monotone m = {.print = true};
    for (uint64_t seed = 0; seed < (SAMPLED ? 2 : 12); seed++) {
        struct rng r = rng_seed(seed + 7100);
        struct random_graph_shape shape = {.ops = 4 + (int)rng_below(&r, 10), .again = true, .cores = 4};
        lx_status st = {0};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        const struct lx_graph *small = g ? lx_graph_with_capacity(g, 2048, &st) : NULL;
        if (!small) fail_msg("%s", st.text);
        struct lx_device device = small->device;
        device.bundle_tensors = (int32_t)rng_between(&r, 2, 9);
        const struct lx_graph *limited = lx_graph_with_device(small, &device);
        if (!limited) fail_msg("%s", st.text);
        device.lx_survives = 1;
        const struct lx_graph *spared = lx_graph_with_device(small, &device);
        struct lx_plan *plans[7];
        for (int k = 0; k < 7; k++) {
            struct lx_passes with = passes[k];
            with.tile = LX_TILE_NONE;
            plans[k] = monotone_plan(limited, "auto", &with);
            struct lx_plan *surviving = monotone_plan(spared, "auto", &with);
            monotone_compare(surviving, plans[k], "scratchpads that survive", &m);
            lx_plan_free(surviving);
        }
        lx_graph_free(spared);
        for (int k = 1; k < 6; k++) monotone_compare(plans[k], plans[0], "limited bundles", &m);
        monotone_compare(plans[4], plans[1], "moves beside evictions", &m);
        monotone_compare(plans[5], plans[6], "heuristic copies", &m);
        for (int k = 0; k < 7; k++) lx_plan_free(plans[k]);
        lx_graph_free(limited);
        lx_graph_free(small);
        lx_graph_free(g);
    }
    assert_int_equal(m.worse + m.below, 0);
}

/* A run that is stopped once it has asked so often. */
struct patience {
    int64_t asked, most;
};

static bool out_of_patience(void *context)
{
    struct patience *p = context;
    return p->asked++ >= p->most;
}

static int64_t stopped_plan(const struct lx_graph *g, const struct lx_passes *passes, struct patience *p)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"),
                                  .quick_solver = lx_solver_find("bestfit"),
                                  .run = {.stop = out_of_patience, .context = p},
                                  .passes = *passes};
    struct lx_plan *plan = lx_plan_make(g, &how, &st);
    if (!plan) fail_msg("%s", st.text);
    int64_t bytes = plan->figures.hbm_bytes;
    lx_plan_free(plan);
    return bytes;
}

/* Stopped soon after the plan without passes would be done, one with passes moves no more, though bundles are limited. */
static void stopped_searches(void **state)
{
    (void)state;
    const struct lx_passes none = {.tile = LX_TILE_NONE},
                           all = {.tile = LX_TILE_NONE, .evict = true, .move = true, .reorder = true};
    lx_status st = {0};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/stencil_star.json", &st);
    const struct lx_graph *small = g ? lx_graph_with_capacity(g, 102400, &st) : NULL;
    if (!small) fail_msg("%s", st.text);
    struct lx_device device = small->device;
    device.bundle_tensors = 6;
    const struct lx_graph *limited = lx_graph_with_device(small, &device);
    if (!limited) fail_msg("%s", st.text);
    struct patience endless = {.most = INT64_MAX};
    int64_t without = stopped_plan(limited, &none, &endless);
    struct patience as_long = {.most =
                                   2 * endless.asked + 10}; /* asked by the clock: the machine may be busy */
    assert_true(stopped_plan(limited, &all, &as_long) <= without);
    lx_graph_free(limited);
    lx_graph_free(small);
    lx_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(graphs_under_pressure),
                                       cmocka_unit_test(random_graphs), cmocka_unit_test(limited_bundles),
                                       cmocka_unit_test(stopped_searches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
