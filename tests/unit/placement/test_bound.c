/* lib/scratchpad: the bounds never exceed the optimum, and are tight where they should be. */
#include "placement/problem.h"
#include "base/memory.h"
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

static struct lx_buffer plain(int64_t start, int64_t end, int64_t size, int64_t cost)
{
    return (struct lx_buffer){
        .name = "b", .start = start, .end = end, .size = size, .fixed = -1, .spill_cost = cost};
}

/* Whole buffers leave: the fraction of one that would do costs as much as all of it. */
static void whole_buffers_leave(void **state)
{
    (void)state;
    struct lx_buffer b[] = {plain(0, 2, 6, 60), plain(0, 2, 6, 66), plain(0, 2, 6, 72)};
    struct lx_problem p = {.objective = LX_SPILL, .capacity = 13, .alignment = 1, .count = 3, .buffers = b};
    assert_int_equal(bound_of(&p), 60);
    p.capacity = 11;
    assert_int_equal(bound_of(&p), 126);
}

static void bytes_below_the_alignment_are_lost(void **state)
{
    (void)state;
    struct lx_buffer b[] = {plain(0, 2, 100, 10), plain(0, 2, 100, 10)};
    struct lx_problem p = {
        .objective = LX_SPILL, .capacity = 255, .alignment = 128, .count = 2, .buffers = b};
    assert_int_equal(bound_of(&p), 0); /* [0, 100) and [128, 228) */
    p.capacity = 227;
    assert_int_equal(bound_of(&p), 10);
}

static void what_cannot_be_placed_is_paid(void **state)
{
    (void)state;
    struct lx_buffer b[] = {plain(0, 2, 100, 10), plain(0, 2, 8, 3), plain(0, 2, 8, 5), plain(0, 2, 8, 1)};
    b[1].reason = "barred";
    b[2].fixed = 32;
    struct lx_problem p = {.objective = LX_SPILL, .capacity = 32, .alignment = 8, .count = 4, .buffers = b};
    assert_int_equal(bound_of(&p), 18);
}

/* Two sections that share a buffer: neither alone forces what both do. */
static void sections_add_up(void **state)
{
    (void)state;
    struct lx_buffer b[] = {plain(0, 4, 4, 40), plain(0, 2, 4, 12), plain(0, 2, 4, 12), plain(2, 4, 4, 12),
                            plain(2, 4, 4, 12)};
    struct lx_problem p = {.objective = LX_SPILL, .capacity = 8, .alignment = 1, .count = 5, .buffers = b};
    assert_int_equal(bound_of(&p), 24);
}

static void a_handover_is_not_counted_twice(void **state)
{
    (void)state;
    static const int32_t parent[] = {0};
    static const int64_t first[] = {0, 1}, second[] = {1, 2};
    struct lx_buffer b[] = {plain(0, 2, 8, 10), plain(1, 3, 8, 10)};
    b[0].uses = first;
    b[1].uses = second;
    b[0].use_count = b[1].use_count = 2;
    struct lx_problem p = {.objective = LX_SPILL, .capacity = 8, .alignment = 1, .count = 2, .buffers = b};
    assert_int_equal(bound_of(&p), 10);
    b[1].parents = parent;
    b[1].parent_count = 1;
    assert_int_equal(bound_of(&p), 0);
    b[0].reason = "barred"; /* then nobody hands anything over */
    assert_int_equal(bound_of(&p), 10);
}

/* Costs and sizes near the largest that a problem may hold. */
static void large_numbers(void **state)
{
    (void)state;
    int64_t size = (int64_t)1 << 49, cost = (int64_t)1 << 49;
    struct lx_buffer b[8];
    for (int i = 0; i < 8; i++) b[i] = plain(i / 2, i / 2 + 2, size, cost);
    struct lx_problem p = {
        .objective = LX_SPILL, .capacity = 2 * size, .alignment = 1, .count = 8, .buffers = b};
    assert_int_equal(bound_of(&p), 4 * cost);
}

static void a_hundred_thousand_buffers(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct lx_buffer *b = mem_zeroed(N, sizeof *b);
    assert_non_null(b);
    for (int shape = 0; shape < 3; shape++) {
        struct rng r = rng_seed(7);
        for (int i = 0; i < N; i++) {
            int64_t start = rng_between(&r, 0, shape == 2 ? 50 : N),
                    life = rng_between(&r, 1, shape == 1 ? N : 60);
            b[i] = plain(start, start + life, rng_between(&r, 1, 100000), rng_between(&r, 1, 1000000));
        }
        struct lx_problem p = {
            .objective = LX_SPILL, .capacity = 1000000, .alignment = 1, .count = N, .buffers = b};
        assert_true(bound_of(&p) > 0);
    }
    mem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_above_the_optimum),
        cmocka_unit_test(height_never_above_the_optimum),
        cmocka_unit_test(whole_buffers_leave),
        cmocka_unit_test(bytes_below_the_alignment_are_lost),
        cmocka_unit_test(what_cannot_be_placed_is_paid),
        cmocka_unit_test(sections_add_up),
        cmocka_unit_test(a_handover_is_not_counted_twice),
        cmocka_unit_test(large_numbers),
        cmocka_unit_test(a_hundred_thousand_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
