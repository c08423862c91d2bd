/* The slot: a result, a call requested of the other thread, and two flags, under one lock. Two threads hold
 * it; the last one frees it. */
#include "base/slot.h"
#include "base/base.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>

/* Seconds between two calls of `stop`; seconds of grace for a cancelled worker, and at most as many while
 * other programs keep the processor from it; the share of its time that a worker spends on results. */
static const double ASK = 0.004, GRACE = 0.025, STARVED = 0.25, SHARE = 0.05;

enum { STACK = 16 << 20 };

struct slot {
    struct slot_work work;
    struct cancel token;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t news; /* for either thread */
    void *best;          /* offered, not taken yet */
    void *result;
    lx_status st;
    struct mem_list *blocks;          /* of the finished worker */
    void (*function)(void *argument); /* to be called by the waiting thread; NULL: nothing */
    void *argument;
    bool done, abandoned, memory_is_out;
    int holders;
    double offered, cost; /* of the last result: its time, and its cost (0: none); set by the worker */
    locale_t locale;
    log_function *log;
    void *log_context;
};

THREAD_STATE struct slot *here;

static void slot_leave(struct slot *slot)
{
    pthread_mutex_lock(&slot->lock);
    bool last = --slot->holders == 0;
    pthread_mutex_unlock(&slot->lock);
    if (!last) return;
    if (slot->best) slot->work.drop(slot->best);
    pthread_mutex_destroy(&slot->lock);
    pthread_cond_destroy(&slot->news);
    mem_free(slot);
}

/* --- The worker. --- */

static void slot_log(void *context, const char *pass, const char *line)
{
    struct slot *slot = context;
    pthread_mutex_lock(&slot->lock);
    if (!slot->abandoned) slot->log(slot->log_context, pass, line);
    pthread_mutex_unlock(&slot->lock);
}

static void *slot_body(void *argument)
{
    struct slot *slot = argument;
    here = slot;
    border_is_stranger();
    cancel_share(&slot->token);
    if (slot->locale) uselocale(slot->locale);
    if (slot->log) log_to(slot_log, slot);
    slot->offered = clock_seconds();
    struct border border;
    if (border_begin(&border) == 0) {
        slot->result = slot->work.make(slot->work.job, &slot->st);
        slot->blocks = border_end_handed(&border);
    } else {
        slot->memory_is_out = true;
    }
    slot->work.end(slot->work.job);
    pthread_mutex_lock(&slot->lock);
    bool abandoned = slot->abandoned;
    slot->done = true;
    pthread_cond_broadcast(&slot->news);
    pthread_mutex_unlock(&slot->lock);
    if (abandoned) {
        if (slot->blocks) border_take(slot->blocks); /* into no border */
        if (slot->result) slot->work.drop(slot->result);
    }
    slot_leave(slot);
    if (abandoned) border_strangers(-1);
    return NULL;
}

bool slot_is_here(void)
{
    return here != NULL;
}

const void *slot_job(void)
{
    return here ? here->work.job : NULL;
}

bool slot_wants_result(void)
{
    if (!here || (here->cost > 0 && cancel_requested())) return false; /* it finishes as soon */
    double now = clock_seconds();
    if ((now - here->offered) * SHARE < here->cost) return false;
    here->offered = now;
    return true;
}

void slot_offer(void *result)
{
    struct slot *slot = here;
    double now = clock_seconds();
    border_release_all();
    pthread_mutex_lock(&slot->lock);
    slot->cost = fmax(now - slot->offered, 1e-9);
    slot->offered = now;
    void *old = slot->best;
    slot->best = result;
    pthread_cond_broadcast(&slot->news);
    pthread_mutex_unlock(&slot->lock);
    if (old) slot->work.drop(old);
}

void slot_end_abandoned(void)
{
    if (!here || !cancel_requested()) return;
    pthread_mutex_lock(&here->lock);
    bool abandoned = here->abandoned;
    pthread_mutex_unlock(&here->lock);
    if (abandoned) memory_out();
}

void slot_call(void (*function)(void *argument), void *argument)
{
    struct slot *slot = here;
    if (cancel_requested()) return;
    pthread_mutex_lock(&slot->lock);
    slot->argument = argument;
    slot->function = function;
    pthread_cond_broadcast(&slot->news);
    while (slot->function && !slot->abandoned) pthread_cond_wait(&slot->news, &slot->lock);
    slot->function = NULL;
    pthread_mutex_unlock(&slot->lock);
}

/* --- The waiting thread. --- */

