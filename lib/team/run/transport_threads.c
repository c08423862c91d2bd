/* Devices as threads of one process. Messages are copied into the receiver's mailbox, so a sender never
 * waits. The end of a device, for any reason, is known at once. */
#include "team/run/transport.h"
#include "base/base.h"
#include "base/thread.h"

struct letter {
    struct letter *next;
    int from, tag;
    size_t bytes;
    unsigned char data[];
};

struct world {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct letter **mailbox; /* per device */
    bool *ended;             /* per device */
    int *waits_for;          /* per device: the device it waits for; -1: none */
    bool failed;
    int first_failed; /* the device whose error is reported */
};

struct lx_flight {
    int tag;
    const struct lx_message *in;
};

struct seat {
    struct lx_link link;
    lx_team_work *work;
    void *context;
    lx_status st;
    bool ok;
    struct thread thread;
};

static struct lx_flight *transport_threads_start(struct lx_link *link, int tag, const struct lx_message *out,
                                                 const struct lx_message *in, lx_status *st)
{
    (void)st;
    struct world *w = link->own;
    struct lx_flight *flight = mem_alloc(sizeof *flight);
    *flight = (struct lx_flight){tag, in};
    for (int to = 0; to < link->devices; to++) {
        if (to == link->device || out[to].bytes == 0) continue;
        struct letter *l = mem_alloc(sizeof *l + out[to].bytes);
        mem_disown(l); /* the receiver owns it in any case */
        l->from = link->device;
        l->tag = tag;
        l->bytes = out[to].bytes;
        memcpy(l->data, out[to].data, out[to].bytes);
        pthread_mutex_lock(&w->lock);
        struct letter **last = &w->mailbox[to]; /* equal tags are taken in order */
        while (*last) last = &(*last)->next;
        l->next = NULL;
        *last = l;
        pthread_cond_broadcast(&w->news);
        pthread_mutex_unlock(&w->lock);
    }
    return flight;
}

static struct letter *take_letter(struct world *w, int to, int from, int tag)
{
    for (struct letter **at = &w->mailbox[to]; *at; at = &(*at)->next)
        if ((*at)->from == from && (*at)->tag == tag) {
            struct letter *l = *at;
            *at = l->next;
            return l;
        }
    return NULL;
}

/* The device at fault: the end of the chain of waiting devices. Needs the lock. */
static int transport_threads_at_fault(const struct world *w, int device, int devices)
{
    for (int steps = 0; steps < devices && w->waits_for[device] >= 0; steps++) device = w->waits_for[device];
    return device;
}

/* Needs the lock. NULL: `st` gives the reason. */
static struct letter *await_letter(struct lx_link *link, int from, int tag, const struct timespec *until,
                                   lx_status *st)
{
    struct world *w = link->own;
    for (bool late = false;; late = pthread_cond_timedwait(&w->news, &w->lock, until) == ETIMEDOUT) {
        struct letter *l = take_letter(w, link->device, from, tag);
        if (l) return l;
        if (w->ended[from])
            status_set(st, LX_E_NO, "device %d: device %d has ended and did not send message %d",
                       link->device, from, tag);
        else if (w->failed)
            status_set(st, LX_E_NO, "device %d: stopped, because another device failed", link->device);
        else if (late && transport_threads_at_fault(w, from, link->devices) != from)
            status_set(
                st, LX_E_NO,
                "device %d: device %d did not send within %d ms; device %d, which is to send message %d, "
                "waits for it",
                link->device, transport_threads_at_fault(w, from, link->devices), link->timeout_ms, from,
                tag);
        else if (late)
            status_set(st, LX_E_NO, "device %d: device %d did not send message %d within %d ms", link->device,
                       from, tag, link->timeout_ms);
        else
            continue;
        return NULL;
    }
}

