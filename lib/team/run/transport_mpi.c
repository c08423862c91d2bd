/* Devices as MPI processes, one per rank. An exchange is an all-to-all-v of non-blocking sends and receives,
 * most of them empty. Receives are posted when the exchange starts, so data travels while the core is
 * computed. MPI errors are returned, not fatal. */
#include "team/run/transport.h"
#include "team/run/mpi_process.h"

#include <unistd.h>

struct lx_flight {
    int tag;
    const struct lx_message *in;
    MPI_Request *receive, *send; /* per device */
    void **copy;                 /* per device: the data sent */
};

static MPI_Comm comm = MPI_COMM_NULL; /* a private communicator, so tags are private; one per process */

/* Abandons pending receives: a dead peer would never complete them. */
static void transport_mpi_drop(struct lx_flight *f, int devices, bool ok)
{
    for (int m = 0; m < devices; m++) {
        if (!ok && f->receive[m] != MPI_REQUEST_NULL) {
            MPI_Cancel(&f->receive[m]);
            MPI_Request_free(&f->receive[m]);
        }
        if (f->send[m] == MPI_REQUEST_NULL) mem_free(f->copy[m]);
    }
    mem_free(f->receive);
    mem_free(f->send);
    mem_free(f->copy);
    mem_free(f);
}

/* The border is here, as the plug-in has its own allocator, which knows nothing of the program's borders. */
static struct lx_flight *transport_mpi_flight(struct lx_link *link, const struct lx_message *out,
                                              lx_status *st)
{
    size_t devices = (size_t)link->devices;
    struct border border;
    if (border_begin(&border) != 0) return status_no_memory(st), NULL;
    struct lx_flight *f = mem_alloc(sizeof *f);
    *f = (struct lx_flight){.receive = mem_alloc(devices * sizeof *f->receive),
                            .send = mem_alloc(devices * sizeof *f->send),
                            .copy = mem_zeroed(devices, sizeof *f->copy)};
    for (size_t m = 0; m < devices; m++) {
        f->receive[m] = f->send[m] = MPI_REQUEST_NULL;
        if (m == (size_t)link->device || out[m].bytes == 0) continue;
        f->copy[m] = mem_alloc(out[m].bytes);
        memcpy(f->copy[m], out[m].data, out[m].bytes);
    }
    border_end(&border);
    return f;
}

static struct lx_flight *transport_mpi_start(struct lx_link *link, int tag, const struct lx_message *out,
                                             const struct lx_message *in, lx_status *st)
{
    struct lx_flight *f = transport_mpi_flight(link, out, st);
    bool ok = f != NULL;
    if (!f) return NULL;
    f->tag = tag;
    f->in = in;
    for (int m = 0; m < link->devices && ok; m++) {
        if (m == link->device) continue;
        if (in[m].bytes > INT_MAX || out[m].bytes > INT_MAX)
            ok = status_set(st, LX_E_LIMIT, "device %d: a message of more than 2^31 bytes", link->device);
        if (ok && in[m].bytes > 0 &&
            MPI_Irecv(in[m].data, (int)in[m].bytes, MPI_BYTE, m, tag, comm, &f->receive[m]) != MPI_SUCCESS)
            ok = status_set(st, LX_E_NO, "device %d: MPI cannot receive from device %d", link->device, m);
        if (!ok || out[m].bytes == 0) continue;
        if (MPI_Isend(f->copy[m], (int)out[m].bytes, MPI_BYTE, m, tag, comm, &f->send[m]) != MPI_SUCCESS)
            ok = status_set(st, LX_E_NO, "device %d: MPI cannot send to device %d", link->device, m);
    }
    if (ok) return f;
    transport_mpi_drop(f, link->devices, false);
    return NULL;
}

/* Tests one receive: 1 complete, 0 pending, -1 error in `st`. */
static int transport_mpi_look(struct lx_link *link, struct lx_flight *f, int from, lx_status *st)
{
    int done = 0, bytes = 0, wanted = (int)f->in[from].bytes;
    MPI_Status status;
    int result = MPI_Test(&f->receive[from], &done, &status);
    if (result == MPI_SUCCESS && !done) return 0;
    if (result == MPI_SUCCESS) MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (result == MPI_SUCCESS && bytes == wanted) return 1;
    int class = MPI_ERR_OTHER;
    if (result != MPI_SUCCESS) MPI_Error_class(result, &class);
    if (result == MPI_SUCCESS)
        status_set(st, LX_E_NO, "device %d: message %d from device %d has %d bytes instead of %d",
                   link->device, f->tag, from, bytes, wanted);
    else if (class == MPI_ERR_TRUNCATE)
        status_set(st, LX_E_NO, "device %d: message %d from device %d has more than the %d bytes expected",
                   link->device, f->tag, from, wanted);
    else
        status_set(st, LX_E_NO, "device %d: MPI lost device %d", link->device, from);
    f->receive[from] = MPI_REQUEST_NULL;
    return -1;
}

/* A waiting device asks the device it waits for whom that one waits for, and follows the chain to a device
 * that does not answer. Every waiting device answers. These messages use another communicator than
 * exchanges. */
enum { TAG_ASK = 7101, TAG_TELL = 7102, ANSWER_MS = 800 };

static int waits_for = -1;

static void transport_mpi_answer(void)
{
    int there = 0;
    MPI_Status from;
    char word = 0;
    while (MPI_Iprobe(MPI_ANY_SOURCE, TAG_ASK, MPI_COMM_WORLD, &there, &from) == MPI_SUCCESS && there) {
        MPI_Recv(&word, 1, MPI_BYTE, from.MPI_SOURCE, TAG_ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&waits_for, 1, MPI_INT, from.MPI_SOURCE, TAG_TELL,
                 MPI_COMM_WORLD); /* small: it does not block */
    }
}

