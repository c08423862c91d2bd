/* Random graphs, passes, devices and questions: every plan with nests is legal, comes back from its file as it was, its
 * figures follow from what it states, and its times add up. A sample; the argument is how many seeds to take. */
#include "support/nest_files.h"
#include "support/random_graph.h"
#include "support/sampled.h"

static int seeds = SANITIZED ? 8 : SAMPLED ? 30 : 80;

/* Some of the passes, not always the same. */
static struct lx_plan_options drawn(struct rng *r)
{
    static const char *const solvers[] = {"auto", "greedy", "bestfit"};
    struct lx_plan_options how = {.solver = lx_solver_find(solvers[rng_below(r, 3)]),
                                  .quick_solver = lx_solver_find("bestfit")};
    how.objective = rng_below(r, 4) == 0 ? LX_ASK_TIME : LX_ASK_OWN;
    how.passes = (struct lx_passes){.tile = LX_TILE_AUTO,
                                    .evict = rng_below(r, 3) == 0,
                                    .move = rng_below(r, 3) == 0,
                                    .reorder = rng_below(r, 4) == 0,
                                    .no_ring = rng_below(r, 4) == 0,
                                    .no_in_place = rng_below(r, 4) == 0};
    return how;
}

static const struct lx_graph *drawn_graph(struct rng *r, lx_status *st)
{
    static const int64_t sizes[] = {512, 2048, 4096, 10000, 20000}, cores[] = {1, 2, 4, 32};
    struct random_graph_shape shape = {.ops = 3 + (int)rng_below(r, 8),
                                       .with_externs = rng_below(r, 5) == 0,
                                       .again = rng_below(r, 5) == 0,
                                       .cores = cores[rng_below(r, 4)]};
    const struct lx_graph *g = random_graph(r, &shape, st);
    if (!g) fail_msg("%s", st->text);
    struct lx_device device = g->device;
    if (rng_below(r, 3) == 0) device.bundle_tensors = 4 + (int64_t)rng_below(r, 6);
    device.lx_survives = device.bundle_tensors % 2;
    if (device.cores == 32 && rng_below(r, 2)) device.uneven = 1, device.cores = 3 + (int64_t)rng_below(r, 9);
    const struct lx_graph *on = lx_graph_with_device(g, &device);
    const struct lx_graph *sized = on ? lx_graph_with_capacity(on, sizes[rng_below(r, 5)], st) : NULL;
    lx_graph_free(g);
    lx_graph_free(on);
    return sized;
}

static int32_t try_seed(uint64_t seed)
{
    struct rng r = rng_seed(seed + 4100);
    lx_status st = {0};
    char name[40];
    const struct lx_graph *g = drawn_graph(&r, &st);
    struct lx_plan_options how = drawn(&r);
    struct lx_plan *p = g ? lx_plan_make(g, &how, &st) : NULL;
    snprintf(name, sizeof name, "seed %d", (int)seed);
    if (!p) fail_msg("%s: %s", name, st.text);
    if (!lx_plan_check(p, &st)) fail_msg("%s: %s", name, st.text);
    int32_t nests = comes_back(p, name);
    figures_follow(p, name);
    adds_up(p);
    lx_plan_free(p);
    lx_graph_free(g);
    return nests;
}

static void plans_hold_together(void **state)
{
    (void)state;
    int32_t nests = 0;
    for (int i = 0; i < seeds; i++) nests += try_seed((uint64_t)i);
    print_message("%d nests in %d plans\n", (int)nests, seeds);
    assert_true(nests > seeds / 4);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plans_hold_together)};
    if (argc > 1) seeds = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
