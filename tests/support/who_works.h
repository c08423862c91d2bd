/* Who has not looked at the stop for too long? Prints the stack of the look before and that of the one that came so late:
 * addresses for addr2line -f -e PROGRAM. */
#ifndef LX_TESTS_SUPPORT_WHO_WORKS_H
#define LX_TESTS_SUPPORT_WHO_WORKS_H

#include <execinfo.h>
#include <stdio.h>
#include <unistd.h>

enum { WHO_WORKS_DEPTH = 24 };

static struct {
    double seconds; /* 0: nobody asks */
    void *before[WHO_WORKS_DEPTH];
    int depth;
} who_works;

static void who_works_begin(double seconds)
{
    who_works.seconds = seconds;
}

/* Somebody looks, so many seconds after the look before; 0: the first one. */
static void who_works_looked(double seconds)
{
    if (who_works.seconds <= 0) return;
    void *now[WHO_WORKS_DEPTH];
    int depth = backtrace(now, WHO_WORKS_DEPTH);
    if (seconds > who_works.seconds) {
        fprintf(stderr, "%.1f ms from\n", 1e3 * seconds);
        backtrace_symbols_fd(who_works.before, who_works.depth, STDERR_FILENO);
        fprintf(stderr, "to\n");
        backtrace_symbols_fd(now, depth, STDERR_FILENO);
        fprintf(stderr, "--\n");
    }
    for (int i = 0; i < depth; i++) who_works.before[i] = now[i];
    who_works.depth = depth;
}

#endif
