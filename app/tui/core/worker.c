/* Three lists of jobs (waiting, running, finished) under one lock, THREADS threads that move jobs along
 * them, and a pipe that wakes the screen. */
#include "tui/core/worker.h"
#include "planning/op_words.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { THREADS = 3 };

struct job {
    const struct work *work;
    int slot;
    void *data;
    atomic_bool stop;
    double began;
    struct worker *worker;
    struct lx_progress so_far;
    struct words words;
    struct curve curve;
    struct job *next;
};

struct worker {
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    struct job *waiting, *running, *finished;
    int threads, wake[2];
    bool ending, memory_is_out;
    struct deferred closing;
    pthread_t thread[THREADS];
};

bool watch_stop(void *watch)
{
    struct job *j = watch;
    return atomic_load_explicit(&j->stop, memory_order_relaxed);
}

void watch_progress(void *watch, const struct lx_progress *so_far)
{
    struct job *j = watch;
    pthread_mutex_lock(&j->worker->lock);
    j->so_far = *so_far;
    j->so_far.address = NULL; /* the solver's own */
    j->so_far.pool = NULL;
    curve_add(&j->curve, clock_seconds() - j->began, so_far->objective, so_far->bound);
    pthread_mutex_unlock(&j->worker->lock);
}

void watch_steps(void *watch, int32_t done, int32_t steps)
{
    struct lx_progress so_far = {.steps = done, .objective = INT64_MAX, .bound = steps};
    watch_progress(watch, &so_far);
}

void watch_run(void *watch, const struct lx_run_progress *so_far)
{
    struct job *j = watch;
    pthread_mutex_lock(&j->worker->lock);
    j->words = run_progress_words(so_far);
    pthread_mutex_unlock(&j->worker->lock);
}

struct curve watch_curve(void *watch)
{
    struct job *j = watch;
    pthread_mutex_lock(&j->worker->lock);
    struct curve c = j->curve;
    pthread_mutex_unlock(&j->worker->lock);
    return c;
}

double watch_seconds(void *watch)
{
    const struct job *j = watch;
    return clock_seconds() - j->began;
}

static void job_free(struct job *j)
{
    j->work->free(j->data);
    mem_free(j);
}

static void append(struct job **list, struct job *j)
{
    while (*list) list = &(*list)->next;
    j->next = NULL;
    *list = j;
}

static void worker_take_out(struct job **list, struct job *j)
{
    while (*list != j) list = &(*list)->next;
    *list = j->next;
}

/* Appends to the finished jobs and wakes the screen. */
static void worker_give(struct worker *w, struct job *j)
{
    append(&w->finished, j);
    while (write(w->wake[1], "", 1) < 0 && 0) {
    } /* a full pipe wakes as well */
}

void watch_hand_over(void *watch, void *data)
{
    struct job *of = watch, *j = mem_zeroed(1, sizeof *j);
    mem_disown(j);
    *j = (struct job){.work = of->work, .slot = of->slot, .data = data, .worker = of->worker};
    atomic_store(&j->stop, watch_stop(of));
    pthread_mutex_lock(&of->worker->lock);
    worker_give(of->worker, j);
    pthread_mutex_unlock(&of->worker->lock);
}

/* False: memory is out. */
static bool worker_do(struct job *job)
{
    struct border border;
    if (border_begin(&border) != 0) return false;
    job->work->run(job->data, job);
    border_end(&border);
    return true;
}

static void *thread_main(void *context)
{
    struct worker *w = context;
    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        /* The waiting job of lowest rank. One thread is kept for jobs of rank 0. */
        int others = 0;
        struct job *job = NULL;
        for (struct job *j = w->running; j; j = j->next) others += j->work->rank > 0;
        for (struct job *j = w->waiting; j; j = j->next) {
            if (j->work->rank > 0 && others >= w->threads - 1 && w->threads > 1) continue;
            if (!job || j->work->rank < job->work->rank) job = j;
        }
        if (!job) {
            pthread_cond_wait(&w->work, &w->lock);
            continue;
        }
        worker_take_out(&w->waiting, job);
        append(&w->running, job);
        job->began = clock_seconds();
        pthread_mutex_unlock(&w->lock);
        bool done = worker_do(job);
        pthread_mutex_lock(&w->lock);
        if (!done) w->memory_is_out = true;
        worker_take_out(&w->running, job);
        worker_give(w, job);
        if (!w->waiting && !w->running) pthread_cond_broadcast(&w->idle);
        pthread_cond_broadcast(&w->work);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* When memory is out, results are not freed: a job that is not finished does not own its result. */
static void worker_close(void *argument)
{
    struct worker *w = argument;
    worker_stop(w, NULL);
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->threads; i++) pthread_join(w->thread[i], NULL);
    close(w->wake[0]);
    close(w->wake[1]);
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->idle);
    pthread_mutex_destroy(&w->lock);
}

