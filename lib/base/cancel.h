/* Cancellation.
 *
 * Main loops call cancel_requested(); if it returns true they return the best result so far. Nothing else
 * does: no error, no copy, no sort. The caller sets a deadline or a flag: cancel_begin for work of its own
 * thread, slot_run (base/slot.h) for a worker's. Tokens nest; cancelling a token cancels its inner tokens. */
#pragma once

#include "base/border.h"

#include <stdatomic.h>

struct cancel {
    atomic_bool requested;  /* set by any thread */
    double seconds;         /* time limit; 0: no deadline */
    double began, deadline; /* by base/clock.h */
    bool shields;           /* ignores enclosing tokens */
    int64_t polls, most;    /* by this thread; it cancels itself after `most`; 0: polls are not counted */
    struct cancel *outer;
    struct deferred ending;
};

/* Shall this thread's work end? Costs ten nanoseconds, with a deadline fifty: call it once per op or
 * buffer. */
bool cancel_requested(void);

/* Activates the token for this thread until cancel_end; seconds 0: no deadline. */
void cancel_begin(struct cancel *token, double seconds);
/* Ignores cancellation until cancel_end, for a short first result. */
void cancel_shield(struct cancel *token);
void cancel_end(struct cancel *token);

/* Seconds until the first deadline; INFINITY: none. */
double cancel_seconds_left(void);
/* Has a deadline passed? If not, somebody requested the cancel. */
bool cancel_is_late(void);
/* Moves the innermost token's deadline earlier, as writing the result takes `share` of the time since it
 * began; by a quarter of its time at most. */
void cancel_reserve(double share);

/* The innermost token, NULL: none. cancel_share: makes this thread use the token of the thread it works
 * for. */
struct cancel *cancel_current(void);
void cancel_share(struct cancel *token);
