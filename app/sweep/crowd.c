/* Tasks done by processes that this one forks, so that none of them can take it along when it dies: each gets
 * the number of a task over a socket of its own and sends the result back, so that a slow task keeps nobody
 * else waiting. One that dies loses one result; another takes its place. */
#include "sweep/crowd.h"
#include "interrupt.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { NOBODY = -1, LOOK_UP_MS = 200 };

struct hand {
    pid_t process;
    int socket;
    size_t task; /* that it has */
    bool busy;
};

/* Processes at work. */
struct effort {
    struct crowd *crowd;
    const char *tasks;
    char *results;
    size_t count, next, done;
    struct hand *hands;
    struct pollfd *polls;
    int hand_count;
};

/* Whole messages; a signal that comes in between is nothing. */
static ssize_t get_message(int socket, void *to, size_t size)
{
    ssize_t n;
    while ((n = recv(socket, to, size, 0)) < 0 && errno == EINTR) {
    }
    return n;
}

static ssize_t put_message(int socket, const void *data, size_t size)
{
    ssize_t n;
    while ((n = send(socket, data, size, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
    }
    return n;
}

bool crowd_is_orphan(pid_t parent)
{
    return getpid() != parent && getppid() != parent;
}

static bool hire(struct effort *e, struct hand *h, lx_status *st)
{
    int ends[2];
    *h = (struct hand){.process = NOBODY, .socket = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return status_set(st, LX_E_IO, "cannot make a socket for another process: %s", strerror(errno));
    pid_t parent = getpid();
    h->process = fork();
    if (h->process == 0) {
        for (int i = 0; i < e->hand_count; i++)
            if (e->hands[i].socket >= 0) close(e->hands[i].socket);
        close(ends[0]);
        /* Signals do what they do to any process, and the death of the one that forked it is its own; where a
         * system cannot tell of that, the work looks (crowd_is_orphan). */
        static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
        for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) signal(caught[i], SIG_DFL);
#ifdef __linux__
        prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
        if (getppid() != parent) _exit(1);
        /* The life of a forked process: it ends when its socket does. */
        struct border border;
        if (border_begin(&border) != 0) _exit(1);
        char *result = mem_alloc(e->crowd->result_size);
        size_t task;
        while (get_message(ends[1], &task, sizeof task) == (ssize_t)sizeof task) {
            e->crowd->work(e->crowd->context, e->tasks + task * e->crowd->task_size, result);
            if (put_message(ends[1], result, e->crowd->result_size) < 0) break;
        }
        _exit(0);
    }
    close(ends[1]);
    if (h->process > 0) return h->socket = ends[0], true;
    close(ends[0]);
    return status_set(st, LX_E_IO, "cannot start another process: %s; -j 1 does without", strerror(errno));
}

static void dismiss(struct hand *h)
{
    if (h->socket >= 0) close(h->socket);
    if (h->process > 0) {
        kill(h->process, SIGKILL);
        while (waitpid(h->process, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    *h = (struct hand){.process = NOBODY, .socket = -1};
}

/* The next task, where one is left. */
static void crowd_give(struct effort *e, struct hand *h)
{
    h->busy = false;
    if (e->next >= e->count) return;
    h->task = e->next++;
    h->busy = true;
    (void)put_message(h->socket, &h->task, sizeof h->task); /* the next poll sees its end */
}

static bool crowd_take(struct effort *e, struct hand *h, lx_status *st)
{
    const struct crowd *c = e->crowd;
    char *result = e->results + h->task * c->result_size;
    ssize_t n = get_message(h->socket, result, c->result_size);
    bool died = n != (ssize_t)c->result_size;
    if (died) c->lost(c->context, e->tasks + h->task * c->task_size, result);
    e->done++;
    if (e->crowd->done) e->crowd->done(e->crowd->context, e->done, e->count);
    if (died) {
        dismiss(h);
        if (e->next < e->count && !hire(e, h, st)) return false;
    }
    if (h->socket >= 0) crowd_give(e, h);
    return true;
}

/* --- The ranks of mpirun. Rank 0 has the tasks: it gives two to each of the others, the next one for each
 * result that comes back, and does some itself between two looks for messages. --- */

enum { AHEAD = 2, FAREWELL = 10 };

/* The head of a message: the number of a task, or one of these. */
enum { STOP = -1, BROKEN = -2, BYE = -3 };

static bool crowd_ranks_post(struct crowd *c, int to, int64_t number, const void *data, size_t size,
                             lx_status *st)
{
    return ranks_send(c->ranks, to, &number, sizeof number, data, size, st);
}

/* Receives `size` bytes and the number before them; `*data` NULL: nothing arrived. */
static bool crowd_ranks_fetch(struct crowd *c, int *from, int64_t *number, char **data, size_t size,
                              lx_status *st)
{
    size_t bytes;
    if (!ranks_receive(c->ranks, from, number, sizeof *number, data, &bytes, st)) return false;
    if (*data && (bytes == SIZE_MAX || (*number >= 0 && bytes != size))) *number = BROKEN;
    return true;
}

static bool give_to(struct effort *d, int rank, lx_status *st)
{
    if (d->next >= d->count) return true;
    size_t task = d->next++;
    return crowd_ranks_post(d->crowd, rank, (int64_t)task, d->tasks + task * d->crowd->task_size,
                            d->crowd->task_size, st);
}

static bool take_results(struct effort *d, lx_status *st)
{
    struct crowd *c = d->crowd;
    for (;;) {
        int from = 0;
        int64_t number = BYE;
        char *data;
        if (!crowd_ranks_fetch(c, &from, &number, &data, c->result_size, st)) return false;
        if (!data) return true;
        bool known = number >= 0 && (size_t)number < d->count;
        if (known) memcpy(d->results + (size_t)number * c->result_size, data, c->result_size);
        mem_free(data);
        if (!known)
            return status_set(st, LX_E_NO, "rank %d cannot take part: it read something else than rank 0",
                              from);
        d->done++;
        if (c->done) c->done(c->context, d->done, d->count);
        if (!give_to(d, from, st)) return false;
    }
}

static bool crowd_ranks_do(struct crowd *c, const void *tasks, size_t count, void *results, lx_status *st)
{
    struct effort d = {.crowd = c, .tasks = tasks, .results = results, .count = count};
    bool ok = true;
    for (int i = 0; i < AHEAD; i++)
        for (int r = 1; ok && r < c->count; r++) ok = give_to(&d, r, st);
    while (ok && d.done < count && !interrupted) {
        if (d.next < count) {
            size_t mine = d.next++;
            c->work(c->context, d.tasks + mine * c->task_size, d.results + mine * c->result_size);
            d.done++;
        } else
            ranks_nap();
        ok = take_results(&d, st);
    }
    return ok;
}

void crowd_serve(struct crowd *c, bool ok)
{
    lx_status st = {0};
    char *result = mem_zeroed(1, c->result_size + 1);
    bool going = (ok || crowd_ranks_post(c, 0, BROKEN, NULL, 0, &st));
    while (going) {
        int from = 0;
        int64_t number = BYE;
        char *task;
        if (!crowd_ranks_fetch(c, &from, &number, &task, c->task_size, &st)) break;
        if (!task) {
            ranks_nap();
            continue;
        }
        going = number >= 0;
        if (going && ok) {
            c->work(c->context, task, result);
            going = crowd_ranks_post(c, 0, number, result, c->result_size, &st);
        }
        mem_free(task);
        if (number == STOP) {
            crowd_ranks_post(c, 0, BYE, NULL, 0, &st);
            mem_free(result);
            c->ranks->leave(true);
            return;
        }
    }
    mem_free(result);
    c->ranks->leave(false);
}

void crowd_dismiss(struct crowd *c)
{
    lx_status st = {0};
    if (!c->ranks) return;
    int gone = 0;
    for (int r = 1; r < c->count; r++)
        crowd_ranks_post(c, r, STOP, NULL, 0, &st); /* one that is lost does not answer below */
    for (double end = clock_seconds() + FAREWELL; gone < c->count - 1 && clock_seconds() < end; ranks_nap()) {
        int from = 0;
        int64_t number = 0;
        char *data = NULL;
        if (!crowd_ranks_fetch(c, &from, &number, &data, c->result_size, &st)) break;
        gone += data && number == BYE;
        mem_free(data);
    }
    c->ranks->leave(gone == c->count - 1);
}

bool crowd_do(struct crowd *c, const void *tasks, size_t count, void *results, lx_status *st)
{
    struct effort e = {.crowd = c, .tasks = tasks, .results = results, .count = count};
    if (count == 0) return true;
    if (c->ranks && c->count > 1) return crowd_ranks_do(c, tasks, count, results, st);
    int most = (int)(e.crowd->jobs < (int64_t)e.count ? e.crowd->jobs : (int64_t)e.count);
    bool ok = true;
    e.hands = mem_zeroed((size_t)most + 1, sizeof *e.hands);
    e.polls = mem_zeroed((size_t)most + 1, sizeof *e.polls);
    for (; ok && e.hand_count < most; e.hand_count++) {
        ok = hire(&e, &e.hands[e.hand_count], st);
        if (ok) crowd_give(&e, &e.hands[e.hand_count]);
    }
    for (bool any = true; ok && any && !interrupted;) {
        any = false;
        for (int i = 0; i < e.hand_count; i++) {
            e.polls[i] = (struct pollfd){.fd = e.hands[i].busy ? e.hands[i].socket : -1, .events = POLLIN};
            any |= e.hands[i].busy;
        }
        if (!any || poll(e.polls, (nfds_t)e.hand_count, LOOK_UP_MS) <= 0) continue;
        for (int i = 0; ok && i < e.hand_count; i++)
            if (e.polls[i].revents) ok = crowd_take(&e, &e.hands[i], st);
    }
    for (int i = 0; i < e.hand_count; i++) dismiss(&e.hands[i]);
    mem_free(e.hands);
    mem_free(e.polls);
    return ok;
}
