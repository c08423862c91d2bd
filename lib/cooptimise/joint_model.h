/* The model of the joint search: the problem without the parts that cannot matter.
 *
 * A variable is a buffer that can be on chip: not barred, with a label that fits and that every op which
 * touches the buffer offers. Its state is off (0) or on with its local label l (l + 1). All other costs of an
 * op are constants. Positions are indices of ops. */
#pragma once

#include "network/room_prices.h"
#include "cooptimise/joint.h"

enum {
    JOINT_MASK_TOUCHES = 6, /* touches of an op whose on/off patterns are listed; others are relaxed */
    JOINT_MAX_TOUCHES = 33, /* inputs and output of an op */
};

struct joint_var {
    int32_t buffer;
    int32_t from, to;    /* live at positions [from, to) */
    int32_t state_count; /* 1 + local labels */
    int64_t *size;       /* per state, rounded up to the alignment; size[0] is 0 */
    int32_t *label;      /* per state: of the problem; label[0] is -1 */
    int64_t *future;     /* per state: sum of all messages to it, see joint_bound.c */
    int32_t fixed;       /* the decision of the branch: 0 open, 1 on, -1 off */
    int32_t slot;        /* variables that are live together have different slots */
    int32_t *parents;    /* variables whose place it may take at `from` */
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
    struct joint_touch *touch;         /* variables that begin here come last */
    int32_t old_count;                 /* touches of variables that began before */
    int32_t *origin;                   /* per choice: its index in the problem */
    int32_t *state;                    /* per choice and touch: the only state on chip; 0: none */
    int64_t *memory;                   /* per choice and touch: memory cost saved when on chip */
    int64_t toll;                      /* paid under every placement */
    int64_t *compute, *steady, *extra; /* per choice; steady: memory cost under every placement */
    int64_t *message; /* per old touch and state, from message_at[touch] on; see joint_bound.c */
    int32_t *message_at;
    int64_t least; /* constant part of the factor's bound, see joint_bound.c */
};

struct joint_model {
    const struct lx_joint_problem *p;
    struct arena memory;
    int32_t var_count, slot_count, factor_count;
    struct joint_var *vars;
    struct joint_factor *factors; /* per op */
    int32_t *var_of;              /* per buffer, or -1 */
    struct prices room;           /* capacity is rounded up to the alignment, as sizes are */
};

/* The caller frees m->memory, also after a failure. */
bool joint_model_make(struct joint_model *m, const struct lx_joint_problem *p, lx_status *st);

/* Cost of a factor under choice c; off[t]: touch t goes through HBM. */
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

/* joint_bound.c: computes all messages under the current prices; returns the bound. */
int64_t joint_messages(struct joint_model *m, int64_t *steps);
/* Raises prices where a decoded answer overfills the scratchpad; returns the best bound. `target`: a known
 * objective, at which it stops. */
int64_t joint_price(struct joint_model *m, int64_t target, int rounds, int64_t step_limit, int64_t *steps);

/* Price of variable v's bytes over its life in a state. */
int64_t joint_life_price(const struct joint_model *m, const struct joint_var *v, int32_t state);

struct joint_beam_options {
    int32_t width;
    int64_t capacity; /* at most the model's */
    int64_t cut;      /* states that cost this much or more are dropped */
    int64_t step_limit;
    const struct lx_run *run;
    double deadline; /* seconds of the monotonic clock; 0: none */
};

struct joint_beam_result {
    bool found, exact, stopped; /* exact: only `cut` dropped states */
    int64_t cost;               /* upper bound on the cost of the answer found */
    int64_t bound;              /* lower bound on all answers that cost less than `cut` */
    int64_t steps;
    int32_t *choice; /* per op: choice in the problem; the caller's array */
};

void joint_beam(const struct joint_model *m, const struct joint_beam_options *how,
                struct joint_beam_result *out);

/* --- The search. A leaf is an answer with its placement. --- */

struct joint_leaf {
    int32_t *choice;
    int64_t *address;
    int64_t objective;
    bool proved;      /* the solver proved the placement optimal for these choices, counted in tolls */
    int64_t unpinned; /* bytes of all buffers off chip: the score of the published search */
};

struct joint_search {
    const struct lx_joint_problem *p;
    const struct lx_joint_options *how;
    struct joint_model model;
    struct joint_leaf best, trial;
    const struct joint_leaf *last; /* `best` or `trial`, whichever was placed last */
    int64_t bound, steps, step_limit, leaves;
    double deadline; /* of the monotonic clock, in seconds; 0: none */
    bool stopped;
};

bool joint_leaf_solve(const struct lx_joint_problem *p, const struct lx_joint_options *how,
                      struct joint_leaf *leaf, lx_status *st);
/* joint_flip.c: the published search; solves at most `leaf_cap` leaves. */
bool joint_flip(const struct lx_joint_problem *p, const struct lx_joint_options *how, int64_t leaf_cap,
                struct joint_leaf *best, int64_t *leaves, lx_status *st);
/* Runs one beam and places its answer. `*placed`: the solver placed every buffer that the beam had on
 * chip. */
bool joint_try_beam(struct joint_search *s, int32_t width, int64_t capacity, struct joint_beam_result *r,
                    bool *placed, lx_status *st);
/* Places the choices of `trial`; keeps a better answer. Counts as one step. */
bool joint_try_leaf(struct joint_search *s, lx_status *st);
/* joint_flip.c: problems with tiles. */
bool joint_walk(struct joint_search *s, lx_status *st);
/* True if bound and objective are equal, or the work limit is used up. */
bool joint_finished(const struct joint_search *s);
/* joint_branch.c: raises the bound and improves the answer by branching on single buffers. */
bool joint_branch(struct joint_search *s, lx_status *st);
