/* Work with a deadline, or that can be interrupted: a thread of its own does it, and the caller takes the
 * best so far.
 *
 * slot_run starts the worker and waits. About every 10 ms it asks the caller's `stop`, on the calling thread.
 * At the deadline, or when it is to stop, it cancels the worker (base/cancel.h) and gives it a short grace to
 * come home by itself. A worker that does not is *abandoned*: slot_run returns the best result that the
 * worker has offered, and the worker ends at its next poll and frees its job. Without any result slot_run
 * waits for the first one at a deadline, and returns LX_E_STOPPED at once when it is to stop.
 *
 * So the job is the worker's own: it holds copies, and references to things that are shared
 * (base/users.h). */
#ifndef LX_BASE_SLOT_H
#define LX_BASE_SLOT_H

#include "base/status.h"

struct slot_work {
    void *(*make)(void *job, lx_status *st); /* on the worker: the final result, or NULL with `st` */
    void (*drop)(void *result);              /* frees a result that nobody takes */
    void (*end)(void *job);                  /* frees the job, on whichever thread is the last */
    void *job;
    bool (*stop)(void *context); /* asked on the calling thread; NULL: nobody stops it */
    void *context;
    double seconds; /* until the deadline; 0: none */
};

/* The result, or NULL with `st`. Memory that is out in the worker unwinds the caller. */
void *slot_run(const struct slot_work *work, lx_status *st);

/* For the worker. Does this thread work for a slot? */
bool slot_is_here(void);
const void *slot_job(void); /* its job; NULL: it does not */
/* Is it time to offer a result? A worker spends a twentieth of its time on them. Once it is cancelled only
 * the first is wanted. */
bool slot_wants_result(void);
/* The slot has it from now on; an older one is dropped. What it shares with the worker has references, or is
 * not freed before the worker ends. */
void slot_offer(void *result);
/* Calls `function` on the thread that waits, and returns when it has; not at all once the work is
 * cancelled. */
void slot_call(void (*function)(void *argument), void *argument);

#endif
