/* The pool of threads, with more of them than there are processors. */
#include "kernels/thread_pool.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

struct tally {
    unsigned char *seen;
    int threads;
};

static void count_task(void *context, int64_t task, int worker)
{
    struct tally *t = context;
    t->seen[task]++;
    if (worker < 0 || worker >= t->threads) t->seen[task] = 100;
}

static void test_every_task_once(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    enum { TASKS = 1000 };
    unsigned char seen[TASKS + 1];
    for (int i = 0; i < 4; i++) {
        struct pool *pool = pool_create(threads[i]);
        assert_non_null(pool);
        assert_int_equal(pool_threads(pool), threads[i]);
        for (int64_t n = 0; n <= TASKS; n = n < 20 ? n + 1 : n * 3 / 2)
            for (int repeat = 0; repeat < 20; repeat++) {
                memset(seen, 0, sizeof seen);
                pool_run(pool, n, count_task, &(struct tally){seen, threads[i]});
                for (int64_t k = 0; k < TASKS; k++) assert_int_equal(seen[k], k < n);
            }
        char *first = pool_scratch(pool, 100);
        assert_non_null(first);
        memset(first, 1, 100);
        assert_ptr_equal(pool_scratch(pool, 50), first);
        char *large = pool_scratch(pool, 5 << 20);
        assert_true(large && (uintptr_t)large % 64 == 0);
        memset(large, 1, 5 << 20);
        pool_destroy(pool);
    }
    memset(seen, 0, sizeof seen);
    pool_run(NULL, 5, count_task, &(struct tally){seen, 1});
    assert_int_equal(seen[4], 1);
    pool_destroy(NULL);
}

#ifdef __linux__
struct processors {
    cpu_set_t allowed;
    atomic_int changed;
};

static void compare_processors(void *context, int64_t task, int worker)
{
    (void)task, (void)worker;
    struct processors *p = context;
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0 || !CPU_EQUAL(&mine, &p->allowed))
        atomic_fetch_add(&p->changed, 1);
}

/* Workers that made room for another may still run wherever the caller may. */
static void test_processors_are_kept(void **state)
{
    (void)state;
    struct processors p = {.changed = 0};
    assert_int_equal(sched_getaffinity(0, sizeof p.allowed, &p.allowed), 0);
    struct pool *pool = pool_create(3);
    assert_non_null(pool);
    for (int i = 0; i < 300; i++) {
        pool_run(pool, 64, compare_processors, &p);
        if (i % 30 == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* they fall asleep */
    }
    assert_int_equal(atomic_load(&p.changed), 0);
    pool_destroy(pool);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_task_once),
#ifdef __linux__
        cmocka_unit_test(test_processors_are_kept),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