static bool transport_threads_wait_flight(struct lx_link *link, struct lx_flight *flight, lx_status *st)
{
    struct world *w = link->own;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += link->timeout_ms / 1000;
    until.tv_nsec += (long)(link->timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    bool ok = true;
    for (int from = 0; from < link->devices && ok; from++) {
        const struct lx_message *in = &flight->in[from];
        if (from == link->device || in->bytes == 0) continue;
        pthread_mutex_lock(&w->lock);
        w->waits_for[link->device] = from;
        OWNED struct letter *l = await_letter(link, from, flight->tag, &until, st);
        if (l) w->waits_for[link->device] = -1; /* a device that gives up stays in the chain */
        pthread_mutex_unlock(&w->lock);
        ok = l != NULL;
        if (ok && l->bytes != in->bytes)
            ok = status_set(st, LX_E_NO, "device %d: message %d from device %d has %zu bytes instead of %zu",
                            link->device, flight->tag, from, l->bytes, in->bytes);
        if (ok) memcpy(in->data, l->data, in->bytes);
    }
    mem_free(flight);
    return ok;
}

static void transport_threads_cancel(struct lx_link *link, struct lx_flight *flight)
{
    (void)link;
    mem_free(flight);
}

static void sit(void *at)
{
    struct seat *s = at;
    struct world *w = s->link.own;
    struct border border;
    if (border_begin(&border) == 0) {
        s->ok = s->work(&s->link, s->context, &s->st);
        border_end(&border);
    } else {
        s->ok = status_no_memory(&s->st);
    }
    pthread_mutex_lock(&w->lock);
    w->ended[s->link.device] = true;
    if (!s->ok && !w->failed) {
        w->failed = true;
        w->first_failed = s->link.device;
    }
    pthread_cond_broadcast(&w->news);
    pthread_mutex_unlock(&w->lock);
}

static bool transport_threads_run(const struct lx_transport *t, int devices, int timeout_ms,
                                  lx_team_work *work, void *context, lx_status *st)
{
    struct world w = {.mailbox = mem_zeroed((size_t)devices, sizeof *w.mailbox),
                      .ended = mem_zeroed((size_t)devices, sizeof *w.ended),
                      .waits_for = mem_zeroed((size_t)devices, sizeof *w.waits_for)};
    OWNED struct seat *seats = mem_zeroed((size_t)devices, sizeof *seats);
    for (int m = 0; m < devices; m++) w.waits_for[m] = -1;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.news, &clock);
    pthread_condattr_destroy(&clock);
    for (int m = 0; m < devices; m++)
        seats[m] = (struct seat){.link = {t, m, devices, timeout_ms, &w}, .work = work, .context = context};
    /* A device without a thread counts as failed. */
    int seated = 0;
    while (seated < devices && thread_start(&seats[seated].thread, sit, &seats[seated])) seated++;
    if (seated < devices) {
        pthread_mutex_lock(&w.lock);
        w.failed = true;
        w.first_failed = seated;
        status_set(&seats[seated].st, LX_E_MEMORY, "no memory for a thread of device %d", seated);
        for (int m = seated; m < devices; m++) w.ended[m] = true;
        pthread_cond_broadcast(&w.news);
        pthread_mutex_unlock(&w.lock);
    }
    for (int m = 0; m < seated; m++) thread_join(&seats[m].thread);
    if (w.failed && st) *st = seats[w.first_failed].st;
    pthread_mutex_destroy(&w.lock);
    pthread_cond_destroy(&w.news);
    for (int m = 0; m < devices; m++)
        while (w.mailbox[m]) {
            OWNED struct letter *l = w.mailbox[m];
            w.mailbox[m] = l->next;
        }
    mem_free(w.mailbox);
    mem_free(w.ended);
    mem_free(w.waits_for);
    return !w.failed;
}

static bool transport_threads_end(bool ok, lx_status *st)
{
    (void)ok; /* threads have ended when run returns */
    (void)st;
    return true;
}

const struct lx_transport lx_transport_threads = {.name = "threads",
                                                  .help = "devices are threads of this process",
                                                  .run = transport_threads_run,
                                                  .start = transport_threads_start,
                                                  .wait = transport_threads_wait_flight,
                                                  .cancel = transport_threads_cancel,
                                                  .end = transport_threads_end};
