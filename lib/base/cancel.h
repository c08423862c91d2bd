/* Cancellation. Main loops of solvers and searches call cancel_requested(); if it returns true they end with the best
 * result so far. */
#ifndef LX_BASE_CANCEL_H
#define LX_BASE_CANCEL_H

#include "base/stop.h"

static inline bool cancel_requested(void)
{
    return stop_work(STOP_EACH);
}

#endif
