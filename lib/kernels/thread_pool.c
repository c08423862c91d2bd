/* The pool: each worker's part of the loop is one word, and taking a task is one compare-and-swap on it.
 *
 * The word holds the next task and the end of the part, so that a worker that was away while one loop ended
 * and the next began sees either nothing left or a valid task of the new loop; the loop's function and
 * context are read after the task is taken, and cannot change until that task is counted as done. So the
 * caller waits for tasks, never for workers: on a busy machine, where a worker may not run for milliseconds,
 * it does the work itself.
 *
 * A worker that finds no task spins SPINS times (tens of microseconds: longer than the gap between two phases
 * of one matrix product, or between two products of a busy program), then sleeps on a condition variable. A
 * scheduler likes to wake a thread where its waker runs, so two threads of a pool may share a processor;
 * there a spinning thread holds up the thread it waits for. So each notes its processor; a worker that finds
 * another on its own moves to a free processor, or yields if there is none. It yields to no other threads:
 * schedulers take a yield for a whole time slice that is not wanted. */
#include "kernels/thread_pool.h"
#include "base/thread.h"

#include <sched.h>
#include <sys/mman.h>

enum { LINE = 64, HUGE_PAGE = 2 << 20, SPINS = 2000, LOOK_ROUND = 32 };

/* Longer loops run in slices: next and end take 32 bits each. */
static const int64_t slice_max = (int64_t)1 << 31;

struct worker {
    _Alignas(LINE) _Atomic uint64_t part; /* next task << 32 | end */
    _Atomic int processor;                /* on which it last began to work */
    struct thread thread;
    struct pool *pool;
    int index;
};

struct pool {
    _Alignas(LINE) _Atomic uint64_t generation; /* counts loops; workers wait for a change */
    _Alignas(LINE) _Atomic int64_t done;        /* tasks of this loop that are done */
    _Alignas(LINE) _Atomic int sleeping;
    atomic_bool stop;
    int threads;
    int room; /* workers allocated; only the first `threads` could be started */
    pool_task *fn;
    void *context;
    int64_t base; /* first task of the slice */
    void *scratch;
    size_t scratch_bytes;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct worker *worker;
    atomic_bool memory_is_out;   /* a task ran out of memory */
    struct cancel *token;        /* of the caller of pool_run */
    void (*poll)(void *context); /* NULL: none */
    void *poll_context;
    struct deferred ending;
};

static void thread_pool_relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* -1: not known. */
static int processor(void)
{
#ifdef __linux__
    return sched_getcpu();
#else
    return -1;
#endif
}

static void note_processor(struct worker *w)
{
    const int here = processor();
    if (atomic_load_explicit(&w->processor, memory_order_relaxed) != here)
        atomic_store_explicit(&w->processor, here, memory_order_relaxed);
}

/* Is a thread that we may wait for on our processor? Of two workers the later one asks. */
static bool thread_pool_in_the_way(const struct pool *pool, int self)
{
    const int here = processor();
    if (here < 0) return false;
    const int first = self == 0 ? 1 : 0, last = self == 0 ? pool->threads - 1 : self - 1;
    for (int i = first; i <= last; i++)
        if (atomic_load_explicit(&pool->worker[i].processor, memory_order_relaxed) == here) return true;
    return false;
}

/* Moves a worker to a processor where no other of the pool was seen; false: there is none. Narrows the
 * worker's set of processors for that and restores it at once; if that fails, the worker stays on the narrow
 * set, which is no worse than slow. The caller does not move: its thread is not ours. */
static bool step_aside(struct pool *pool, int self)
{
#ifdef __linux__
    cpu_set_t all, others;
    if (self == 0 || sched_getaffinity(0, sizeof all, &all) != 0) return false;
    others = all;
    for (int i = 0; i < pool->room; i++) {
        if (i == self) continue; /* its earlier processor may be free */
        const int taken = atomic_load_explicit(&pool->worker[i].processor, memory_order_relaxed);
        if (taken >= 0 && taken < CPU_SETSIZE) CPU_CLR((size_t)taken, &others);
    }
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return false;
    sched_setaffinity(0, sizeof all, &all);
    note_processor(&pool->worker[self]);
    return true;
#else
    (void)pool, (void)self;
    return false;
#endif
}

/* Waits after the i-th look for work was in vain; returns how many looks the wait counts for. */
static int pass_time(struct pool *pool, int self, int i)
{
    if (i % LOOK_ROUND == 0 && thread_pool_in_the_way(pool, self) && !step_aside(pool, self)) {
        sched_yield();
        return SPINS / 4 / LOOK_ROUND * LOOK_ROUND;
    }
    thread_pool_relax();
    return 1;
}

/* Takes the next task, or all that are left; returns how many. */
static int64_t thread_pool_take(struct worker *w, bool all, int64_t *task)
{
    uint64_t part = atomic_load_explicit(&w->part, memory_order_acquire);
    while (part >> 32 < (uint32_t)part) {
        uint64_t count = all ? (uint32_t)part - (part >> 32) : 1;
        if (atomic_compare_exchange_weak_explicit(&w->part, &part, part + (count << 32), memory_order_acquire,
                                                  memory_order_acquire)) {
            *task = (int64_t)(part >> 32);
            return (int64_t)count;
        }
    }
    return 0;
}

void pool_on_poll(struct pool *pool, void (*poll)(void *context), void *context)
{
    pool->poll = poll;
    pool->poll_context = context;
}

bool pool_cancelled(struct pool *pool)
{
    if (pool && pool->poll) pool->poll(pool->poll_context);
    return cancel_requested();
}