struct worker *worker_start(void)
{
    struct worker *w = mem_zeroed(1, sizeof *w);
    if (pipe2(w->wake, O_NONBLOCK | O_CLOEXEC) != 0) {
        mem_free(w);
        return NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    pthread_cond_init(&w->idle, NULL);
    defer(&w->closing, worker_close, w);
    /* Signals are for the thread that has the terminal. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&w->lock);
    while (w->threads < THREADS && pthread_create(&w->thread[w->threads], NULL, thread_main, w) == 0)
        w->threads++;
    pthread_mutex_unlock(&w->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (w->threads > 0) return w;
    worker_end(w);
    return NULL;
}

void worker_cancel(struct worker *w, const struct work *work, const struct work *but, bool to_an_end)
{
    pthread_mutex_lock(&w->lock);
    for (struct job *j = w->waiting, *next; j; j = next) {
        next = j->next;
        if ((work && j->work != work) || j->work == but) continue;
        atomic_store(&j->stop, true);
        if (to_an_end && j->work->rank == 0) continue;
        worker_take_out(&w->waiting, j);
        job_free(j);
    }
    for (struct job *j = w->running; j; j = j->next)
        if ((!work || j->work == work) && j->work != but) atomic_store(&j->stop, true);
    if (!w->waiting && !w->running) pthread_cond_broadcast(&w->idle);
    pthread_mutex_unlock(&w->lock);
}

void worker_stop(struct worker *w, const struct work *work)
{
    worker_cancel(w, work, NULL, false);
}

bool worker_stopped_within(struct worker *w, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += milliseconds * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    worker_stop(w, NULL);
    pthread_mutex_lock(&w->lock);
    while (w->running && pthread_cond_timedwait(&w->idle, &w->lock, &until) == 0) {
    }
    bool stopped = !w->running;
    pthread_mutex_unlock(&w->lock);
    return stopped;
}

void worker_end(struct worker *w)
{
    if (!w) return;
    defer_end(&w->closing);
    for (struct job *j = w->finished, *next; j; j = next) {
        next = j->next;
        job_free(j);
    }
    mem_free(w);
}

void worker_post(struct worker *w, const struct work *work, int slot, void *data)
{
    struct job *j = mem_zeroed(1, sizeof *j);
    *j = (struct job){.work = work, .slot = slot, .data = data, .worker = w};
    j->so_far.objective = INT64_MAX;
    pthread_mutex_lock(&w->lock);
    append(&w->waiting, j);
    pthread_cond_signal(&w->work);
    pthread_mutex_unlock(&w->lock);
}

bool worker_take(struct worker *w)
{
    bool any = false;
    char bytes[64];
    for (;; any = true) {
        pthread_mutex_lock(&w->lock);
        bool memory_is_out = w->memory_is_out;
        struct job *j = w->finished;
        if (j && !memory_is_out) w->finished = j->next;
        while (!w->finished && read(w->wake[0], bytes, sizeof bytes) > 0) { /* the pipe is empty, too */
        }
        pthread_mutex_unlock(&w->lock);
        if (memory_is_out) memory_out();
        if (!j) return any;
        j->work->done(j->data, atomic_load(&j->stop));
        job_free(j);
    }
}

struct progress worker_progress(struct worker *w, const struct work *work, int slot)
{
    struct progress p = {0};
    pthread_mutex_lock(&w->lock);
    for (struct job *j = w->running; j; j = j->next)
        if (j->work == work && j->slot == slot)
            p = (struct progress){.running = true,
                                  .seconds = clock_seconds() - j->began,
                                  .so_far = j->so_far,
                                  .words = j->words,
                                  .curve = j->curve};
    for (struct job *j = w->waiting; j && !p.running; j = j->next)
        if (j->work == work && j->slot == slot) p.waiting = true;
    pthread_mutex_unlock(&w->lock);
    return p;
}

int worker_busy(struct worker *w, const struct work *work)
{
    pthread_mutex_lock(&w->lock);
    int n = 0;
    for (struct job *j = w->waiting; j; j = j->next) n += !work || j->work == work;
    for (struct job *j = w->running; j; j = j->next) n += !work || j->work == work;
    pthread_mutex_unlock(&w->lock);
    return n;
}

void worker_wait(struct worker *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->waiting || w->running) pthread_cond_wait(&w->idle, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

int worker_descriptor(const struct worker *w)
{
    return w->wake[0];
}

int64_t curve_best(const struct curve *c)
{
    return c->count ? c->at[c->count - 1].best : INT64_MAX;
}

int64_t curve_bound(const struct curve *c)
{
    return c->count ? c->at[c->count - 1].bound : 0;
}

void curve_add(struct curve *c, double seconds, int64_t best, int64_t bound)
{
    struct curve_point next = {seconds, min_i64(best, curve_best(c)), max_i64(bound, curve_bound(c))};
    if (c->count && next.best == curve_best(c) && next.bound == curve_bound(c)) return;
    if (c->count == CURVE_MOST) {
        /* Drops every second point, but not the last. */
        int kept = 0;
        for (int i = 0; i < c->count; i++)
            if (i % 2 == 0 || i == c->count - 1) c->at[kept++] = c->at[i];
        c->count = kept;
    }
    c->at[c->count++] = next;
}

void curve_reach(struct curve *c, double seconds)
{
    struct curve_point last = {seconds, curve_best(c), curve_bound(c)};
    if (!c->count) return;
    if (c->count == CURVE_MOST) c->count--;
    c->at[c->count++] = last;
}
