/* Watches of a thread. State: the innermost one, none at first. */
#include "base/stop.h"
#include "base/fail.h"

#include <string.h>

THREAD_STATE struct stop *innermost;

static void stop_unwind(void *argument)
{
    const struct stop *s = argument;
    innermost = s->outer;
}

void stop_begin(struct stop *s, bool (*asked)(void *context), void *context)
{
    *s = (struct stop){.asked = asked, .context = context, .outer = innermost};
    innermost = s;
    defer(&s->ending, stop_unwind, s);
}

void stop_end(struct stop *s)
{
    defer_drop(&s->ending);
    if (s->outer) s->outer->work += s->work;
    innermost = s->outer;
}

/* What nobody stops, and what ends already, looks for those around it: they hear of it when it is through.
 * Who is asked stands outside of the watch, and may look at those around it, too. */
static void stop_ask(struct stop *s)
{
    struct stop *to = s;
    while (to && (!to->asked || to->now)) to = to->outer;
    s->work = 0;
    if (!to) return;
    innermost = to->outer;
    to->now = to->asked(to->context);
    innermost = s;
}

bool stop_work(int64_t units)
{
    struct stop *s = innermost;
    if (!s) return false;
    s->work += units;
    if (s->work >= STOP_EACH) stop_ask(s);
    return s->now;
}

void stop_look(int64_t units)
{
    (void)stop_work(units);
}

void stop_copy(void *to, const void *from, size_t bytes)
{
    enum { PIECE = 1 << 18, UNIT = 2 }; /* bytes: new pages take longer than to copy does */
    for (size_t at = 0, piece; at < bytes; at += piece) {
        piece = bytes - at < PIECE ? bytes - at : PIECE;
        memcpy((char *)to + at, (const char *)from + at, piece);
        stop_look((int64_t)piece / UNIT);
    }
}

bool stop_never(void *context)
{
    (void)context;
    stop_look(STOP_EACH);
    return false;
}

bool stop_is_now(void)
{
    return innermost && innermost->now;
}

bool status_stopped(lx_status *st)
{
    return status_set(st, LX_E_STOPPED, "stopped before its end");
}

bool stop_forgiven(bool ok, lx_status *st)
{
    if (ok || !st || st->code != LX_E_STOPPED) return ok;
    *st = (lx_status){0};
    return true;
}
