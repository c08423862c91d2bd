/* With nests no plan is worse than without, whatever the passes and the solver, and no bound is too high: a sample of what
 * tests/measure/bench_nest_sweep.c goes through. */
#include "support/nest_monotone.h"
#include "support/other_sizes.h"
#include "support/random_graph.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void random_graphs(void **state)
{
    (void)state;
    static const int64_t sizes[] = {128, 512, 2048, 10000}, cores[] = {1, 2, 4, 32};
    static const char *const solvers[] = {"auto", "greedy", "exact", "bestfit"};
    struct nest_monotone m = {0};
    for (uint64_t seed = 0; seed < (SAMPLED ? 12 : 24); seed++) {
        struct rng r = rng_seed(seed + 77000);
        struct random_graph_shape shape = {.ops = 3 + (int)rng_below(&r, 6),
                                           .with_views = rng_below(&r, 3) == 0,
                                           .with_externs = rng_below(&r, 4) == 0,
                                           .again = rng_below(&r, 3) == 0,
                                           .cores = cores[rng_below(&r, 4)]};
        lx_status st = {0};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        const struct lx_graph *s = g ? lx_graph_with_capacity(g, sizes[rng_below(&r, 4)], &st) : NULL;
        if (!s) fail_msg("%s", st.text);
        nest_monotone_pair(s, solvers[seed % 4], (int)rng_below(&r, NEST_PASSES), LX_ASK_OWN, &m);
        lx_graph_free(s);
        lx_graph_free(g);
    }
    assert_int_equal(m.worse + m.below + m.refused, 0);
    assert_true(m.nested > (SAMPLED ? 2 : 4));
}

static int64_t balanced_bytes(const char *preset, int64_t room)
{
    lx_status st = {0};
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .objective = LX_ASK_BALANCED};
    const struct lx_graph *g = lx_graph_read(SOURCE_DIR "/patterns/graphs/mlp_small.json", &st);
    struct lx_device d = g->device;
    assert_true(lx_device_preset(preset, &d));
    g = with_capacity(with_device(g, &d), room);
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    lx_graph_free(g);
    if (!p) fail_msg("%s", st.text);
    int64_t bytes = p->figures.hbm_bytes;
    lx_plan_free(p);
    return bytes;
}

/* A little more room lets the smallest parts of one more tensor in, but none that agree. */
static void more_room_is_no_worse(void **state)
{
    (void)state;
    assert_true(balanced_bytes("tenstorrent", 20480) <= balanced_bytes("tenstorrent", 16384));
    assert_true(balanced_bytes("spyre", 24576) <= balanced_bytes("spyre", 20480));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs),
                                       cmocka_unit_test(more_room_is_no_worse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
