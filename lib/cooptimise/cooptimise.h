/* Divisions and placement chosen together: makes the joint problem of a divided graph (joint.h), solves it
 * and returns the divisions that replace the old ones.
 *
 * Candidates of an op are all its legal divisions. Two ops hand a tensor over on chip only if both see the
 * same parts on the same cores. Goals. time: the least predicted time, by lib/cost. traffic: the fewest bytes
 * to and from memory among the plans that take no longer, predicted, than the old divisions with their best
 * placement; `any_pace` lifts that: bytes alone, then time. The bounds are of exactly these problems. */
#ifndef LX_COOPTIMISE_COOPTIMISE_H
#define LX_COOPTIMISE_COOPTIMISE_H

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
    bool any_pace;        /* goal traffic: whatever time it takes */
    int64_t capacity;     /* bytes per core; 0: what the device lets a planner use */
};

/* Of a plan: traffic counts every access through memory; time is predicted. */
struct lx_cooptimise_figures {
    int64_t traffic_bytes;
    double time_us;
    int32_t on_chip; /* tensors */
};

struct lx_cooptimised {
    struct lx_cooptimise_figures seed, now; /* with the divisions as they are, and as chosen */
    int64_t bound_bytes;                    /* goal traffic: no divisions and placement move less; else 0 */
    double bound_us;                        /* goal time: none takes less predicted time; else 0 */
    double gap;                             /* (objective - bound) / objective */
    enum lx_verdict status;
    const struct lx_division **divided; /* per op: the division chosen for it; NULL: the one it has */
    int32_t changed;                    /* ops with another division */
    int64_t steps, leaves;
    int64_t *address; /* per tensor: where the search had it; LX_OFF_CHIP or >= 0 */
    struct arena *memory;
};

bool lx_cooptimise(const struct lx_divisions *d, const struct lx_cooptimise_options *how,
                   struct lx_cooptimised *out, lx_status *st);
void lx_cooptimised_free(struct lx_cooptimised *c);

#endif
