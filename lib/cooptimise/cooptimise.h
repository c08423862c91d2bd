/* Divisions and placement chosen together. lx_cooptimise makes the joint problem of a divided graph
 * (joint.h), solves it and returns the divisions that replace the old ones.
 *
 * The candidates of an op are all its legal divisions. Two ops pass a tensor on chip only if both divide it
 * into the same parts on the same cores. Goals. time: the least predicted time, by lib/cost. traffic: the
 * fewest bytes to and from HBM among the plans that are predicted to take no longer than the old divisions
 * with their best placement; `any_pace` drops that condition: bytes first, then time. The bounds hold for
 * exactly these problems. */
#pragma once

#include "divide/divide.h"
#include "cooptimise/joint.h"

enum lx_cooptimise_goal { LX_GOAL_TRAFFIC, LX_GOAL_TIME, LX_GOAL_COUNT };

struct lx_cooptimise_options {
    enum lx_joint_mode mode; /* LX_JOINT_SEED measures only */
    enum lx_cooptimise_goal goal;
    const struct lx_solver *solver;
    struct lx_run run;
    bool clone_inputs;    /* inputs and weights that several ops read may be copied to the scratchpad */
    bool outputs_on_chip; /* graph outputs that are also read may be produced there, and stored once */
    bool without_flip;    /* mode LX_JOINT_FULL: do not try the documented search first */
    bool any_pace;        /* goal traffic: no limit on time */
    int64_t capacity;     /* bytes per core; 0: what the device lets a planner use */
};

/* Figures of a plan: traffic counts every access through HBM; time is predicted. */
struct lx_cooptimise_figures {
    int64_t traffic_bytes;
    double time_us;
    int32_t on_chip; /* tensors */
};

struct lx_cooptimised {
    struct lx_cooptimise_figures seed, now; /* with the old divisions; with the chosen ones */
    int64_t bound_bytes;                    /* goal traffic: no divisions and placement move less; else 0 */
    double bound_us; /* goal time: no divisions and placement take less predicted time; else 0 */
    double gap;      /* (objective - bound) / objective */
    enum lx_verdict status;
    const struct lx_division **divided; /* per op: the chosen division; NULL: unchanged */
    int32_t changed;                    /* ops with another division */
    int64_t steps, leaves;
    int64_t *address; /* per tensor: its address in the best answer; LX_OFF_CHIP or >= 0 */
    struct arena *memory;
};

bool lx_cooptimise(const struct lx_divisions *d, const struct lx_cooptimise_options *how,
                   struct lx_cooptimised *out, lx_status *st);
void lx_cooptimised_free(struct lx_cooptimised *c);
