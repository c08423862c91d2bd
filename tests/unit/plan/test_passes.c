/* The passes that search, beside brute force on tiny graphs: the best of all evictions and of all orders, and bounds
 * that say so. On larger random graphs: no bound above any plan with the same passes or fewer, and a pass that is on
 * never makes a plan worse. A sample; tests/measure/bench_passes.c takes any number. */
#include "support/pass_bounds.h"
#include "support/tiny_plan.h"
#include "support/sampled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void compare(const char *what, int graphs, int gains)
{
    struct tiny_sums sums = {0};
    for (uint64_t seed = 1; sums.graphs < graphs; seed++) {
        struct tiny_result r;
        if (!tiny_try(seed, tiny_passes(what), &r)) continue;
        tiny_add(&sums, &r);
        if (r.plan != r.best || r.bound != r.best || !r.legal)
            fail_msg("%s, seed %d: plan %lld, best %lld, bound %lld", what, (int)seed, (long long)r.plan,
                     (long long)r.best, (long long)r.bound);
    }
    assert_true(sums.gains >= gains);
}

static void best_evictions(void **state)
{
    (void)state;
    compare("evict", 200, 10);
}

static void best_orders(void **state)
{
    (void)state;
    compare("reorder", 40, 4);
}

static void best_orders_with_evictions(void **state)
{
    (void)state;
    compare("both", 40, 4);
}

/* Where the load is all that counts. On so few buffers it hardly ever needs moves; test_move_pass.c has those. */
static void best_with_moves(void **state)
{
    (void)state;
    compare("move", 60, 0);
    compare("evict_move", 60, 0);
    compare("all", 30, 1);
}

static void bounds_hold(void **state)
{
    (void)state;
    for (uint64_t seed = 101, done = 0; done < (SAMPLED ? 1 : 2); seed++) {
        struct pass_plans p = {0};
        lx_status st = {0};
        char text[300];
        if (!pass_try(seed, &p, &st)) {
            assert_int_not_equal(st.code, LX_E_NO);
            continue;
        }
        done++;
        if (pass_contradiction(&p, text, sizeof text)) fail_msg("seed %d: %s", (int)seed, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_evictions),
        cmocka_unit_test(best_orders),
        cmocka_unit_test(best_orders_with_evictions),
        cmocka_unit_test(best_with_moves),
        cmocka_unit_test(bounds_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
