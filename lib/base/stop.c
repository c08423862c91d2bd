/* Watches of a thread. State: the innermost one, none at first. */
#include "base/stop.h"
#include "base/fail.h"

#include <stddef.h>

static _Thread_local struct stop *innermost;

void stop_begin(struct stop *s, bool (*asked)(void *context), void *context)
{
    *s = (struct stop){.asked = asked, .context = context, .outer = innermost};
    innermost = s;
}

void stop_end(struct stop *s)
{
    innermost = s->outer;
}

static bool ask(struct stop *s)
{
    s->work = 0;
    return s->now = s->asked && s->asked(s->context);
}

bool stop_work(int64_t units)
{
    struct stop *s = innermost;
    if (!s || s->now) return s;
    s->work += units;
    return s->work >= STOP_EACH && ask(s);
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
