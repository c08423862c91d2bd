/* Lanes beside a list: nobody shares one, the leftmost free one is taken, and what finds none is counted. */
#include "tui/core/planned.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int32_t thing_at(const struct rails *r, int lane, int32_t row)
{
    const struct rail *x = rails_at(r, lane, row);
    return x ? x->thing : -1;
}

/* a: 0..3, b: 0..1, c: 1..2 cannot have b's lane yet, d: 2..4 can. */
static void lanes_are_taken_from_the_left(void **state)
{
    struct rail all[] = {{'d', 2, 4}, {'b', 0, 1}, {'a', 0, 3}, {'c', 1, 2}};
    static const char *const rows[] = {"ab ", "abc", "adc", "ad ", " d "};
    struct rails r;
    (void)state;
    rails_make(all, 4, 5, &r);
    assert_int_equal(r.lanes, 3);
    for (int32_t row = 0; row < 5; row++)
        for (int lane = 0; lane < 3; lane++)
            assert_int_equal(thing_at(&r, lane, row), rows[row][lane] == ' ' ? -1 : rows[row][lane]);
    assert_int_equal(rails_folded(&r, 3, 1), 0);
    assert_int_equal(rails_folded(&r, 1, 1), 2);
    assert_int_equal(rails_folded(&r, 0, 4), 1);
    assert_null(rails_at(&r, 3, 0));
    assert_null(rails_at(&r, -1, 0));
    assert_int_equal(rails_folded(&r, 3, 99), 0);
    rails_free(&r);
}

static void an_empty_list_has_none(void **state)
{
    struct rail none[1] = {{0, 0, 0}};
    struct rails r;
    (void)state;
    rails_make(none, 0, 0, &r);
    assert_int_equal(r.lanes, 0);
    assert_null(rails_at(&r, 0, 0));
    rails_free(&r);
}

enum { THINGS = 400, ROWS = 120 };

/* Against the things themselves: each lane has at a row who lives there, everyone is in one lane or folded. */
static void check(const struct rail *all, int32_t count, const struct rails *r)
{
    for (int32_t row = 0; row < ROWS; row++) {
        int32_t live = 0, in_lanes = 0;
        for (int32_t i = 0; i < count; i++) live += all[i].first <= row && row <= all[i].last;
        for (int lane = 0; lane < r->lanes; lane++) {
            const struct rail *x = rails_at(r, lane, row);
            if (!x) continue;
            in_lanes++;
            assert_true(x->first <= row && row <= x->last);
            for (int other = 0; other < lane; other++) assert_true(thing_at(r, other, row) != x->thing);
        }
        assert_int_equal(r->live[row], live);
        assert_int_equal(rails_folded(r, r->lanes, row), live - in_lanes);
    }
}

static void random_lists_agree(void **state)
{
    struct rng rng = rng_seed(7);
    (void)state;
    for (int round = 0; round < 60; round++) {
        struct rail all[THINGS];
        struct rails r;
        int32_t n = 1 + (int32_t)rng_below(&rng, THINGS);
        for (int32_t i = 0; i < n; i++) {
            int32_t first = (int32_t)rng_below(&rng, ROWS), longest = round % 3 == 0 ? ROWS : 8;
            int32_t last = first + (int32_t)rng_below(&rng, (uint64_t)longest);
            all[i] = (struct rail){i, first, last < ROWS ? last : ROWS - 1};
        }
        rails_make(all, n, ROWS, &r);
        assert_true(r.lanes <= MOST_RAILS);
        check(all, n, &r);
        rails_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_taken_from_the_left),
        cmocka_unit_test(an_empty_list_has_none),
        cmocka_unit_test(random_lists_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