/* The device that `device` waits for; -1: no answer. */
static int transport_mpi_ask(int device)
{
    static const struct timespec nap = {0, 1000000};
    char word = 0;
    int answer = -1, there = 0;
    MPI_Status status;
    MPI_Send(&word, 1, MPI_BYTE, device, TAG_ASK, MPI_COMM_WORLD);
    for (double since = mpi_process_now_ms(); !there && mpi_process_now_ms() - since < ANSWER_MS;
         nanosleep(&nap, NULL)) {
        transport_mpi_answer();
        MPI_Iprobe(device, TAG_TELL, MPI_COMM_WORLD, &there, &status);
    }
    if (there) MPI_Recv(&answer, 1, MPI_INT, device, TAG_TELL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return answer;
}

static int transport_mpi_frozen(const struct lx_link *link)
{
    return mpi_process_stopped(link->timeout_ms);
}

/* Whether the wait for a device is too long; `st` then names the device at fault, the last in the chain of
 * waiting devices. */
static bool transport_mpi_late(struct lx_link *link, int tag, int other, double since, lx_status *st)
{
    waits_for = other;
    transport_mpi_answer();
    int stopped = transport_mpi_frozen(link);
    if (stopped >= 0) {
        status_set(st, LX_E_NO, "device %d: device %d did not answer message %d: it is stopped", link->device,
                   stopped, tag);
        return true;
    }
    if (mpi_process_now_ms() - since <= link->timeout_ms) return false;
    for (int steps = 0; steps < link->devices; steps++) {
        int next = transport_mpi_ask(other);
        if (next < 0 || next >= link->devices || next == link->device) break;
        other = next;
    }
    status_set(st, LX_E_NO, "device %d: device %d did not answer message %d within %d ms", link->device,
               other, tag, link->timeout_ms);
    return true;
}

static void transport_mpi_rest(int tries)
{
    /* sleep: with more devices than cores, spinning would keep others from answering */
    static const struct timespec nap = {0, 50000};
    if (tries > 50) nanosleep(&nap, NULL);
}

static bool transport_mpi_wait_flight(struct lx_link *link, struct lx_flight *f, lx_status *st)
{
    bool ok = true;
    double since = mpi_process_now_ms();
    waits_for = -1;
    for (int m = 0; m < link->devices && ok; m++) {
        if (f->receive[m] == MPI_REQUEST_NULL) continue;
        int found = 0;
        for (int tries = 0; (found = transport_mpi_look(link, f, m, st)) == 0; tries++) {
            if (transport_mpi_late(link, f->tag, m, since, st)) break;
            transport_mpi_rest(tries);
        }
        ok = found == 1;
    }
    for (int m = 0; m < link->devices && ok; m++) {
        int done = f->send[m] == MPI_REQUEST_NULL;
        for (int tries = 0; ok && !done; tries++) {
            if (MPI_Test(&f->send[m], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
                ok = status_set(st, LX_E_NO, "device %d: MPI lost device %d", link->device, m);
            else if (!done) {
                ok = !transport_mpi_late(link, f->tag, m, since, st);
                transport_mpi_rest(tries);
            }
        }
    }
    if (ok) waits_for = -1;
    transport_mpi_drop(f, link->devices, ok);
    return ok;
}

static void transport_mpi_cancel(struct lx_link *link, struct lx_flight *flight)
{
    transport_mpi_drop(flight, link->devices, false);
}

static int transport_mpi_processes(lx_status *st)
{
    int size = 0;
    if (mpi_process_begin(&comm, st)) MPI_Comm_size(comm, &size);
    return size;
}

static bool transport_mpi_run(const struct lx_transport *t, int devices, int timeout_ms, lx_team_work *work,
                              void *context, lx_status *st)
{
    int rank, size;
    if (!mpi_process_begin(&comm, st)) return false;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (size != devices)
        return status_set(st, LX_E_USAGE,
                          "the team has %d devices, but %d MPI process%s; start with mpirun -n %d", devices,
                          size, size == 1 ? " runs" : "es run", devices);
    struct lx_link link = {t, rank, devices, timeout_ms, NULL};
    return work(&link, context, st);
}

/* mpirun ends the others when one process leaves like this. MPI_Abort is no alternative: with it, mpirun
 * (Open MPI 4.1) hung or crashed in one run of three. Often all processes see an error at once; the delay
 * lets the first one end the others, because mpirun does not like several to leave either. */
static void transport_mpi_leave(void)
{
    int rank = mpi_process_rank();
    int64_t ms = rank <= 0 ? 0 : 1500 + 100 * (int64_t)(rank < 8 ? rank : 8);
    struct timespec turn = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&turn, NULL);
    _exit(1);
}

static bool transport_mpi_end(bool ok, lx_status *st)
{
    int ready = 0;
    if (mpi_process_stuck()) transport_mpi_leave();
    MPI_Initialized(&ready);
    if (!ready) return true;
    if (!ok) transport_mpi_leave();
    return mpi_process_end(&comm, st);
}

const struct lx_transport transport_mpi = {.name = "mpi",
                                           .help = "devices are the processes of mpirun",

                                           .devices = transport_mpi_processes,
                                           .run = transport_mpi_run,
                                           .start = transport_mpi_start,
                                           .wait = transport_mpi_wait_flight,
                                           .cancel = transport_mpi_cancel,
                                           .frozen = transport_mpi_frozen,
                                           .end = transport_mpi_end};
