/* Processes that share one benchmark, behind a small table: whatever carries their messages (MPI) is known to
 * one file only, which is part of a plug-in.
 *
 * A message is a block of bytes, from any rank to any other, and arrives whole; two from the same rank arrive
 * in the order in which they were sent. Nothing here waits busily: processors belong to the runs. */
#pragma once

#include "base/base.h"

struct ranks {
    /* Once, before all else. Each of the processes learns its number, 0 to `count` - 1. */
    bool (*join)(int *rank, int *count, lx_status *st);
    /* `data` may be reused at once. */
    bool (*send)(int to, const void *data, size_t bytes, lx_status *st);
    /* A message that is there already, malloc'ed; `*data` is NULL when there is none. */
    bool (*receive)(int *from, void **data, size_t *bytes, lx_status *st);
    /* Leaves, all ranks together. `ok` false: a rank no longer answers; ends this process with exit code 1,
     * and the others with it. */
    void (*leave)(bool ok);
};

/* A message of a head and, behind it, `size` bytes. */
bool ranks_send(const struct ranks *ranks, int to, const void *head, size_t head_size, const void *data,
                size_t size, lx_status *st);
/* One message that is there already: its head, and the bytes behind it, terminated and to be freed; `*data`
 * NULL: there is none. `*size` is SIZE_MAX where it is shorter than a head. */
bool ranks_receive(const struct ranks *ranks, int *from, void *head, size_t head_size, char **data,
                   size_t *size, lx_status *st);
/* Between two looks for messages. */
void ranks_nap(void);

const char *ranks_transport_word(int k); /* local, then mpi */
struct call;
/* By --transport: the ranks, and this process's number. `*ranks` NULL: a single process. False with
 * `call->st`. */
bool ranks_join(struct call *call, const struct ranks **ranks, int *rank, int *count);
