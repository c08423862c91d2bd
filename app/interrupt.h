/* Long work that a person watches: Ctrl-C, SIGTERM and a deadline end it, a line on the terminal says how far
 * it is. */
#pragma once

#include <signal.h>
#include "base/base.h"

/* Set by the signals that interrupt_catch catches. */
extern volatile sig_atomic_t interrupted;
/* Requested by them: for work on this thread. */
extern struct cancel interrupting;
/* The first signal says on standard error that the second one ends the program at once. */
extern volatile sig_atomic_t interrupt_says;

/* The first of these signals sets `interrupted`, the second does what it always does. */
void interrupt_catch(const int *signals, int count, struct sigaction *before);
void interrupt_release(const int *signals, int count, const struct sigaction *before);

enum { WATCHED_SIGNALS = 2 };

/* At the beginning of the context of callbacks. */
struct watch {
    double deadline; /* on the clock of base/clock.h; 0: none */
    double began;
    double next_report;
    struct sigaction before[WATCHED_SIGNALS];
};

/* Catches Ctrl-C and SIGTERM, and ends after `seconds` if that is above 0. */
void watch_begin(struct watch *w, double seconds);
void watch_end(struct watch *w);
/* A callback: is it to end? */
bool watch_must_stop(void *watch);
/* Is it time for another line? Five times per second, after the first second. */
bool watch_wants_line(struct watch *w);
