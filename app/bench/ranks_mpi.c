/* Ranks of an MPI program: small messages of the harness, never of the runs.
 *
 * The processes of the runs are forked from ranks. That is safe here: such a process never calls MPI, closes
 * all that it inherited, and ends with _exit. Waiting inside MPI spins, which would take processors from the
 * runs, so everything is a test and a nap. */
#include "bench/ranks.h"
#include "own_plugins.h"
#include "unstable.h"

#include <mpi.h>

extern const struct lx_transport transport_mpi;

enum { TAG = 1, FROZEN_MS = 3000 };

static MPI_Comm comm = MPI_COMM_NULL; /* ours, so that no one else's message is taken for one of these */

static bool failed(int result, const char *what, lx_status *st)
{
    char words[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(result, words, &length);
    return status_set(st, LX_E_IO, "MPI cannot %s: %.300s", what, words);
}

static bool ranks_mpi_join(int *rank, int *count, lx_status *st)
{
    *count = transport_mpi.devices(st); /* begins MPI, and knows a time limit */
    if (*count < 1) return false;
    int result = MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (result != MPI_SUCCESS) return failed(result, "make a communicator", st);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, rank);
    return true;
}

static bool send_block(int to, const void *data, size_t bytes, lx_status *st)
{
    static const struct timespec nap = {0, 100000};
    MPI_Request request;
    int done = 0;
    if (bytes > INT_MAX)
        return status_set(st, LX_E_LIMIT, "a message of more than 2^31 bytes to rank %d", to);
    int result = MPI_Isend(data, (int)bytes, MPI_BYTE, to, TAG, comm, &request);
    if (result == MPI_SUCCESS) result = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (result == MPI_SUCCESS && !done) {
        nanosleep(&nap, NULL);
        result = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    return result == MPI_SUCCESS || failed(result, "send", st);
}

static bool receive_block(int *from, void **data, size_t *bytes, lx_status *st)
{
    MPI_Status status;
    int there = 0, count = 0;
    *data = NULL;
    int result = MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &there, &status);
    if (result != MPI_SUCCESS) return failed(result, "look for messages", st);
    int frozen = there ? -1 : transport_mpi.frozen(&(struct lx_link){.timeout_ms = FROZEN_MS});
    if (frozen >= 0) return status_set(st, LX_E_NO, "rank %d does not answer: it is stopped", frozen);
    if (!there) return true;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (!(*data = mem_try_zeroed((size_t)count + 1, 1))) return status_no_memory(st);
    result = MPI_Recv(*data, count, MPI_BYTE, status.MPI_SOURCE, TAG, comm, MPI_STATUS_IGNORE);
    if (result != MPI_SUCCESS) {
        mem_free(*data);
        *data = NULL;
        return failed(result, "receive", st);
    }
    *from = status.MPI_SOURCE;
    *bytes = (size_t)count;
    return true;
}

static void ranks_mpi_leave(bool ok)
{
    if (ok && comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    lx_status ignored;
    if (!transport_mpi.end(ok, &ignored)) transport_mpi.end(false, &ignored);
}

static const struct ranks ranks_mpi = {
    .join = ranks_mpi_join, .send = send_block, .receive = receive_block, .leave = ranks_mpi_leave};

__attribute__((visibility("default")))
const struct mpi_plugin lxplan_mpi = {LXPLAN_VERSION, &transport_mpi, &ranks_mpi};
