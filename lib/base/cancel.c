/* The tokens of a thread. State: the innermost one, none at first. */
#include "base/cancel.h"
#include "base/clock.h"

THREAD_STATE struct cancel *current;

bool cancel_requested(void)
{
    for (struct cancel *token = current; token; token = token->outer) {
        if (atomic_load_explicit(&token->requested, memory_order_relaxed)) return true;
        if (token->deadline <= 0 || clock_seconds() < token->deadline) continue;
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

void cancel_begin(struct cancel *token, double deadline)
{
    atomic_init(&token->requested, false);
    token->deadline = deadline;
    token->outer = current;
    current = token;
    defer(&token->ending, cancel_unwind, token);
}

void cancel_end(struct cancel *token)
{
    defer_end(&token->ending);
}

struct cancel *cancel_current(void)
{
    return current;
}

void cancel_share(struct cancel *token)
{
    current = token;
}
