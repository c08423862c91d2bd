/* A pool of threads that share loops.
 *
 * A shared loop is one flat space of tasks 0 .. task_count-1. Each worker owns a balanced contiguous part (q
 * tasks, and one more for the first r workers) and then takes the rest of the others' parts. The worker of a
 * task may differ from run to run, so tasks must write to places of their own and must not depend on the
 * worker; then results do not depend on the number of threads.
 *
 * The caller is worker 0 and works too: a pool of one thread makes none. Workers look for new work for a
 * short while and then sleep, so that an idle pool costs nothing and a busy one starts a loop in less than a
 * microsecond. One loop runs at a time: callers use a pool one after the other, and a task must not start a
 * loop in its own pool. There is no global state. */
#pragma once

#include "base/base.h"

struct pool;

/* `worker` is below pool_threads: an index for a thread's own data. */
typedef void pool_task(void *context, int64_t task, int worker);

/* At least one thread, at most POOL_THREADS_MAX; fewer when the system refuses more. */
enum { POOL_THREADS_MAX = 256 };
struct pool *pool_create(int threads);
void pool_destroy(struct pool *pool); /* NULL is fine */

int pool_threads(const struct pool *pool); /* 1 for NULL */

/* Returns when every task is done; their writes are visible then. NULL: the caller runs them all. When the
 * work of the calling thread is cancelled (base/cancel.h), the remaining tasks are not run. */
void pool_run(struct pool *pool, int64_t task_count, pool_task *fn, void *context);

/* Calls `poll` on the caller's thread before each of its tasks; `poll` may cancel the caller's token. */
void pool_on_poll(struct pool *pool, void (*poll)(void *context), void *context);
/* Calls `poll`, outside of tasks. True: the work is cancelled. */
bool pool_cancelled(struct pool *pool);

/* Memory that the pool keeps from call to call: at least `bytes`, aligned to a cache line, contents
 * undefined. Valid until the next call. */
void *pool_scratch(struct pool *pool, size_t bytes);
