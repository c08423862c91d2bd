/* The pool: a generation counter starts a loop, a count of finished workers ends it.
 *
 * Everything that several threads write is on a cache line of its own. A worker that finds nothing to do spins
 * SPINS times (some tens of microseconds: longer than the gap between two phases of one matrix product), then
 * sleeps on a condition variable. The caller takes the lock only when somebody sleeps. */
#include "device/kernels/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { LINE = 64, SPINS = 20000 };

struct worker {
    _Alignas(LINE) _Atomic int64_t next; /* the first task of its part that nobody has taken */
    int64_t end;
    pthread_t thread;
    struct pool *pool;
    int index;
};

struct pool {
    _Alignas(LINE) _Atomic uint64_t generation; /* one more for each loop; odd or even means nothing */
    _Alignas(LINE) _Atomic int finished;        /* workers without the caller that are through */
    _Alignas(LINE) _Atomic int sleeping;
    atomic_bool stop;
    int threads;
    pool_task *fn;
    void *context;
    void *scratch;
    size_t scratch_bytes;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct worker *worker;
};

static void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Own part first, then what the others have left, beginning with the neighbour. */
static void work(struct pool *pool, int self)
{
    for (int i = 0; i < pool->threads; i++) {
        int from = self + i < pool->threads ? self + i : self + i - pool->threads;
        struct worker *w = &pool->worker[from];
        while (atomic_load_explicit(&w->next, memory_order_relaxed) < w->end) {
            int64_t task = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
            if (task >= w->end) break;
            pool->fn(pool->context, task, self);
        }
    }
}

static uint64_t await_generation(struct pool *pool, uint64_t seen)
{
    for (int i = 0; i < SPINS; i++) {
        uint64_t now = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (now != seen) return now;
        relax();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    uint64_t now;
    while ((now = atomic_load(&pool->generation)) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
    return now;
}

static void *worker_main(void *argument)
{
    struct worker *self = argument;
    struct pool *pool = self->pool;
    uint64_t seen = 0;
    for (;;) {
        seen = await_generation(pool, seen);
        if (atomic_load_explicit(&pool->stop, memory_order_relaxed)) return NULL;
        work(pool, self->index);
        atomic_fetch_add_explicit(&pool->finished, 1, memory_order_release);
    }
}

/* A sleeper counts itself before it looks at the generation once more, and both are sequentially consistent:
 * either it sees the new generation or we see it asleep. */
static void start_generation(struct pool *pool)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleeping) == 0) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

struct pool *pool_create(int threads)
{
    threads = threads < 1 ? 1 : threads > POOL_THREADS_MAX ? POOL_THREADS_MAX : threads;
    struct pool *pool = aligned_alloc(LINE, sizeof *pool);
    struct worker *workers = aligned_alloc(LINE, sizeof *workers * (size_t)threads);
    if (!pool || !workers) {
        free(pool);
        free(workers);
        return NULL;
    }
    *pool = (struct pool){.threads = 1, .worker = workers};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    for (int i = 0; i < threads; i++) workers[i] = (struct worker){.pool = pool, .index = i};
    for (int i = 1; i < threads; i++) {
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0) break;
        pool->threads = i + 1;
    }
    return pool;
}

void pool_destroy(struct pool *pool)
{
    if (!pool) return;
    atomic_store(&pool->stop, true);
    start_generation(pool);
    for (int i = 1; i < pool->threads; i++) pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool->worker);
    free(pool->scratch);
    free(pool);
}

int pool_threads(const struct pool *pool)
{
    return pool ? pool->threads : 1;
}

void pool_run(struct pool *pool, int64_t task_count, pool_task *fn, void *context)
{
    if (!pool || pool->threads == 1 || task_count < 2) {
        for (int64_t i = 0; i < task_count; i++) fn(context, i, 0);
        return;
    }
    int64_t each = task_count / pool->threads, extra = task_count % pool->threads, begin = 0;
    for (int i = 0; i < pool->threads; i++) {
        int64_t count = each + (i < extra);
        atomic_store_explicit(&pool->worker[i].next, begin, memory_order_relaxed);
        pool->worker[i].end = begin += count;
    }
    pool->fn = fn;
    pool->context = context;
    atomic_store_explicit(&pool->finished, 0, memory_order_relaxed);
    start_generation(pool);
    work(pool, 0);
    /* The others are in their last task, or have just been woken and find nothing: spinning is short. */
    for (int spins = 0; atomic_load_explicit(&pool->finished, memory_order_acquire) < pool->threads - 1; spins++)
        if (spins < SPINS) relax();
        else sched_yield(); /* more threads than processors */
}

void *pool_scratch(struct pool *pool, size_t bytes)
{
    if (bytes > pool->scratch_bytes) {
        size_t rounded = (bytes + LINE - 1) / LINE * LINE;
        void *bigger = aligned_alloc(LINE, rounded);
        if (!bigger) return NULL;
        free(pool->scratch);
        pool->scratch = bigger;
        pool->scratch_bytes = rounded;
    }
    return pool->scratch;
}
