/* Threads that their caller joins. */
#pragma once

#include "base/cancel.h"

#include <pthread.h>

struct thread {
    pthread_t id;
    void (*function)(void *argument);
    void *argument;
    struct deferred joining;
    struct mem_list *list; /* of its blocks */
    struct cancel *token;  /* the caller's, which cancels the thread too */
    bool memory_is_out;
};

/* Runs the function in its own border. False: the system has no thread left. Running out of memory before
 * thread_join also waits for the thread. */
bool thread_start(struct thread *thread, void (*function)(void *argument), void *argument);
/* Waits for the thread. Its blocks move to the caller's border. False: it ran out of memory; join the other
 * threads, then call memory_out(). */
bool thread_join(struct thread *thread);
