/* The tokens of a thread. State: the innermost token, NULL at first. */
#include "base/base.h"

THREAD_STATE struct cancel *current;

bool cancel_requested(void)
{
    double now = 0; /* the clock is read once */
    for (struct cancel *token = current; token && !token->shields; token = token->outer) {
        if (token->most > 0 && ++token->polls == token->most) atomic_store(&token->requested, true);
        if (atomic_load_explicit(&token->requested, memory_order_relaxed)) return true;
        if (token->seconds > 0 && now <= 0) now = clock_seconds();
        if (token->seconds <= 0 || now < token->deadline) continue;
        atomic_store_explicit(&token->requested, true, memory_order_relaxed);
        return true;
    }
    return false;
}

static void cancel_unwind(void *argument)
{
    const struct cancel *token = argument;
    current = token->outer;
}

void cancel_begin(struct cancel *token, double seconds)
{
    atomic_init(&token->requested, false);
    token->seconds = seconds;
    token->began = seconds > 0 ? clock_seconds() : 0;
    token->deadline = token->began + seconds;
    token->shields = false;
    token->polls = token->most = 0;
    token->outer = current;
    current = token;
    defer(&token->ending, cancel_unwind, token);
}

void cancel_shield(struct cancel *token)
{
    cancel_begin(token, 0);
    token->shields = true;
}

void cancel_end(struct cancel *token)
{
    defer_end(&token->ending);
}

double cancel_seconds_left(void)
{
    double first = INFINITY;
    for (const struct cancel *token = current; token && !token->shields; token = token->outer)
        if (token->seconds > 0) first = fmin(first, token->deadline);
    return isinf(first) ? first : first - clock_seconds();
}

bool cancel_is_late(void)
{
    return cancel_seconds_left() <= 0;
}

void cancel_reserve(double share)
{
    if (!current || current->seconds <= 0) return;
    double reserved = fmin((clock_seconds() - current->began) * share, current->seconds / 4);
    current->deadline = fmin(current->deadline, current->began + current->seconds - reserved);
}

struct cancel *cancel_current(void)
{
    return current;
}

void cancel_share(struct cancel *token)
{
    current = token;
}
