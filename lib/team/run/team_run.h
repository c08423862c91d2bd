/* Team plans executed: every device's graph is planned like any other and runs on a simulated device of its
 * own; what the plan exchanges moves from the HBM of one device to that of another, over a transport.
 * Before any data moves, the devices compare the hashes of their plans. An error is LX_E_NO and names the
 * device at fault.
 *
 * Each device is judged like any other: faults, results op by op, every count beside its plan's. The
 * outputs are gathered on device 0 and compared with those of one device that runs the whole graph. They
 * must agree bit for bit where nothing is added up in another grouping (`exact`); else no element may be
 * off by more than a tenth of the largest, which no grouping explains but where a comparison or a type of 8
 * bits makes steps of its own. */
#ifndef LX_TEAM_RUN_TEAM_RUN_H
#define LX_TEAM_RUN_TEAM_RUN_H

#include "device/device.h"
#include "team/team.h"
#include "team/run/transport.h"

/* For tests: one device misbehaves. */
enum lx_team_fault_kind {
    LX_TEAM_NO_FAULT,
    LX_TEAM_DIES,       /* calls `die`; without one, it just ends */
    LX_TEAM_HANGS,      /* does nothing for three time limits, then ends */
    LX_TEAM_OTHER_PLAN, /* claims another hash */
    LX_TEAM_WRONG_SIZE, /* its first message from tick `step` on is a byte short */
    LX_TEAM_WRONG_BYTE, /* the same message, but a byte of it is wrong before it is sent */
    LX_TEAM_WRONG_WIRE, /* the same, but it becomes wrong on its way */
};

/* When it dies or hangs. */
enum lx_team_phase {
    LX_TEAM_AT_OP, /* before tick `step` of its device */
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
    uint64_t seed;                        /* of inputs and weights */
    const struct lx_plan_options *plan;   /* how devices, and the one device, are planned */
    const struct lx_team_plans *plans;    /* of the devices; NULL: each makes its own */
    enum lx_verify verify;                /* of each device's ops; none from end to end */
    int timeout_ms;                       /* how long to wait for a device; 0: 5000 */
    struct lx_team_fault fault;
    bool (*stop)(void *context); /* may be NULL; every device asks; a stopped run is an error */
    void (*progress)(void *context, int32_t done, int32_t ops); /* may be NULL; of device 0 */
    void *context;
};

/* What one device did. It travels to device 0 as it stands. */
struct lx_team_account {
    int64_t ops;        /* 0: it had nothing to do */
    int64_t device_ops; /* of these, on the device: all but sends and receives */
    struct lx_counters planned, counted;
    int64_t height_bytes; /* of a scratchpad */
    int64_t ok, faults, verified_ops, wrong_ops, unequal_ops;
    int64_t messages;      /* sent in exchanges, ... */
    int64_t bytes;         /* ... their bytes, ... */
    int64_t combine_bytes; /* ... and bytes sent to combine partial results */
    char why[160];         /* what is not ok, in words */
};

/* What the plans say of a device: all but what was counted. */
struct lx_team_account lx_team_planned(const struct lx_team_plans *plans, int device);

/* Must the team's results equal one device's bit for bit? No sum is cut, and none is divided over other
 * cores. */
bool lx_team_is_exact(const struct lx_team_plan *p);

struct lx_team_result {
    bool compared;     /* here: where device 0 runs; the rest is known there only */
    bool ok;           /* every device's run is, and outputs agree if they must */
    bool exact;        /* bit for bit: no sum is cut, or grouped otherwise than on one device */
    int64_t elements;  /* of outputs */
    int64_t differing; /* of these, not the same bits */
    double worst;      /* largest difference, */
    double limit;      /* and what it may be; infinite: anything */
    double largest;    /* largest finite element of one device's outputs */
    int bad_device;    /* the first whose run is not ok; -1: none */
    struct lx_team_account total, *devices;
    int device_count;
};

/* False: the run failed. A run that ends with other numbers is `true` with `ok` false. */
bool lx_team_run(const struct lx_team_plan *plan, const struct lx_team_run_options *how,
                 struct lx_team_result *result, lx_status *st);
void lx_team_result_free(struct lx_team_result *r);

#endif
