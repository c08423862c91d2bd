/* What the files of the joint search share: the problem without what cannot matter.
 *
 * A variable is a buffer that can be on chip at all: not barred, and with at least one label that every op
 * which touches it offers and that fits into the scratchpad. Its state is off (0) or on with its local label
 * l (l + 1). Everything else of an op is a constant. Choices that another one is as good as, whatever is on
 * chip, are left out. Positions are indices of ops; loads are counted there. */
#ifndef LX_COOPTIMISE_JOINT_MODEL_H
#define LX_COOPTIMISE_JOINT_MODEL_H

#include "base/clock.h"
#include "network/room_prices.h"
#include "cooptimise/joint.h"

enum {
    JOINT_MASK_TOUCHES = 6, /* touches of an op whose on/off patterns are listed; the rest is relaxed */
    JOINT_MAX_TOUCHES = 33, /* inputs and output of an op */
};

struct joint_var {
    int32_t buffer;
    int32_t from, to;    /* positions [from, to) on which it is live */
    int32_t state_count; /* 1 + local labels */
    int64_t *size;       /* per state, rounded up to the alignment; size[0] is 0 */
    int32_t *label;      /* per state: of the problem; label[0] is -1 */
    int64_t *future;     /* per state: all messages to it, see joint_bound.c */
    int32_t fixed;       /* what a branch of the search decided: 0 open, 1 on, -1 off */
    int32_t slot;        /* no two variables that are live together share one */
    int32_t *parents;    /* variables whose slot it may take over at `from` */
    int32_t parent_count;
};

struct joint_touch {
    int32_t var;
    bool first; /* the variable begins here */
    bool last;  /* no later op touches it */
    int64_t toll;
};

struct joint_factor {
    int32_t touch_count, choice_count;
    struct joint_touch *touch; /* those that begin here last */
    int32_t old_count;         /* touches before those that begin here */
    int32_t *origin;           /* per choice: of the problem */
    int32_t *state;            /* per choice and touch: the only state in which it can be on; 0: none */
    int64_t *memory;           /* per choice and touch: saved when on */
    int64_t toll;              /* that no placement saves */
    int64_t *compute, *steady, *extra; /* per choice; steady: memory that no placement saves */
    int64_t *message; /* per old touch and state, see joint_bound.c; begins at message_at[touch] */
    int32_t *message_at;
    int64_t least; /* of the factor with messages, see joint_bound.c */
};

struct joint_model {
    const struct lx_joint_problem *p;
    struct arena memory;
    int32_t var_count, slot_count, factor_count;
    struct joint_var *vars;
    struct joint_factor *factors; /* per op */
    int32_t *var_of;              /* per buffer, or -1 */
    struct prices room;           /* its capacity is rounded up: sizes are */
};

bool joint_model_make(struct joint_model *m, const struct lx_joint_problem *p, lx_status *st);
void joint_model_free(struct joint_model *m);

/* Cost of a factor under choice c when the touches in `off` (one flag each) go through memory. */
static inline int64_t joint_factor_cost(const struct joint_factor *f, int32_t c, const bool *off)
{
    int64_t toll = f->toll, memory = f->steady[c];
    const int64_t *saved = &f->memory[(int64_t)c * f->touch_count];
    for (int32_t t = 0; t < f->touch_count; t++)
        if (off[t]) {
            toll += f->touch[t].toll;
            memory += saved[t];
        }
    return toll + max_i64(f->compute[c], memory) + f->extra[c];
}

/* joint_bound.c: messages for the prices as they are, and the bound that they prove. */
int64_t joint_messages(struct joint_model *m, int64_t *steps);
/* Raises prices where a decoded answer overfills the scratchpad; keeps those of the best bound. `target`: an
 * objective that is known to be reachable. */
int64_t joint_price(struct joint_model *m, int64_t target, int rounds, int64_t step_limit, int64_t *steps);

/* What variable v pays for its bytes over its life in a state. */
int64_t joint_life_price(const struct joint_model *m, const struct joint_var *v, int32_t state);

/* joint_beam.c */
struct joint_beam_options {
    int32_t width;
    int64_t capacity; /* at most the model's */
    int64_t cut;      /* states that cannot cost less are dropped */
    int64_t step_limit;
    const struct lx_run *run;
    double deadline; /* seconds of the monotonic clock; 0: none */
};

struct joint_beam_result {
    bool found, exact, stopped; /* exact: no state was dropped but by `cut` */
    int64_t cost;               /* of what was found, at most */
    int64_t bound;              /* of everything that costs less than `cut` */
    int64_t steps;
    int32_t *choice; /* per op, of the problem; from the caller */
};

void joint_beam(const struct joint_model *m, const struct joint_beam_options *how,
                struct joint_beam_result *out);

/* --- The search. Leaves are placed answers. --- */

struct joint_leaf {
    int32_t *choice;
    int64_t *address;
    int64_t objective;
    bool proved;      /* the solver proved that these choices cannot be placed better, by tolls */
    int64_t unpinned; /* bytes of all buffers that the solver left off chip: the published score */
};

struct joint_search {
    const struct lx_joint_problem *p;
    const struct lx_joint_options *how;
    struct joint_model model;
    struct joint_leaf best, trial;
    const struct joint_leaf *last; /* the one of them that was placed last */
    int64_t bound, steps, step_limit, leaves;
    double deadline; /* of the monotonic clock, in seconds; 0: none */
    bool stopped;
};

/* Places the choices of the leaf and completes it. */
bool joint_leaf_solve(const struct lx_joint_problem *p, const struct lx_joint_options *how,
                      struct joint_leaf *leaf, lx_status *st);
/* joint_flip.c: the published search, at most `leaf_cap` leaves. */
bool joint_flip(const struct lx_joint_problem *p, const struct lx_joint_options *how, int64_t leaf_cap,
                struct joint_leaf *best, int64_t *leaves, lx_status *st);
/* One beam with the model as it is, and the placement of what it found; better answers are kept. `*placed`:
 * the solver placed all that the beam had on chip. */
bool joint_try_beam(struct joint_search *s, int32_t width, int64_t capacity, struct joint_beam_result *r,
                    bool *placed, lx_status *st);
/* Places the choices of `trial`; better answers are kept. One step. */
bool joint_try_leaf(struct joint_search *s, lx_status *st);
/* The same file: problems with tiles. */
bool joint_walk(struct joint_search *s, lx_status *st);
/* Bound and objective have met, or the work is used up. */
bool joint_finished(const struct joint_search *s);
/* joint_branch.c: raises the bound, and finds what beams alone do not, by deciding single buffers. */
bool joint_branch(struct joint_search *s, lx_status *st);

#endif
