/* Tasks done by the ranks of mpirun. Rank 0 has the tasks; it gives two to each of the others, the next one for each
 * result that comes back, and does some itself between two looks for messages. */
#include "sweep/crowd.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "interrupt.h"

#include <string.h>
#include <time.h>

enum { AHEAD = 2, FAREWELL = 10 };

/* Before the bytes of a task or of a result. */
struct parcel {
    int64_t number; /* of the task, or one of these */
};
enum { STOP = -1, BROKEN = -2, BYE = -3 };

static void crowd_ranks_nap(void)
{
    static const struct timespec moment = {0, 200000};
    nanosleep(&moment, NULL);
}

static bool crowd_ranks_post(struct crowd *c, int to, int64_t number, const void *data, size_t size,
                             lx_status *st)
{
    struct parcel head = {number};
    char *block = mem_alloc(sizeof head + size);
    memcpy(block, &head, sizeof head);
    if (size) memcpy(block + sizeof head, data, size);
    bool ok = c->ranks->send(to, block, sizeof head + size, st);
    mem_free(block);
    return ok;
}

/* What has arrived, of `size` bytes behind its number, or nothing: `*number` is then BYE. malloc'ed. */
static bool crowd_ranks_fetch(struct crowd *c, int *from, int64_t *number, char **data, size_t size,
                              lx_status *st)
{
    void *block;
    size_t bytes;
    *data = NULL;
    if (!c->ranks->receive(from, &block, &bytes, st)) return false;
    if (!block) return true;
    struct parcel head = {BROKEN};
    if (bytes >= sizeof head) memcpy(&head, block, sizeof head);
    if (head.number >= 0 && bytes != sizeof head + size) head.number = BROKEN;
    *number = head.number;
    if (head.number >= 0) memmove(block, (char *)block + sizeof head, size);
    *data = block;
    return true;
}

struct dealing {
    struct crowd *crowd;
    const char *tasks;
    char *results;
    size_t count, next, done;
};

static bool give_to(struct dealing *d, int rank, lx_status *st)
{
    if (d->next >= d->count) return true;
    size_t task = d->next++;
    return crowd_ranks_post(d->crowd, rank, (int64_t)task, d->tasks + task * d->crowd->task_size,
                            d->crowd->task_size, st);
}

static bool take_results(struct dealing *d, lx_status *st)
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

bool ranks_do(struct crowd *c, const void *tasks, size_t count, void *results, lx_status *st)
{
    struct dealing d = {.crowd = c, .tasks = tasks, .results = results, .count = count};
    bool ok = true;
    for (int i = 0; i < AHEAD; i++)
        for (int r = 1; ok && r < c->count; r++) ok = give_to(&d, r, st);
    while (ok && d.done < count && !interrupted) {
        if (d.next < count) {
            size_t mine = d.next++;
            c->work(c->context, d.tasks + mine * c->task_size, d.results + mine * c->result_size);
            d.done++;
        } else
            crowd_ranks_nap();
        ok = take_results(&d, st);
    }
    return ok;
}

void crowd_serve(struct crowd *c, bool ok)
{
    lx_status st = {0};
    char *result = mem_zeroed(1, c->result_size + 1);
    bool going = result && (ok || crowd_ranks_post(c, 0, BROKEN, NULL, 0, &st));
    while (going) {
        int from = 0;
        int64_t number = BYE;
        char *task;
        if (!crowd_ranks_fetch(c, &from, &number, &task, c->task_size, &st)) break;
        if (!task) {
            crowd_ranks_nap();
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
    for (double end = clock_seconds() + FAREWELL; gone < c->count - 1 && clock_seconds() < end;
         crowd_ranks_nap()) {
        int from = 0;
        int64_t number = 0;
        char *data = NULL;
        if (!crowd_ranks_fetch(c, &from, &number, &data, c->result_size, &st)) break;
        gone += data && number == BYE;
        mem_free(data);
    }
    c->ranks->leave(gone == c->count - 1);
}
