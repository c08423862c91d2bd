/* lib/scratchpad: the bounds never exceed the optimum, and are tight where they should be. */
#include "placement/problem.h"
#include "base/memory.h"
#include "support/problem_builder.h"
#include "support/small_problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

static int64_t bound_of(const struct lx_problem *p)
{
    lx_status st;
    assert_true(lx_problem_validate(p, &st));
    return lx_bound(p);
}

static void never_above_the_optimum(void **state)
{
    (void)state;
    int tight = 0;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        struct rng r = rng_seed(seed);
        struct small s;
        small_random(&s, &r, (int32_t)rng_between(&r, 1, 7), LX_SPILL);
        int64_t optimum = small_optimum(&s.problem), bound = bound_of(&s.problem);
        if (bound > optimum)
            fail_msg("seed %llu: the bound %lld is above the optimum %lld", (unsigned long long)seed,
                     (long long)bound, (long long)optimum);
        tight += bound == optimum;
    }
    assert_in_range(tight, 17500, 20000); /* 18,152 when this was written */
}

static void height_never_above_the_optimum(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        struct rng r = rng_seed(seed);
        struct small s;
        small_random(&s, &r, (int32_t)rng_between(&r, 1, 5), LX_HEIGHT);
        int64_t optimum = small_optimum(&s.problem), bound = bound_of(&s.problem);
        if (bound > optimum)
            fail_msg("seed %llu: the bound %lld is above the optimum %lld", (unsigned long long)seed,
                     (long long)bound, (long long)optimum);
    }
}

/* Whole buffers leave: the fraction of one that would do costs as much as all of it. */
static void whole_buffers_leave(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_SPILL, 13, 1);
    for (int i = 0; i < 3; i++) problem_add(&list, 6, 0, 2, 60 + 6 * i);
    assert_int_equal(bound_of(&list.problem), 60);
    list.problem.capacity = 11;
    assert_int_equal(bound_of(&list.problem), 126);
    problem_end(&list);
}

/* Two ticks that are overfull, one by 6 bytes of 2 each, one by nothing: a byte more saves 2 at the first. */
static void room_has_a_price(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_SPILL, 12, 1);
    for (int i = 0; i < 3; i++) problem_add(&list, 6, 0, 2, 12);
    for (int i = 0; i < 2; i++) problem_add(&list, 6, 3, 5, 60);
    struct lx_price *prices;
    assert_int_equal(bound_of(&list.problem), 12);
    assert_int_equal(lx_bound_prices(&list.problem, &prices), 1);
    assert_int_equal(prices[0].need, 6);
    assert_int_equal(prices[0].forced, 12);
    assert_true(prices[0].tick < 2 && prices[0].per_byte > 1.99 && prices[0].per_byte < 2.01);
    mem_free(prices);
    list.problem.capacity = 18;
    assert_int_equal(lx_bound_prices(&list.problem, &prices), 0);
    mem_free(prices);
    problem_end(&list);
}

static void bytes_below_the_alignment_are_lost(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_SPILL, 255, 128);
    for (int i = 0; i < 2; i++) problem_add(&list, 100, 0, 2, 10);
    assert_int_equal(bound_of(&list.problem), 0); /* [0, 100) and [128, 228) */
    list.problem.capacity = 227;
    assert_int_equal(bound_of(&list.problem), 10);
    problem_end(&list);
}

static void what_cannot_be_placed_is_paid(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_SPILL, 32, 8);
    problem_add(&list, 100, 0, 2, 10);
    problem_add(&list, 8, 0, 2, 3)->reason = "barred";
    problem_add(&list, 8, 0, 2, 5)->fixed = 32;
    problem_add(&list, 8, 0, 2, 1);
    assert_int_equal(bound_of(&list.problem), 18);
    problem_end(&list);
}

/* Two sections that share a buffer: neither alone forces what both do. */
static void sections_add_up(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_SPILL, 8, 1);
    problem_add(&list, 4, 0, 4, 40);
    for (int i = 0; i < 4; i++) problem_add(&list, 4, i / 2 * 2, i / 2 * 2 + 2, 12);
    assert_int_equal(bound_of(&list.problem), 24);
    problem_end(&list);
}

static void a_handover_is_not_counted_twice(void **state)
{
    (void)state;
    struct problem_builder list = problem_begin(LX_SPILL, 8, 1);
    for (int i = 0; i < 2; i++) {
        problem_add(&list, 8, i, i + 2, 10);
        problem_uses(&list, i, i, i + 1);
    }
    assert_int_equal(bound_of(&list.problem), 10);
    problem_parent(&list, 1, 0);
    assert_int_equal(bound_of(&list.problem), 0);
    list.buffers[0].reason = "barred"; /* then nobody hands anything over */
    assert_int_equal(bound_of(&list.problem), 10);
    problem_end(&list);
}

/* Costs and sizes near the largest that a problem may hold. */
static void large_numbers(void **state)
{
    (void)state;
    int64_t size = (int64_t)1 << 49, cost = (int64_t)1 << 49;
    struct problem_builder list = problem_begin(LX_SPILL, 2 * size, 1);
    for (int i = 0; i < 8; i++) problem_add(&list, size, i / 2, i / 2 + 2, cost);
    assert_int_equal(bound_of(&list.problem), 4 * cost);
    problem_end(&list);
}

static void a_hundred_thousand_buffers(void **state)
{
    (void)state;
    enum { N = 100000 };
    for (int shape = 0; shape < 3; shape++) {
        struct rng r = rng_seed(7);
        struct problem_builder list = problem_begin(LX_SPILL, 1000000, 1);
        for (int i = 0; i < N; i++) {
            int64_t start = rng_between(&r, 0, shape == 2 ? 50 : N),
                    life = rng_between(&r, 1, shape == 1 ? N : 60), size = rng_between(&r, 1, 100000);
            problem_add(&list, size, start, start + life, rng_between(&r, 1, 1000000));
        }
        assert_true(bound_of(&list.problem) > 0);
        problem_end(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_above_the_optimum),
        cmocka_unit_test(height_never_above_the_optimum),
        cmocka_unit_test(whole_buffers_leave),
        cmocka_unit_test(room_has_a_price),
        cmocka_unit_test(bytes_below_the_alignment_are_lost),
        cmocka_unit_test(what_cannot_be_placed_is_paid),
        cmocka_unit_test(sections_add_up),
        cmocka_unit_test(a_handover_is_not_counted_twice),
        cmocka_unit_test(large_numbers),
        cmocka_unit_test(a_hundred_thousand_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
