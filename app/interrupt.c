/* The handlers of long work. One flag and one token for the whole program, the only things a handler may
 * touch; a second signal ends the program at once, as the first has put the default handler back. */
#include "interrupt.h"
#include "text/colour.h"

#include <unistd.h>

volatile sig_atomic_t interrupted;
struct cancel interrupting;
volatile sig_atomic_t interrupt_says;

static const int watched[WATCHED_SIGNALS] = {SIGINT, SIGTERM};

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
    atomic_store_explicit(&interrupting.requested, true, memory_order_relaxed);
    static const char words[] = "lxplan: stopping; again: at once\n";
    int before = errno;
    if (interrupt_says && write(STDERR_FILENO, words, sizeof words - 1) < 0) errno = before;
}

void interrupt_catch(const int *signals, int count, struct sigaction *before)
{
    struct sigaction stop = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND};
    for (int i = 0; i < count; i++) {
        sigaction(signals[i], &stop, &before[i]);
        bool by_nohup = signals[i] == SIGHUP && before[i].sa_handler == SIG_IGN;
        if (by_nohup) sigaction(signals[i], &before[i], NULL);
    }
}

void interrupt_release(const int *signals, int count, const struct sigaction *before)
{
    for (int i = 0; i < count; i++) sigaction(signals[i], &before[i], NULL);
}

void watch_begin(struct watch *w, double seconds)
{
    double now = clock_seconds();
    w->deadline = seconds > 0 ? now + seconds : 0;
    w->began = now;
    w->next_report = now + 1;
    interrupt_catch(watched, WATCHED_SIGNALS, w->before);
}

void watch_end(struct watch *w)
{
    interrupt_release(watched, WATCHED_SIGNALS, w->before);
    paint_progress_end();
}

bool watch_must_stop(void *watch)
{
    const struct watch *w = watch;
    return interrupted || (w->deadline > 0 && clock_seconds() > w->deadline);
}

bool watch_wants_line(struct watch *w)
{
    double now = clock_seconds();
    if (now < w->next_report) return false;
    w->next_report = now + 0.2;
    return true;
}
