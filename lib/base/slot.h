/* Work with a deadline or an interrupt: a worker thread does it, and the waiting thread takes the best result
 * so far.
 *
 * slot_run starts the worker and waits. About every 4 ms it asks the caller's `stop`, on the calling
 * thread. At the deadline, or when it is to stop, it cancels the worker (base/cancel.h) and gives it a
 * short grace to come home by itself, unless its last offer took longer to make. A worker that does not is
 * *abandoned*: slot_run returns the best result that the worker has offered, and the worker ends at its next
 * poll and frees its job. Without any result slot_run waits for the first one at a deadline, and returns
 * LX_E_STOPPED after the grace when it is to stop.
 *
 * So the job is the worker's own: it holds copies, and references to things that are shared
 * (base/users.h). */
#pragma once

#include "base/status.h"

struct slot_work {
    void *(*make)(void *job, lx_status *st); /* on the worker: the final result, or NULL with `st` */
    void (*drop)(void *result);              /* frees a result not taken */
    void (*end)(void *job);                  /* frees the job, on whichever thread ends last */
    void *job;
    bool (*stop)(void *context); /* polled on the calling thread; NULL: never stops */
    void *context;
    double seconds; /* until the deadline; 0: none */
};

/* Returns the result, or NULL with `st`. If the worker runs out of memory, the caller unwinds. */
void *slot_run(const struct slot_work *work, lx_status *st);

/* For the worker: does this thread work for a slot? */
bool slot_is_here(void);
const void *slot_job(void); /* its job; NULL: not a worker */
/* Is it time to offer a result? Results get a twentieth of a worker's time. Once cancelled, it offers only a
 * first one. */
bool slot_wants_result(void);
/* Gives the result to the slot, which drops an older one. Objects it shares with the worker are
 * reference-counted, or live until the worker ends. */
void slot_offer(void *result);
/* Ends a worker that is abandoned, as if memory had run out: call it where memory may run out, in long work
 * without polls. */
void slot_end_abandoned(void);
/* Calls `function` on the waiting thread and returns when done; skips the call once cancelled. */
void slot_call(void (*function)(void *argument), void *argument);
