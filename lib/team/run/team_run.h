/* Execution of team plans. Every device's graph is planned like any other and runs on its own simulated
 * device. Exchanges move data between the devices' HBM over a transport. Before any data moves, the devices
 * compare the hashes of their plans. An error is LX_E_NO and names the device at fault.
 *
 * Each device is checked like any other: faults, results op by op, every count against its plan. The outputs
 * are gathered on device 0 and compared with one device that runs the whole graph. They must be equal bit
 * for bit if no sum is grouped differently (`exact`). Otherwise no element may differ by more than a tenth
 * of the largest; with comparisons or 8-bit types there is no limit, because they make steps of their own. */
#pragma once

#include "device/device.h"
#include "team/team.h"
#include "team/run/transport.h"

/* For tests: one device misbehaves. */
enum lx_team_fault_kind {
    LX_TEAM_NO_FAULT,
    LX_TEAM_DIES,       /* calls `die`; without `die` it just ends */
    LX_TEAM_HANGS,      /* idles for three time limits, then ends */
    LX_TEAM_OTHER_PLAN, /* claims a wrong hash */
    LX_TEAM_WRONG_SIZE, /* its first message from tick `step` on is one byte short */
    LX_TEAM_WRONG_BYTE, /* the same message has a wrong byte before it is sent */
    LX_TEAM_WRONG_WIRE, /* the same message is corrupted on its way */
};

/* When the device dies or hangs. */
enum lx_team_phase {
    LX_TEAM_AT_OP, /* before tick `step` of the device */
    LX_TEAM_AT_AGREEMENT,
    LX_TEAM_AT_OUTPUTS,
    LX_TEAM_AT_ACCOUNTS,
    LX_TEAM_AT_END,
    LX_TEAM_PHASES
};

struct lx_team_fault {
    enum lx_team_fault_kind kind;
    int device;
    int32_t step;
    void (*die)(void);
    enum lx_team_phase phase;
};

struct lx_team_plans;

struct lx_team_run_options {
    const struct lx_transport *transport; /* NULL: threads */
    uint64_t seed;                        /* seed of inputs and weights */
    const struct lx_argument *arguments;  /* in place of seeded data */
    int argument_count;
    const struct lx_plan_options *plan; /* plan options of the devices and the single device */
    const struct lx_team_plans *plans;  /* device plans; NULL: each device makes its own */
    enum lx_verify verify;              /* for each device's ops; no end-to-end check */
    int timeout_ms;                     /* time limit of a wait for a device; 0: 5000 */
    struct lx_team_fault fault;
    bool (*stop)(void *context); /* may be NULL; called by every device; a stopped run is an error */
    void (*progress)(void *context, int32_t done, int32_t ops); /* may be NULL; called for device 0 */
    void *context;
};

/* A device's account, sent to device 0 as is. */
struct lx_team_account {
    int64_t ops;        /* 0: no work */
    int64_t device_ops; /* ops on the device: all but sends and receives */
    struct lx_counters planned, counted;
    int64_t height_bytes; /* highest use of a scratchpad */
    int64_t ok, faults, verified_ops, wrong_ops, unequal_ops;
    int64_t messages;      /* sent in exchanges */
    int64_t bytes;         /* bytes of these messages */
    int64_t combine_bytes; /* bytes sent to combine partial sums */
    char why[160];         /* first problem, in words */
};

/* The planned part of a device's account, without counts. */
struct lx_team_account lx_team_planned(const struct lx_team_plans *plans, int device);

/* Whether the team must reproduce one device's result bit for bit: no sum is sharded or grouped over other
 * cores. */
bool lx_team_is_exact(const struct lx_team_plan *p);

struct lx_team_result {
    bool compared;     /* set on device 0, which alone has the other fields */
    bool ok;           /* every device's run is ok, and outputs are equal where required */
    bool exact;        /* outputs must be equal bit for bit */
    int64_t elements;  /* number of output elements */
    int64_t differing; /* elements with other bits */
    double worst;      /* largest difference */
    double limit;      /* largest legal difference; infinite: no limit */
    double largest;    /* largest finite element of one device's outputs */
    int bad_device;    /* the first device that is not ok; -1: none */
    struct lx_team_account total, *devices;
    int device_count;
};

/* False: the run failed. A run with wrong results returns true with `ok` false. */
bool lx_team_run(const struct lx_team_plan *plan, const struct lx_team_run_options *how,
                 struct lx_team_result *result, lx_status *st);
void lx_team_result_free(struct lx_team_result *r);
