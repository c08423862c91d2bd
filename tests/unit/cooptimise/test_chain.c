/* Chains: what is proved over all divisions holds for every draft; where little can be chosen, it is met. */
#include "unstable.h"
#include "support/joint_bounds.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { GRAPHS = SANITIZED ? 6 : SAMPLED ? 25 : 100 };

/* Random graphs, passes, divisions, cuts, orders and placements; bench_joint_bounds has more of them. */
static void no_draft_moves_less(void **state)
{
    (void)state;
    struct joint_bounds all = {.print = true};
    for (uint64_t seed = 0; seed < GRAPHS; seed++) try_graph(seed, 4, &all);
    assert_int_equal(all.graphs, GRAPHS);
    assert_int_equal(all.above_all, 0);
    assert_int_equal(all.above_fixed, 0);
    assert_true(all.met_fixed > all.drafts / 3);
}

static struct lx_plan *plan_with(const struct lx_graph *g, const struct lx_passes *passes)
{
    struct lx_plan_options how = {.solver = lx_solver_find("auto"), .passes = *passes};
    lx_status st = {0};
    struct lx_plan *p = lx_plan_make(g, &how, &st);
    if (!p || !lx_plan_check(p, &st)) fail_msg("%s", st.text);
    return p;
}

/* More search never moves more, and no plan is below what is said of all of them. */
static void levels_are_monotone(void **state)
{
    (void)state;
    static const int64_t sizes[] = {2048, 8192, 50000};
    int fewer = 0, proved = 0;
    for (uint64_t seed = 0; seed < (SAMPLED ? 12 : 45); seed++) {
        struct rng r = rng_seed(seed);
        struct random_graph_shape shape = {.ops = 3 + (int)rng_below(&r, 10),
                                           .with_views = rng_below(&r, 2),
                                           .with_externs = rng_below(&r, 3) == 0,
                                           .again = rng_below(&r, 2),
                                           .cores = 32};
        struct lx_passes passes = random_passes(&r);
        int64_t least = INT64_MAX, bound = 0;
        lx_status st = {0};
        const struct lx_graph *g = random_graph(&r, &shape, &st);
        const struct lx_graph *small = g ? lx_graph_with_capacity(g, sizes[seed % 3], &st) : NULL;
        if (!small) fail_msg("%s", st.text);
        for (int level = LX_COOPTIMISE_NONE; level < LX_COOPTIMISE_COUNT; level++) {
            passes.cooptimise = level;
            struct lx_plan *p = plan_with(small, &passes);
            if (p->figures.hbm_bytes > least) fail_msg("seed %d: level %d moves more", (int)seed, level);
            fewer += p->figures.hbm_bytes < least && level == LX_COOPTIMISE_FULL;
            least = p->figures.hbm_bytes;
            bound = p->joint.searched && p->joint.bound_bytes > bound ? p->joint.bound_bytes : bound;
            proved += level == LX_COOPTIMISE_FULL && p->answer.status == LX_OPTIMAL;
            if (p->answer.status == LX_OPTIMAL && p->joint.searched)
                assert_true(p->joint.bound_bytes <= least);
            lx_plan_free(p);
        }
        if (bound > least)
            fail_msg("seed %d: a bound of %lld, a plan of %lld", (int)seed, (long long)bound,
                     (long long)least);
        lx_graph_free(small);
        lx_graph_free(g);
    }
    assert_true(SAMPLED || (fewer > 4 && proved > 22));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_draft_moves_less),
                                       cmocka_unit_test(levels_are_monotone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
