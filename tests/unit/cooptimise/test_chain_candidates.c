/* Candidates of the beam are sorted as a plain sort would, however many there are and however equal. */
#include "cooptimise/chain_candidates.h"
#include "base/memory.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 3000 };

static int compare(const void *a, const void *b)
{
    return chain_before(a, b) ? -1 : chain_before(b, a) ? 1 : 0;
}

/* Few values of each figure, so that all of them decide somewhere; in part in order, as the beam has them. */
static void draw(struct rng *rng, struct chain_candidate *list, size_t count)
{
    int64_t ranks = rng_between(rng, 1, 4000);
    for (size_t i = 0; i < count; i++) {
        struct chain_candidate *c = &list[i];
        *c = (struct chain_candidate){.nexts = (int32_t)(count - i)};
        c->then.rank = rng_between(rng, -ranks, ranks) * (INT64_C(1) << rng_below(rng, 3) * 9);
        c->then.tie = rng_between(rng, 0, 3);
        c->then.load = rng_between(rng, 0, 2);
        c->then.cost = rng_between(rng, 0, 2);
        c->from = (int32_t)rng_between(rng, 0, 2);
    }
    qsort(list, count / 3, sizeof *list, compare);
}

static void test_sorted(void **state)
{
    (void)state;
    struct rng rng = rng_seed(11);
    struct chain_candidate *list = mem_alloc(MOST * sizeof *list), *same = mem_alloc(MOST * sizeof *same);
    struct chain_key *keys = mem_alloc(2 * MOST * sizeof *keys);
    assert_true(list && same && keys);
    for (int round = 0; round < 200; round++) {
        size_t count = rng_below(&rng, round % 2 ? MOST : 40);
        draw(&rng, list, count);
        for (size_t i = 0; i < count; i++) same[i] = list[i];
        qsort(same, count, sizeof *same, compare);
        chain_sort(list, count, keys);
        for (size_t i = 0; i < count; i++) assert_int_equal(list[i].nexts, same[i].nexts);
    }
    mem_free(list);
    mem_free(same);
    mem_free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
