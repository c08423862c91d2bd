/* The receiver of a thread's log lines. State: one function and its context per thread, none at first. */
#include "base/base.h"

enum { LINE = 400 };

THREAD_STATE log_function *receiver;
THREAD_STATE void *receiver_context;

bool log_to(log_function *to, void *context)
{
    receiver = to;
    receiver_context = context;
    return LOG_COMPILED;
}

log_function *log_receiver(void **context)
{
    *context = receiver_context;
    return receiver;
}

bool log_wanted(void)
{
    return receiver != NULL;
}

void log_line(const char *pass, const char *format, ...)
{
    char line[LINE];
    va_list args;
    if (!receiver) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    receiver(receiver_context, pass, line);
}