/* Seconds of processor time that the worker has had. */
static double slot_worked(const struct slot *slot)
{
    clockid_t clock;
    struct timespec t;
    if (pthread_getcpuclockid(slot->thread, &clock) != 0 || clock_gettime(clock, &t) != 0) return INFINITY;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Waits until the worker has finished or is abandoned; holds the lock. True: it was cancelled. */
static bool slot_wait(struct slot *slot)
{
    const double never = INFINITY;
    double now = clock_seconds(), ask = slot->work.stop ? now + ASK : never, grace = never;
    double deadline = slot->work.seconds > 0 ? now + slot->work.seconds : never;
    double worked = 0,
           starved = never; /* of the worker, when it was cancelled; until when it may lack time */
    bool stops = false;
    for (; !slot->done; now = clock_seconds()) {
        if (now >= grace && slot->best) break;
        if (now >= grace && stops && (now >= starved || slot_worked(slot) >= worked + GRACE)) break;
        if (slot->function) {
            /* Holds the lock, but not during the call. */
            void (*function)(void *argument) = slot->function;
            pthread_mutex_unlock(&slot->lock);
            function(slot->argument);
            pthread_mutex_lock(&slot->lock);
            slot->function = NULL;
            pthread_cond_broadcast(&slot->news);
        } else if (!stops && now >= ask) {
            pthread_mutex_unlock(&slot->lock);
            stops = slot->work.stop(slot->work.context);
            pthread_mutex_lock(&slot->lock);
            ask = stops ? never : now + ASK;
            if (stops) deadline = now;
        } else if (now >= deadline) {
            atomic_store_explicit(&slot->token.requested, true, memory_order_relaxed);
            /* A worker whose results take longer will not come home in the grace. */
            grace = fmin(grace, now + (slot->best && slot->cost > GRACE ? 0 : GRACE));
            deadline = never;
            worked = slot_worked(slot);
            starved = now + STARVED;
        } else {
            double next = grace > now ? grace : starved > now ? now + ASK : never;
            double when = fmin(ask, fmin(next, deadline));
            struct timespec until = {.tv_sec = isinf(when) ? 0 : (time_t)when};
            until.tv_nsec = isinf(when) ? 0 : (long)((when - (double)until.tv_sec) * 1e9);
            if (isinf(when))
                pthread_cond_wait(&slot->news, &slot->lock);
            else
                pthread_cond_timedwait(&slot->news, &slot->lock, &until);
        }
    }
    return stops;
}

/* Also if a call runs out of memory: the worker ends by itself. */
static void slot_abandon(void *argument)
{
    struct slot *slot = argument;
    pthread_mutex_lock(&slot->lock);
    bool abandoned = slot->abandoned = !slot->done;
    if (abandoned) border_strangers(1);
    atomic_store_explicit(&slot->token.requested, true, memory_order_relaxed);
    pthread_cond_broadcast(&slot->news);
    pthread_mutex_unlock(&slot->lock);
    if (abandoned) {
        pthread_detach(slot->thread);
    } else {
        pthread_join(slot->thread, NULL);
        if (slot->blocks) border_take(slot->blocks);
    }
    slot_leave(slot);
}

static struct slot *slot_new(const struct slot_work *work)
{
    struct slot *slot = mem_zeroed(1, sizeof *slot);
    pthread_condattr_t clock;
    mem_disown(slot);
    slot->work = *work;
    slot->holders = 2;
    slot->locale = uselocale((locale_t)0);
    slot->log = log_receiver(&slot->log_context);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&slot->lock, NULL);
    pthread_cond_init(&slot->news, &clock);
    pthread_condattr_destroy(&clock);
    return slot;
}

void *slot_run(const struct slot_work *work, lx_status *st)
{
    struct deferred ending; /* no worker has the job yet */
    defer(&ending, work->end, work->job);
    struct slot *slot = slot_new(work);
    /* Signals go to the program's threads; only faults of this thread are delivered here. */
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t all, before;
    pthread_attr_t roomy;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&roomy);
    pthread_attr_setstacksize(&roomy, STACK);
    bool ok = pthread_create(&slot->thread, &roomy, slot_body, slot) == 0;
    pthread_attr_destroy(&roomy);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ok) {
        slot->holders = 1;
        slot_leave(slot);
        void *made = work->make(work->job, st);
        defer_end(&ending);
        return made;
    }
    defer_drop(&ending);
    struct deferred leaving;
    defer(&leaving, slot_abandon, slot);
    pthread_mutex_lock(&slot->lock);
    bool stops = slot_wait(slot);
    bool home = slot->done && (slot->result || slot->st.code != LX_E_STOPPED || !slot->best);
    void *result = home ? slot->result : slot->best;
    if (!home) slot->best = NULL;
    if (home && !result && st) *st = slot->st;
    bool memory_is_out = slot->done && slot->memory_is_out;
    pthread_mutex_unlock(&slot->lock);
    defer_end(&leaving);
    if (memory_is_out) memory_out();
    if (!result && stops && (!st || st->code == LX_OK)) status_cancelled(st);
    return result;
}