/* Runs tasks of the part of `from`. A task that runs out of memory counts as done, and the caller unwinds. */
static void work_part(struct pool *pool, int self, struct worker *from)
{
    struct border border;
    int64_t task;
    volatile int64_t count = 0;
    if (border_begin(&border) == 0) {
        for (; thread_pool_take(from, false, &task); count++) {
            if (self > 0) cancel_share(pool->token);
            if (self == 0 ? pool_cancelled(pool) : cancel_requested())
                count += thread_pool_take(from, true, &task);
            else
                pool->fn(pool->context, pool->base + task, self);
        }
        border_end(&border);
    } else {
        atomic_store_explicit(&pool->memory_is_out, true, memory_order_relaxed);
        count++;
    }
    if (count > 0) atomic_fetch_add_explicit(&pool->done, count, memory_order_release);
}

/* The worker's own part first, then the others' rests, beginning with the neighbour. */
static void work(struct pool *pool, int self)
{
    for (int i = 0; i < pool->threads; i++) {
        struct worker *from = &pool->worker[self + i < pool->threads ? self + i : self + i - pool->threads];
        uint64_t part = atomic_load_explicit(&from->part, memory_order_relaxed);
        while (part >> 32 < (uint32_t)part) {
            work_part(pool, self, from);
            part = atomic_load_explicit(&from->part, memory_order_relaxed);
        }
    }
}

static uint64_t await_generation(struct pool *pool, int self, uint64_t seen)
{
    for (int i = 0; i < SPINS; i += pass_time(pool, self, i)) {
        uint64_t now = atomic_load_explicit(&pool->generation, memory_order_acquire);
        if (now != seen) return now;
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    uint64_t now;
    while ((now = atomic_load(&pool->generation)) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
    return now;
}

static void worker_main(void *argument)
{
    struct worker *self = argument;
    struct pool *pool = self->pool;
    uint64_t seen = 0;
    for (;;) {
        seen = await_generation(pool, self->index, seen);
        if (atomic_load_explicit(&pool->stop, memory_order_relaxed)) return;
        note_processor(self);
        if (thread_pool_in_the_way(pool, self->index)) step_aside(pool, self->index);
        work(pool, self->index);
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

static void thread_pool_end(void *argument)
{
    OWNED struct pool *pool = argument;
    atomic_store(&pool->stop, true);
    start_generation(pool);
    for (int i = 1; i < pool->threads; i++) thread_join(&pool->worker[i].thread);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    mem_free(pool->worker);
    mem_free(pool->scratch);
}

struct pool *pool_create(int threads)
{
    threads = threads < 1 ? 1 : threads > POOL_THREADS_MAX ? POOL_THREADS_MAX : threads;
    struct pool *pool = mem_aligned(LINE, sizeof *pool);
    struct worker *workers = mem_aligned(LINE, sizeof *workers * (size_t)threads);
    *pool = (struct pool){.threads = 1, .room = threads, .worker = workers};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    for (int i = 0; i < threads; i++) workers[i] = (struct worker){.pool = pool, .index = i, .processor = -1};
    for (int i = 1; i < threads; i++) {
        if (!thread_start(&workers[i].thread, worker_main, &workers[i])) break;
        pool->threads = i + 1; /* workers read it after the first generation begins */
    }
    defer(&pool->ending, thread_pool_end, pool);
    return pool;
}

void pool_destroy(struct pool *pool)
{
    if (pool) defer_end(&pool->ending);
}

int pool_threads(const struct pool *pool)
{
    return pool ? pool->threads : 1;
}

static void run_slice(struct pool *pool, int64_t base, int64_t count, pool_task *fn, void *context)
{
    pool->fn = fn;
    pool->context = context;
    pool->base = base;
    pool->token = cancel_current();
    atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
    int64_t each = count / pool->threads, extra = count % pool->threads, next = 0;
    for (int i = 0; i < pool->threads; i++) {
        int64_t end = next + each + (i < extra);
        atomic_store_explicit(&pool->worker[i].part, (uint64_t)next << 32 | (uint64_t)end,
                              memory_order_release);
        next = end;
    }
    note_processor(&pool->worker[0]);
    start_generation(pool);
    work(pool, 0);
    for (int i = 0; atomic_load_explicit(&pool->done, memory_order_acquire) < count;)
        if (i < SPINS)
            i += pass_time(pool, 0, i);
        else
            sched_yield(); /* a worker was interrupted within a task */
    if (atomic_exchange_explicit(&pool->memory_is_out, false, memory_order_relaxed)) memory_out();
}

void pool_run(struct pool *pool, int64_t task_count, pool_task *fn, void *context)
{
    if (!pool || pool->threads == 1 || task_count < 2) {
        for (int64_t i = 0; i < task_count && !pool_cancelled(pool); i++) fn(context, i, 0);
        return;
    }
    for (int64_t base = 0; base < task_count; base += slice_max)
        run_slice(pool, base, task_count - base < slice_max ? task_count - base : slice_max, fn, context);
}

void *pool_scratch(struct pool *pool, size_t bytes)
{
    if (bytes > pool->scratch_bytes) {
        size_t unit = bytes < HUGE_PAGE ? LINE : HUGE_PAGE, rounded = (bytes + unit - 1) / unit * unit;
        void *bigger = mem_aligned(unit, rounded);
#ifdef MADV_HUGEPAGE
        if (unit == HUGE_PAGE)
            madvise(bigger, rounded, MADV_HUGEPAGE); /* only faster: failure does not matter */
#endif
        mem_free(pool->scratch);
        pool->scratch = bigger;
        pool->scratch_bytes = rounded;
    }
    return pool->scratch;
}
