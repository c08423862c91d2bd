/* Sorts that look at the stop (base/sort.h): beside qsort, in the order that equal elements had, and stopped anywhere all
 * elements are still there. */
#include "base/rng.h"
#include "base/sort.h"
#include "base/stop.h"
#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 70000 };

struct thing {
    int64_t key;
    int32_t was;      /* its place before */
    int32_t wide[11]; /* more than what is moved as a word */
};

static int by_key(const void *a, const void *b)
{
    const struct thing *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static int by_key_and_place(const void *a, const void *b)
{
    const struct thing *x = a, *y = b;
    int keys = by_key(a, b);
    return keys ? keys : (x->was > y->was) - (x->was < y->was);
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

struct looks {
    int64_t count, most;
};

static bool counted_stop(void *context)
{
    struct looks *l = context;
    return l->count++ >= l->most;
}

/* `kinds` of keys: 0 as many as elements, in order; -1 the same backwards. */
static struct thing *things(size_t count, int64_t kinds)
{
    struct thing *t = mem_zeroed(count + 1, sizeof *t);
    struct rng rng = rng_seed(count);
    assert_non_null(t);
    for (size_t i = 0; i < count; i++) {
        int64_t place = (int64_t)i;
        t[i].key = kinds > 0 ? (int64_t)(rng_next(&rng) % (uint64_t)kinds) : kinds < 0 ? -place : place;
        t[i].was = (int32_t)i;
        t[i].wide[10] = (int32_t)(t[i].key ^ place);
    }
    return t;
}

static void like_qsort(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 100, 4095, 4096, 4097, 8192, 8193, 12289, MOST};
    static const int64_t kinds[] = {0, -1, 1, 2, 50, 1 << 30};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t k = 0; k < 2 * sizeof kinds / sizeof *kinds; k++) {
            struct thing *a = things(counts[c], kinds[k / 2]), *b = things(counts[c], kinds[k / 2]);
            qsort(b, counts[c], sizeof *b, by_key_and_place);
            if (k % 2)
                sort_in_full(a, counts[c], sizeof *a, by_key);
            else
                assert_true(sort_or_stop(a, counts[c], sizeof *a, by_key));
            assert_memory_equal(a, b, (counts[c] + 1) * sizeof *a);
            mem_free(a);
            mem_free(b);
        }
}

static void small_elements(void **state)
{
    int32_t *a = mem_alloc(MOST * sizeof *a), *b = mem_alloc(MOST * sizeof *b);
    struct rng rng = rng_seed(7);
    (void)state;
    assert_true(a && b);
    for (size_t i = 0; i < MOST; i++) a[i] = b[i] = (int32_t)(rng_next(&rng) % 100000);
    assert_true(sort_or_stop(a, MOST, sizeof *a, by_number));
    qsort(b, MOST, sizeof *b, by_number);
    assert_memory_equal(a, b, MOST * sizeof *a);
    mem_free(a);
    mem_free(b);
}

static void stopped_anywhere(void **state)
{
    (void)state;
    bool done = false;
    for (int64_t most = 0; !done; most++) {
        struct thing *a = things(MOST, 1 << 30), *b = things(MOST, 1 << 30);
        struct looks looks = {.most = most};
        struct stop stop;
        stop_begin(&stop, counted_stop, &looks);
        done = sort_or_stop(a, MOST, sizeof *a, by_key_and_place);
        stop_end(&stop);
        assert_true(done == (looks.count <= most));
        if (!done) qsort(a, MOST, sizeof *a, by_key_and_place);
        qsort(b, MOST, sizeof *b, by_key_and_place);
        assert_memory_equal(a, b, MOST * sizeof *a);
        mem_free(a);
        mem_free(b);
        assert_true(done || most < 1000);
    }
}

/* It looks, it is told, and goes on. */
static void in_full(void **state)
{
    struct thing *a = things(MOST, 1 << 30), *b = things(MOST, 1 << 30);
    struct looks looks = {.most = 0};
    struct stop stop;
    (void)state;
    stop_begin(&stop, counted_stop, &looks);
    sort_in_full(a, MOST, sizeof *a, by_key_and_place);
    assert_true(stop_is_now());
    stop_end(&stop);
    qsort(b, MOST, sizeof *b, by_key_and_place);
    assert_memory_equal(a, b, MOST * sizeof *a);
    mem_free(a);
    mem_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(like_qsort), cmocka_unit_test(small_elements),
                                       cmocka_unit_test(stopped_anywhere), cmocka_unit_test(in_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
