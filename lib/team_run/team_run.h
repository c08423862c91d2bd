/* Team plans executed: every member runs the steps of the plan on its own data and sends real messages; the
 * outputs are gathered on member 0 and compared with an evaluation of the whole graph on one device.
 *
 * Results are equal bit for bit, unless the plan cuts a sum (plan->exact is false): then they may differ by
 * LX_TEAM_TOLERANCE_FP32 (or _FP64) of the largest element. Before any data moves, the members compare the
 * hashes of their plans. An error is LX_E_NO and names the member at fault. */
#ifndef LX_TEAM_RUN_TEAM_RUN_H
#define LX_TEAM_RUN_TEAM_RUN_H

#include "team_run/transport.h"
#include "team/team.h"

#define LX_TEAM_TOLERANCE_FP32 1e-5
#define LX_TEAM_TOLERANCE_FP64 1e-12

/* For tests: one member misbehaves. */
enum lx_team_fault_kind {
    LX_TEAM_NO_FAULT,
    LX_TEAM_DIES,       /* before step `step`: calls `die`; without one, it just ends */
    LX_TEAM_HANGS,      /* before step `step`: does nothing for three time limits, then ends */
    LX_TEAM_OTHER_PLAN, /* claims another hash */
    LX_TEAM_WRONG_SIZE, /* its first message from step `step` on is a byte short */
};

struct lx_team_fault {
    enum lx_team_fault_kind kind;
    int member;
    int32_t step;
    void (*die)(void);
};

struct lx_team_run_options {
    const struct lx_transport *transport; /* NULL: threads */
    uint64_t seed;                        /* of inputs and weights */
    bool fp64;                            /* else every stored element is rounded to fp32 */
    int timeout_ms;                       /* how long to wait for a member; 0: 5000 */
    struct lx_team_fault fault;
    bool (*stop)(void *context); /* may be NULL; every member asks; a stopped run is an error */
    void (*progress)(void *context, int32_t done, int32_t steps); /* may be NULL; of member 0 */
    void *context;
};

struct lx_team_result {
    bool compared;         /* here: where member 0 runs */
    bool equal;            /* within the tolerance */
    double tolerance;      /* relative to `largest`; 0: bit for bit */
    int64_t elements;      /* of outputs */
    int64_t differing;     /* of these, not the same bits */
    double worst;          /* largest difference */
    double largest;        /* largest finite element of one device's outputs */
    int64_t messages;      /* of members in this process: messages sent in exchanges, ... */
    int64_t bytes;         /* ... their bytes: 4 per element (8 with fp64), ... */
    int64_t combine_bytes; /* ... and bytes sent to combine partial results */
};

/* False: the run failed. A run that ends with other numbers is `true` with `equal` false. */
bool lx_team_run(const struct lx_team_plan *plan, const struct lx_team_run_options *how,
                 struct lx_team_result *result, lx_status *st);

#endif
