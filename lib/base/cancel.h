/* Work that may end before it is done.
 *
 * Main loops call cancel_requested(); if it returns true they return the best result so far. Nothing else
 * does: no error, no copy, no sort. The caller sets a deadline or a flag: cancel_begin for a part of the work
 * of its own thread, slot_run (base/slot.h) for work that it waits for. Tokens nest; a token that is
 * cancelled cancels those inside of it. */
#ifndef LX_BASE_CANCEL_H
#define LX_BASE_CANCEL_H

#include "base/border.h"

#include <stdatomic.h>

struct cancel {
    atomic_bool requested;  /* set by any thread */
    double seconds;         /* it has; 0: there is no deadline */
    double began, deadline; /* on the clock of base/clock.h */
    bool shields;           /* tokens around it do not count */
    struct cancel *outer;
    struct deferred ending;
};

/* Is the work of this thread to end? Some ten nanoseconds, with a deadline some fifty: once for each op or
 * buffer. */
bool cancel_requested(void);

/* The token counts for this thread until cancel_end; seconds 0: no deadline. */
void cancel_begin(struct cancel *token, double seconds);
/* Until cancel_end nothing cancels the work: a first result is to be made, and soon is. */
void cancel_shield(struct cancel *token);
void cancel_end(struct cancel *token);

/* Seconds until the first deadline; INFINITY: there is none. */
double cancel_seconds_left(void);
/* Has a deadline passed? Else somebody has requested to cancel. */
bool cancel_is_late(void);
/* To write the result takes about `share` of the time since the innermost token began: its deadline comes
 * that much earlier, by a quarter of its time at most. */
void cancel_reserve(double share);

/* The innermost token, NULL: none; and for a thread that works for another one: its token. */
struct cancel *cancel_current(void);
void cancel_share(struct cancel *token);

#endif
