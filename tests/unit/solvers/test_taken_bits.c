/* Gaps read off a map of taken sticks are those between sorted ranges, at any number of ranges, sizes and alignments. */
#include "common/taken_bits.h"
#include "base/memory.h"
#include "base/checked.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 400, UNIT = 128 };

/* The address that the rule of first fit (or tightest fit) gives `size` bytes. */
static int64_t gap_for(const struct byte_range *at, size_t count, int64_t capacity, int64_t size,
                       bool tightest)
{
    int64_t gap = 0, best = -1, least = INT64_MAX;
    for (size_t i = 0; i <= count; i++) {
        int64_t end = i < count ? at[i].from : capacity, from = round_up_i64(gap, UNIT);
        if (from <= end - size && end - from - size < least) {
            if (!tightest) return from;
            best = from;
            least = end - from - size;
        }
        if (i < count) gap = max_i64(gap, at[i].to);
    }
    return best;
}

static size_t draw(struct rng *rng, int64_t capacity, struct byte_range *at)
{
    size_t count = rng_below(rng, MOST);
    int64_t longest = 1 + (int64_t)rng_below(rng, (uint64_t)(capacity / 8));
    for (size_t i = 0; i < count; i++) {
        int64_t size = 1 + (int64_t)rng_below(rng, (uint64_t)longest);
        at[i].from = (int64_t)rng_below(rng, (uint64_t)((capacity - size) / UNIT + 1)) * UNIT;
        at[i].to = at[i].from + size;
        if (rng_below(rng, 50) == 0) at[i] = (struct byte_range){0, 0}; /* before the first gap of a crowd */
    }
    return count;
}

static void test_gaps(void **state)
{
    (void)state;
    struct rng rng = rng_seed(7);
    size_t shorter = 0;
    for (int round = 0; round < 3000; round++) {
        struct byte_range joined[MOST], sorted[MOST];
        struct lx_problem p = {.capacity = 1 + (int64_t)rng_below(&rng, 200 * UNIT), .alignment = UNIT};
        struct taken_bits map;
        p.capacity += 10 * UNIT;
        size_t count = draw(&rng, p.capacity, joined), now;
        memcpy(sorted, joined, sizeof joined);
        range_sort(sorted, count);
        taken_bits_init(&map, &p, p.capacity);
        now = taken_join(&map, joined, count);
        shorter += now < count;
        for (int64_t size = 1; size < p.capacity; size += 1 + (int64_t)rng_below(&rng, 3 * UNIT))
            for (int tightest = 0; tightest < 2; tightest++)
                assert_int_equal(gap_for(joined, now, p.capacity, size, tightest),
                                 gap_for(sorted, count, p.capacity, size, tightest));
        mem_free(map.bits);
    }
    assert_true(shorter > 1000); /* the map was asked */
}

/* Where an address may lie within a stick, or memory has no limit, ranges are sorted as they are. */
static void test_no_map(void **state)
{
    (void)state;
    struct lx_buffer odd = {.fixed = 100, .size = 10};
    struct lx_problem with_odd = {.capacity = 6400, .alignment = UNIT, .buffers = &odd, .count = 1};
    struct lx_problem height = {.capacity = 6400, .alignment = UNIT, .objective = LX_HEIGHT};
    struct taken_bits map;
    taken_bits_init(&map, &with_odd, with_odd.capacity);
    assert_int_equal(map.words, 0);
    taken_bits_init(&map, &height, INT64_MAX / 2);
    assert_int_equal(map.words, 0);
    struct byte_range at[40];
    for (int i = 0; i < 40; i++) at[i] = (struct byte_range){100 * (39 - i), 100 * (39 - i) + 50};
    assert_int_equal(taken_join(&map, at, 40), 40);
    for (int i = 0; i < 40; i++) assert_int_equal(at[i].from, 100 * i);
    mem_free(map.bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gaps), cmocka_unit_test(test_no_map)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
