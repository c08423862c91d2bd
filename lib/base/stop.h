/* Work that may have to end before it is done: `if (stop_work(40 * n)) return status_stopped(st);`
 *
 * Whoever makes a plan names a function that tells whether to stop (stop_begin), and loops say from time
 * to time what they have done since they last did, in nanoseconds or so; after a fraction of a millisecond
 * of that the function is asked. It is kept per *thread*, because a plan is made by one thread and a
 * parameter for this would go through every function there is. What ends so fails like without memory, and
 * whoever has something better than nothing goes on with that (stop_forgiven). Watches stand in each
 * other: the innermost counts; one without a function is never stopped, and the one around it is asked all
 * the same, as who is asked may have something else to do meanwhile, and ends sooner what comes after. How
 * often it is asked depends on work alone, never on the clock: only the answer does. */
#ifndef LX_BASE_STOP_H
#define LX_BASE_STOP_H

#include "base/border.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { STOP_EACH = 250000 }; /* of these units */

struct stop {
    bool (*asked)(void *context); /* NULL: nobody stops it */
    void *context;
    int64_t work; /* since it was last asked */
    bool now;     /* the answer was yes, and it stays so */
    struct stop *outer;
    struct deferred ending;
};

/* From now on, until stop_end of the same. */
void stop_begin(struct stop *s, bool (*asked)(void *context), void *context);
void stop_end(struct stop *s);
/* So much was done. True: end it. */
bool stop_work(int64_t units);
/* The same for what goes to its end, whatever the answer is: that is heard by who looks next. */
void stop_look(int64_t units);
/* memcpy of what may be large, with looks. */
void stop_copy(void *to, const void *from, size_t bytes);
/* In place of a function that tells whether to stop: looks, and says no. */
bool stop_never(void *context);
/* Has the innermost watch been told to stop? */
bool stop_is_now(void);
/* In loops over many things: round `i` of them is done, each of so many units. True: end it. */
static inline bool stop_round(int64_t i, int64_t units)
{
    enum { ROUNDS = 4096 };
    return (i & (ROUNDS - 1)) == ROUNDS - 1 && stop_work(ROUNDS * units);
}

/* The error of what was stopped; false. */
bool status_stopped(lx_status *st);
/* True if it is ok, or failed only because it was stopped: then there is no error any more. */
bool stop_forgiven(bool ok, lx_status *st);

#endif
