/* Threads, each with a border; see thread.h. */
#include "base/thread.h"

static void *thread_body(void *argument)
{
    struct thread *thread = argument;
    struct border border;
    cancel_share(thread->token);
    if (border_begin(&border) == 0) {
        thread->function(thread->argument);
        thread->list = border_end_handed(&border);
    } else {
        thread->memory_is_out = true;
    }
    return NULL;
}

static void thread_wait(void *argument)
{
    struct thread *thread = argument;
    pthread_join(thread->id, NULL);
    if (thread->list) border_take(thread->list);
}

bool thread_start(struct thread *thread, void (*function)(void *argument), void *argument)
{
    *thread = (struct thread){.function = function, .argument = argument, .token = cancel_current()};
    if (pthread_create(&thread->id, NULL, thread_body, thread) != 0) return false;
    defer(&thread->joining, thread_wait, thread);
    return true;
}

bool thread_join(struct thread *thread)
{
    defer_end(&thread->joining);
    return !thread->memory_is_out;
}
