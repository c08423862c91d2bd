#include "tui/worker.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3 };

struct job {
    enum job_kind kind;
    uint64_t serial;
    int slot;
    char *path;
    struct what_if how;
    bool as_it_is;
    atomic_bool stop;
    double began;
    struct worker *worker;
    struct lx_progress so_far;
    struct job *next;
};

struct worker {
    pthread_mutex_t lock;
    pthread_cond_t work, idle;
    struct job *waiting, *running;
    struct result *results, **results_end;
    int threads, wake[2];
    bool ending;
    pthread_t thread[THREADS];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool job_stopped(void *context)
{
    struct job *j = context;
    return atomic_load_explicit(&j->stop, memory_order_relaxed);
}

static void job_progress(void *context, const struct lx_progress *so_far)
{
    struct job *j = context;
    pthread_mutex_lock(&j->worker->lock);
    j->so_far = *so_far;
    pthread_mutex_unlock(&j->worker->lock);
}

static void run_progress(void *context, int32_t done, int32_t ops)
{
    struct lx_progress so_far = {.steps = done, .objective = ops};
    job_progress(context, &so_far);
}

/* The plan is made again, by the same settings: it is the same plan, and nobody else reads it. */
static void execute(struct job *j, struct result *r)
{
    struct lx_device_options how = {
        .progress = run_progress, .stop = job_stopped, .context = j, .threads = 1};
    r->run_st = r->outcome.st;
    if (r->outcome.plan) r->run = lx_device_run(r->outcome.plan, &how, &r->run_st);
}

static void execute_team(struct job *j, struct result *r)
{
    /* Members of a large team share few processors, and a person can stop them: patience costs nothing. */
    struct lx_team_run_options how = {
        .progress = run_progress, .stop = job_stopped, .context = j, .timeout_ms = 60000};
    r->run_st = r->team.st;
    r->team_ran = r->team.plan && lx_team_run(r->team.plan, &how, &r->team_result, &r->run_st);
}

static void job_free(struct job *j)
{
    free(j->path);
    free(j);
}

static void do_job(struct job *j, struct result *r)
{
    struct lx_run run = {.stop = job_stopped, .progress = job_progress, .context = j};
    if (j->kind == JOB_READ)
        facts_read(j->path, &r->facts);
    else if (j->kind == JOB_TEAM || j->kind == JOB_TEAM_RUN)
        team_cut_make(j->path, j->slot, &r->team);
    else
        outcome_make(j->path, &j->how, &run, j->as_it_is, &r->outcome);
    if (j->kind == JOB_RUN) execute(j, r);
    if (j->kind == JOB_TEAM_RUN) execute_team(j, r);
    r->stopped = atomic_load(&j->stop);
}

/* The job that is to be done next, of those that a thread may take: all but one thread may be busy with
 * others than the plan that a person is looking at. */
static struct job *take_job(struct worker *w)
{
    int others = 0;
    for (struct job *j = w->running; j; j = j->next) others += j->kind != JOB_PLAN;
    struct job **best = NULL;
    for (struct job **j = &w->waiting; *j; j = &(*j)->next) {
        if ((*j)->kind != JOB_PLAN && others >= w->threads - 1 && w->threads > 1) continue;
        if (!best || (*j)->kind < (*best)->kind) best = j;
    }
    struct job *job = best ? *best : NULL;
    if (job) {
        *best = job->next;
        job->next = w->running;
        w->running = job;
        job->began = now();
    }
    return job;
}

static void finish_job(struct worker *w, struct job *job, struct result *r)
{
    for (struct job **j = &w->running; *j; j = &(*j)->next)
        if (*j == job) {
            *j = job->next;
            break;
        }
    job_free(job);
    if (r) {
        *w->results_end = r;
        w->results_end = &r->next;
        while (write(w->wake[1], "", 1) < 0 && 0) {
        } /* a full pipe wakes as well */
    }
    if (!w->waiting && !w->running) pthread_cond_broadcast(&w->idle);
    pthread_cond_broadcast(&w->work);
}

static void *thread_main(void *context)
{
    struct worker *w = context;
    pthread_mutex_lock(&w->lock);
    while (!w->ending) {
        struct job *job = take_job(w);
        if (!job) {
            pthread_cond_wait(&w->work, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        struct result *r = calloc(1, sizeof *r);
        if (r) {
            *r = (struct result){.kind = job->kind, .serial = job->serial, .slot = job->slot};
            do_job(job, r);
        }
        pthread_mutex_lock(&w->lock);
        finish_job(w, job, r);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct worker *worker_start(void)
{
    struct worker *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    if (pipe2(w->wake, O_NONBLOCK | O_CLOEXEC) != 0) {
        free(w);
        return NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    pthread_cond_init(&w->idle, NULL);
    w->results_end = &w->results;
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

void worker_stop(struct worker *w, enum job_kind kind)
{
    pthread_mutex_lock(&w->lock);
    for (struct job **j = &w->waiting; *j;) {
        struct job *dropped = *j;
        if (dropped->kind != kind) {
            j = &dropped->next;
            continue;
        }
        *j = dropped->next;
        job_free(dropped);
    }
    for (struct job *j = w->running; j; j = j->next)
        if (j->kind == kind) atomic_store(&j->stop, true);
    if (!w->waiting && !w->running) pthread_cond_broadcast(&w->idle);
    pthread_mutex_unlock(&w->lock);
}

void worker_end(struct worker *w)
{
    if (!w) return;
    for (int kind = 0; kind < JOB_KINDS; kind++) worker_stop(w, (enum job_kind)kind);
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
    for (int i = 0; i < w->threads; i++) pthread_join(w->thread[i], NULL);
    for (struct result *r; (r = worker_take(w));) result_free(r);
    close(w->wake[0]);
    close(w->wake[1]);
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->idle);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

bool worker_post(struct worker *w, enum job_kind kind, uint64_t serial, int slot, const char *path,
                 const struct what_if *how, bool as_it_is)
{
    struct job *j = calloc(1, sizeof *j);
    if (j) *j = (struct job){.kind = kind, .serial = serial, .slot = slot, .how = *how, .as_it_is = as_it_is};
    if (j) j->path = strdup(path);
    if (!j || !j->path) {
        free(j);
        return false;
    }
    j->worker = w;
    pthread_mutex_lock(&w->lock);
    struct job **end = &w->waiting;
    while (*end) end = &(*end)->next;
    *end = j;
    pthread_cond_signal(&w->work);
    pthread_mutex_unlock(&w->lock);
    return true;
}

struct result *worker_take(struct worker *w)
{
    char bytes[64];
    pthread_mutex_lock(&w->lock);
    struct result *r = w->results;
    if (r && !(w->results = r->next)) w->results_end = &w->results;
    if (!w->results)
        while (read(w->wake[0], bytes, sizeof bytes) > 0) {
        }
    pthread_mutex_unlock(&w->lock);
    return r;
}

struct progress worker_progress(struct worker *w, enum job_kind kind, int slot)
{
    struct progress p = {0};
    pthread_mutex_lock(&w->lock);
    for (struct job *j = w->running; j; j = j->next)
        if (j->kind == kind && j->slot == slot)
            p = (struct progress){.running = true, .seconds = now() - j->began, .so_far = j->so_far};
    for (struct job *j = w->waiting; j && !p.running; j = j->next)
        if (j->kind == kind && j->slot == slot) p.waiting = true;
    pthread_mutex_unlock(&w->lock);
    return p;
}

int worker_busy(struct worker *w, enum job_kind kind)
{
    int n = 0;
    pthread_mutex_lock(&w->lock);
    for (struct job *j = w->waiting; j; j = j->next) n += kind == JOB_KINDS || j->kind == kind;
    for (struct job *j = w->running; j; j = j->next) n += kind == JOB_KINDS || j->kind == kind;
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

void result_free(struct result *r)
{
    if (!r) return;
    facts_free(&r->facts);
    lx_run_result_free(r->run);
    team_cut_free(&r->team);
    outcome_free(&r->outcome);
    free(r);
}
