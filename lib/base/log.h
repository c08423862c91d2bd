/* Debug messages of passes and solvers: LOG(pass, "format", ...).
 *
 * Compiled in by -DLXPLAN_LOGGING=ON only; in any other build a LOG is checked by the compiler and then is
 * nothing: its arguments are not evaluated. `pass` is a bare word, the name of the pass or solver; the line
 * has no line end. Log decisions (an attempt, an improvement, a bound, a verdict), nothing inside a loop over
 * buffers: thousands of lines per plan are read by nobody.
 *
 * The library never prints: lines go to the function that the *thread* has named, because a plan is made by
 * one thread and a parameter for this would go through every function there is. Lines are cut at 400
 * bytes. */
#pragma once

#include <inttypes.h>
#include <stdbool.h>

typedef void log_function(void *context, const char *pass, const char *line);

/* Sends lines of this thread to `to`; NULL: drops them, as at first. False: this build has no logging. */
bool log_to(log_function *to, void *context);
/* The receiver of this thread, and its context. */
log_function *log_receiver(void **context);
bool log_wanted(void);
void log_line(const char *pass, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef LXPLAN_LOGGING
#define LOG_COMPILED 1
#else
#define LOG_COMPILED 0
#endif

#define LOG(pass, ...)                                                                                       \
    do {                                                                                                     \
        if (LOG_COMPILED && log_wanted()) log_line(#pass, __VA_ARGS__);                                      \
    } while (0)
