/* How devices of a team talk: one small interface, and what is behind it is chosen by name.
 *
 * There is one operation, an exchange: a device gives what it sends to each other device and where it wants
 * what it gets from each, goes on computing, and waits for it later. Sizes are known on both sides, so a
 * message of another size is an error, as is a device that has ended or does not answer within the time
 * limit; the error names that device. Everything else (agreement, combining, gathering)
 * is made of exchanges. */
#ifndef LX_TEAM_RUN_TRANSPORT_H
#define LX_TEAM_RUN_TRANSPORT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct lx_transport;

/* One device's end. */
struct lx_link {
    const struct lx_transport *transport;
    int device, devices;
    int timeout_ms; /* how long a wait may last */
    void *own;      /* the transport's */
};

/* To or from one device; no bytes: no message. */
struct lx_message {
    void *data;
    size_t bytes;
};

struct lx_flight; /* an exchange under way */

typedef bool lx_team_work(struct lx_link *link, void *context, lx_status *st);

struct lx_transport {
    const char *name, *help;
    /* Runs `work` as each device that lives in this process and waits for the end. False: at least one
     * failed, and `st` has the first failure. */
    bool (*run)(const struct lx_transport *t, int devices, int timeout_ms, lx_team_work *work, void *context,
                lx_status *st);
    /* One message per device in both directions; a device's own is ignored. `out` may be reused at once, `in`
     * must live until the wait. Tags of two exchanges under way differ. NULL: `st` is set. */
    struct lx_flight *(*start)(struct lx_link *link, int tag, const struct lx_message *out,
                               const struct lx_message *in, lx_status *st);
    /* Ends the exchange, whatever the result. */
    bool (*wait)(struct lx_link *link, struct lx_flight *flight, lx_status *st);
    /* Gives an exchange up, after an error. */
    void (*cancel)(struct lx_link *link, struct lx_flight *flight);
    /* A device that has not gone on for as long as a wait may last, though nobody waits for it yet; -1:
     * none is known. NULL: there is no telling. */
    int (*frozen)(const struct lx_link *link);
    /* Was this process started as one of several devices? NULL: it cannot have been. */
    bool (*started)(void);
    /* How many devices the processes make; 0: `st` says why that is not known. NULL: any number. */
    int (*devices)(lx_status *st);
    /* For the program, when it is done with the transport: `ok` false ends devices in other processes, too,
     * with exit code 1, and does not return if there are any. False: another device does not end (`st`
     * names it). */
    bool (*end)(bool ok, lx_status *st);
};

/* NULL-terminated, the default first. */
const struct lx_transport *const *lx_transports(void);
/* The one that this process was started by; else the default. */
const struct lx_transport *lx_transport_usual(void);
/* NULL: `st` says whether there is no such transport or this build lacks it. */
const struct lx_transport *lx_transport_find(const char *name, lx_status *st);

extern const struct lx_transport lx_transport_threads;
/* Part of a program only if its objects (lxplan_mpi) are linked to it. */
extern const struct lx_transport lx_transport_mpi __attribute__((weak));

#endif
