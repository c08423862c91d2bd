/* Devices find their plans, and agree before any data moves that they all run the same plan.
 *
 * Some devices plan longer than others, and a frozen device must be told apart from one that plans. So a
 * thread plans, while the device itself sends a message to the others twice a second. In each round every
 * device sends the hash of its plan and whether it is ready, until all are. A device that is silent beyond
 * the time limit is at fault. */
#include "team/run/team_device.h"
#include "base/thread.h"

enum { ROUND_MS = 500 };

/* A device's message in a round. */
struct word_of {
    uint64_t hash;
    unsigned char ready;
};
enum { WORD_BYTES = 9 };

struct planning {
    struct team_device *m;
    struct lx_plan_options how;
    struct thread thread;
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool done, ok; /* needs the lock */
    atomic_bool given_up;
    lx_status st;
};

static bool team_agree_stop(void *context)
{
    struct planning *p = context;
    const struct lx_run *asked = &p->m->how->plan->run;
    return atomic_load(&p->given_up) || (asked->stop && asked->stop(asked->context));
}

/* Finds the device's graph and plan: given by the caller, or made here. The device gets them after the last
 * allocation, because running out of memory frees what was made here. */
static bool find_plan(struct planning *p)
{
    struct team_device *m = p->m;
    int me = m->link->device;
    const struct lx_team_plans *given = m->how->plans;
    struct lx_team_device *own_does = NULL;
    const struct lx_team_device *does;
    const struct lx_plan *plan = NULL;
    if (given) {
        does = given->devices[me];
        if (does->graph) plan = lx_team_plan_of(given, me, &p->st);
    } else {
        p->how = *m->how->plan;
        p->how.run.stop = team_agree_stop;
        p->how.run.progress = NULL; /* several threads would call it */
        p->how.run.context = p;
        does = own_does = lx_team_device_make(m->p, me, &p->st);
        if (does && does->graph) plan = plan_of_device(does->graph, &p->how, &p->st);
    }
    m->does = does;
    m->own_does = own_does;
    m->plan = m->own_plan = plan;
    return does && (!does->graph || plan);
}

static void plan(void *context)
{
    struct planning *p = context;
    struct border border;
    volatile bool ok = false;
    if (border_begin(&border) == 0) {
        ok = find_plan(p);
        border_end(&border);
    } else {
        status_no_memory(&p->st);
    }
    pthread_mutex_lock(&p->lock);
    p->ok = ok;
    p->done = true;
    pthread_cond_signal(&p->news);
    pthread_mutex_unlock(&p->lock);
}

static bool team_agree_planning_begin(struct planning *p, struct team_device *m, lx_status *st)
{
    pthread_condattr_t clock;
    *p = (struct planning){.m = m};
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->news, &clock);
    pthread_condattr_destroy(&clock);
    if (thread_start(&p->thread, plan, p)) return true;
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->news);
    return status_set(st, LX_E_MEMORY, "no memory for a thread in which device %d could plan",
                      m->link->device);
}

static bool swap_words(struct team_device *m, struct word_of *words, lx_status *st)
{
    const struct word_of *mine = &words[m->link->device];
    for (int i = 0; i < m->p->devices; i++) {
        team_message_room(&m->out[i], WORD_BYTES);
        team_message_room(&m->in[i], WORD_BYTES);
        memcpy(m->out[i].data, &mine->hash, sizeof mine->hash);
        ((unsigned char *)m->out[i].data)[WORD_BYTES - 1] = mine->ready;
    }
    bool ok = team_swap(m, 0, st);
    for (int i = 0; ok && i < m->p->devices; i++) {
        if (i == m->link->device) continue;
        memcpy(&words[i].hash, m->in[i].data, sizeof words[i].hash);
        words[i].ready = ((const unsigned char *)m->in[i].data)[WORD_BYTES - 1];
    }
    team_messages_clear(m);
    return ok;
}

/* The device whose plan differs from the majority's; on a tie, from device 0's. */
static int odd_one(const struct word_of *words, int devices)
{
    int best = 0, most = 0;
    for (int i = 0; i < devices; i++) {
        int same = 0;
        for (int k = 0; k < devices; k++) same += words[k].hash == words[i].hash;
        if (same > most) most = same, best = i;
    }
    for (int i = 0; i < devices; i++)
        if (words[i].hash != words[best].hash) return i;
    return -1;
}

/* Exchanges rounds until all are ready. False: a device is at fault. */
static bool team_agree_rounds(struct planning *p, struct word_of *words, lx_status *st)
{
    struct team_device *m = p->m;
    int me = m->link->device, devices = m->p->devices, ready;
    const struct lx_team_fault *fault = &m->how->fault;
    words[me].hash = m->p->hash ^ (m->how->seed * UINT64_C(0x9e3779b97f4a7c15));
    if (fault->kind == LX_TEAM_OTHER_PLAN && fault->device == me) words[me].hash ^= 1;
    do {
        /* Wait until planning is done, or for one round. */
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += ROUND_MS * 1000000L;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_mutex_lock(&p->lock);
        for (int late = 0; !p->done && late != ETIMEDOUT;)
            late = pthread_cond_timedwait(&p->news, &p->lock, &until);
        bool done = p->done;
        pthread_mutex_unlock(&p->lock);
        words[me].ready = done;
        if (words[me].ready && !p->ok) return st ? *st = p->st, false : false;
        if (!swap_words(m, words, st)) return false;
        int odd = odd_one(words, devices);
        if (odd >= 0)
            return status_set(st, LX_E_NO,
                              "device %d: device %d runs another plan (or seed) than the others: %016" PRIx64
                              " instead of %016" PRIx64 "; nothing was sent",
                              me, odd, words[odd].hash, words[odd == 0 ? 1 : 0].hash);
        ready = 0;
        for (int i = 0; i < devices; i++) ready += words[i].ready;
    } while (ready < devices);
    return true;
}

bool team_device_agree(struct team_device *m, lx_status *st)
{
    struct planning p;
    OWNED struct word_of *words = mem_zeroed((size_t)m->p->devices, sizeof *words);
    bool began = team_agree_planning_begin(&p, m, st), ok = began && team_agree_rounds(&p, words, st);
    if (began) {
        atomic_store(&p.given_up, !ok);
        thread_join(&p.thread);
        pthread_mutex_destroy(&p.lock);
        pthread_cond_destroy(&p.news);
    }
    return ok;
}
