/* Polling by counted work, in the rooms that base/cancel.h has not reached yet (layout, cooptimise, team, divide).
 *
 * stop_begin names a function that answers whether to end. A loop reports its work with stop_work(), in
 * nanoseconds or so; every STOP_EACH of them the function is called. The state belongs to the thread. Watches
 * nest, and the innermost counts; one without a function shields its work from the outer ones. */
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

#endif
