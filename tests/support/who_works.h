/* Who has not looked at the stop for too long? A timer of the thread, wound up at each look, prints the stack when it runs out:
 * addresses for addr2line -f -e PROGRAM. */
#ifndef LX_TESTS_SUPPORT_WHO_WORKS_H
#define LX_TESTS_SUPPORT_WHO_WORKS_H

#include <execinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static struct {
    double seconds; /* 0: nobody asks */
    timer_t timer;
} who_works;

static void who_works_say(int signal)
{
    void *at[24];
    (void)signal;
    backtrace_symbols_fd(at, backtrace(at, 24), STDERR_FILENO);
    if (write(STDERR_FILENO, "--\n", 3) < 0) abort();
}

/* From now on nobody may take so long without a look. */
static void who_works_looked(void)
{
    if (who_works.seconds <= 0) return;
    time_t whole = (time_t)who_works.seconds;
    struct timespec each = {whole, (long)((who_works.seconds - (double)whole) * 1e9)};
    timer_settime(who_works.timer, 0, &(struct itimerspec){each, each}, NULL);
}

static void who_works_begin(double seconds)
{
    void *warm[2];
    struct sigaction say = {.sa_handler = who_works_say, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    if (seconds <= 0) return;
    backtrace(warm, 2);
    sigaction(SIGUSR1, &say, NULL);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &who_works.timer) != 0) exit(3);
    who_works.seconds = seconds;
}

#endif
