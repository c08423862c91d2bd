/* Communication between a team's devices: one small interface, with implementations chosen by name.
 *
 * The only operation is an exchange: a device passes its messages and receive buffers for all other devices,
 * goes on computing, and waits for it later. Both sides know all sizes, so a message of another size is an
 * error. So is a device that has ended or does not answer within the time limit; the error names that
 * device. Everything else (agreement, combining, gathering) is made of exchanges. */
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct lx_transport;

/* One device's end. */
struct lx_link {
    const struct lx_transport *transport;
    int device, devices;
    int timeout_ms; /* time limit of a wait */
    void *own;      /* state of the transport */
};

/* A message to or from one device; 0 bytes: none. */
struct lx_message {
    void *data;
    size_t bytes;
};

struct lx_flight; /* a pending exchange */

typedef bool lx_team_work(struct lx_link *link, void *context, lx_status *st);

struct lx_transport {
    const char *name, *help;
    /* Runs `work` as each device of this process and waits for all. False: a device failed; `st` has the
     * first failure. */
    bool (*run)(const struct lx_transport *t, int devices, int timeout_ms, lx_team_work *work, void *context,
                lx_status *st);
    /* Starts an exchange: one message per device in both directions; a device's own is ignored. `out` may be
     * reused at once, `in` must live until the wait. Pending exchanges need different tags. NULL: see
     * `st`. */
    struct lx_flight *(*start)(struct lx_link *link, int tag, const struct lx_message *out,
                               const struct lx_message *in, lx_status *st);
    /* Ends the exchange in any case. */
    bool (*wait)(struct lx_link *link, struct lx_flight *flight, lx_status *st);
    /* Abandons an exchange after an error. */
    void (*cancel)(struct lx_link *link, struct lx_flight *flight);
    /* A device without progress for the time limit, even before a wait; -1: none known. NULL: not
     * supported. */
    int (*frozen)(const struct lx_link *link);
    /* The number of devices in all processes; 0: see `st`. NULL: any number, in this process. */
    int (*devices)(lx_status *st);
    /* Ends the program's use of the transport. `ok` false also ends devices in other processes with exit
     * code 1, and does not return if there are any. False: another device does not end (`st` names it). */
    bool (*end)(bool ok, lx_status *st);
};

/* mpirun started this process, and there may be a transport for it. */
bool lx_started_by_mpi(void);
/* The transport that started this process, otherwise threads; NULL with `st`. */
const struct lx_transport *lx_transport_usual(lx_status *st);
/* "threads" or "mpi"; NULL with `st`. */
const struct lx_transport *lx_transport_find(const char *name, lx_status *st);

extern const struct lx_transport lx_transport_threads;
/* Only in the program, which has it in a plug-in; NULL with `st`. */
const struct lx_transport *lx_transport_mpi(lx_status *st) __attribute__((weak));
