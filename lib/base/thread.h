/* Threads of a caller that waits for them. */
#ifndef LX_BASE_THREAD_H
#define LX_BASE_THREAD_H

#include "base/cancel.h"

#include <pthread.h>

struct thread {
    pthread_t id;
    void (*function)(void *argument);
    void *argument;
    struct deferred joining;
    struct mem_list *list; /* of its blocks */
    struct cancel *token;  /* of the caller: it cancels the thread, too */
    bool memory_is_out;
};

/* Runs the function in a border of its own. False: the system has no thread left. The thread is waited for if
 * memory is out before thread_join. */
bool thread_start(struct thread *thread, void (*function)(void *argument), void *argument);
/* Waits. The thread's blocks belong to the calling thread's border. False: memory was out in it; join the
 * other threads, then call memory_out(). */
bool thread_join(struct thread *thread);

#endif
