/* Sends and receives, sorted by who talks to whom: both ends of a message come to lie side by side. */
#include "team/run/message_pairs.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>

struct message_end {
    const struct lx_team_message *message;
    int device, from, to;
    int32_t number; /* of the device's messages */
};

static bool receives(const struct message_end *x)
{
    return x->message->operand < 0;
}

static int message_pairs_compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* 0: ends of one message, or of two that cannot be told apart. */
static int by_message(const struct message_end *x, const struct message_end *y)
{
    int c = message_pairs_compare(x->from, y->from);
    if (!c) c = message_pairs_compare(x->to, y->to);
    if (!c) c = message_pairs_compare(x->message->tag, y->message->tag);
    return c ? c : message_pairs_compare(x->message->bytes, y->message->bytes);
}

static int message_pairs_by_end(const void *a, const void *b)
{
    const struct message_end *x = a, *y = b;
    int c = by_message(x, y);
    if (!c) c = message_pairs_compare(receives(x), receives(y));
    if (!c) c = message_pairs_compare(x->device, y->device);
    return c ? c : message_pairs_compare(x->number, y->number);
}

static struct message_end *list_ends(const struct lx_team_plans *p, size_t *count)
{
    *count = 0;
    for (int m = 0; m < p->team->devices; m++) *count += (size_t)p->devices[m]->message_count;
    struct message_end *all = mem_zeroed(*count + 1, sizeof *all);
    size_t n = 0;
    for (int m = 0; all && m < p->team->devices; m++)
        for (int32_t i = 0; i < p->devices[m]->message_count; i++, n++) {
            struct message_end x = {&p->devices[m]->messages[i], m, m, m, i};
            *(receives(&x) ? &x.from : &x.to) = x.message->peer;
            all[n] = x;
        }
    if (all) qsort(all, *count, sizeof *all, message_pairs_by_end);
    return all;
}

/* Of the ends that have no other one the first, by device and number; NULL: there are none. */
static const struct message_end *find_single(const struct message_end *all, size_t count)
{
    const struct message_end *first = NULL;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && by_message(&all[i], &all[end]) == 0;) end++;
        if (end - i == 2 && !receives(&all[i]) && receives(&all[i + 1])) continue;
        for (size_t k = i; k < end; k++)
            if (!first || all[k].device < first->device ||
                (all[k].device == first->device && all[k].number < first->number))
                first = &all[k];
    }
    return first;
}

bool team_check_messages(const struct lx_team_plans *p, lx_status *st)
{
    size_t count;
    struct message_end *all = list_ends(p, &count);
    const struct message_end *x = find_single(all, count);
    if (x)
        status_set(st, LX_E_NO, "device %d %s %lld bytes that device %d does not %s", x->device,
                   receives(x) ? "receives" : "sends", (long long)x->message->bytes, x->message->peer,
                   receives(x) ? "send" : "receive");
    mem_free(all);
    return !x;
}
