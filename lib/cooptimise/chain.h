/* The least traffic of a graph over all its divisions, in the model of a plan: what stays would move.
 *
 * A tensor is a chain: its accesses in order of time, and between two of them a state. Off chip, or on chip
 * in one view (a label); and whether HBM lacks what was written last. An op makes one choice (a division),
 * which says what label each of its accesses has; the step that a tensor takes there costs the bytes that
 * stays/traffic.c would count: accesses off chip, loads of what begins with a read, stores of what HBM must
 * have. Chains meet in the choices of ops, and in the room of the scratchpads at each tick.
 *
 * Where a plan can do what the states cannot tell, the steps allow more, never less, so that the least over
 * all choices and steps is at most what any plan moves:
 *   relayouts   a tensor may be on chip in several views; one of them, the one that lives longest, is the state, and
 *               from it any other is filled over the ring for nothing
 *   evictions   where they are on, a tensor may leave behind any access, and be loaded again
 *   addresses   the room is counted in bytes, not in places
 *   in place    an output that begins may share the place of an input of the same label that leaves
 *   bundles     where borders may be taken away, only those at extern ops count
 *
 * Sizes: tens to thousands of ops, up to some hundred choices, of which those with equal labels count once;
 * two states for each label. */
#ifndef LX_COOPTIMISE_CHAIN_H
#define LX_COOPTIMISE_CHAIN_H

#include "network/room_prices.h"
#include "cooptimise/cooptimise_menu.h"
#include "stays/draft.h"

/* Places of a tensor; a state is 2 * place + lacking, lacking: HBM has not what was written last. */
enum {
    CHAIN_FREE, /* off chip, and may begin anew */
    CHAIN_GONE, /* one view, no evictions: was on chip, no more accesses with a label in this run */
    CHAIN_OUT,  /* the same: off chip for all of this run */
    CHAIN_LABELS
    /* From there on a place per label: on chip. With ring, without evictions, if there are several labels,
     * two more per label: LEFT, it was on chip with this label, which nobody has in the rest of the run;
     * SHUT, it is off chip wherever it has this label. */
};

enum {
    CHAIN_MOST_STEPS = 96, /* from one state at one op */
    CHAIN_MOST_TOUCHES = LX_MAX_OPERANDS
};

struct chain_tensor {
    int32_t tensor; /* of the graph */
    int64_t whole;  /* bytes */
    bool leaves;    /* a graph output: HBM must have it in the end */
    int32_t label_count;
    bool strict;    /* it has the places LEFT and SHUT */
    int32_t *label; /* interned views */
    int64_t *size;  /* per label: bytes per core */
    int32_t slot;   /* no two tensors that are live together share one */
};

struct chain_access {
    bool reads, writes;
    int64_t bytes;
};

/* All that one op does with one tensor. */
struct chain_touch {
    int32_t tensor; /* a chain_tensor */
    int32_t access_count;
    struct chain_access *access;
    int32_t
        *label; /* per choice of the op and access: local to the tensor, or -1; or chain_forced_off of one */
    bool first, last;
    bool ends_run;            /* the scratchpads are wiped before the next one */
    bool may_share;           /* an output that may be written over an input */
    int32_t next_op;          /* of the next touch; unless last */
    struct chain_touch *next; /* NULL: last */
    int64_t *value;           /* per state before: message of chain_bound.c */
    bool *reached;            /* per state before: can it be? */
};

struct chain_op {
    int32_t choice_count, touch_count;
    int32_t *origin; /* per choice: of the menu */
    int64_t *time;   /* per choice: predicted, all of it off chip; among equals the fastest is taken */
    struct chain_touch *touch;
    int32_t child;    /* the touch that writes the output, or -1 */
    uint64_t parents; /* touches whose place it may take */
    int64_t least;    /* of the op with messages, see chain_bound.c */
};

struct chain_model {
    const struct draft *x;
    struct arena *memory;
    bool ring, evict;
    bool coarse;      /* labels are not told apart */
    int64_t constant; /* bytes that nothing avoids: tensors that are never on chip */
    int32_t op_count, tensor_count, slot_count;
    struct chain_op *ops;
    struct chain_tensor *tensors;
    struct prices room;     /* of the scratchpads, op by op */
    int64_t largest, cells; /* choices x states over the touches of an op: the most, and all */
};

/* What a tensor may do at an op. */
struct chain_step {
    int32_t next;        /* state behind */
    bool begins;         /* written wholly, on chip, where it was not before */
    int32_t label;       /* that serves it on chip, or -1 */
    int64_t bytes, room; /* to and from HBM; on chip while the op runs */
};

/* chain_model.c. `x`: a draft of the divided graph in its own order, `menus` of the same divisions. All
 * memory is `memory`. `coarse`: labels are not told apart; of what cannot be afforded otherwise. */
void chain_model_make(struct chain_model *m, const struct draft *x, const struct op_menus *menus, bool coarse,
                      struct arena *memory);

/* A label that is seen, but through HBM. */
static inline int32_t chain_forced_off(int32_t label)
{
    return -2 - label;
}

/* chain_steps.c. The steps from state `from` under a choice, into `out`; their number. */
int chain_steps(const struct chain_model *m, const struct chain_touch *t, int32_t choice, int32_t from,
                struct chain_step *out);
/* What the tensor still costs in a state behind the touch. */
static inline int64_t chain_future(const struct chain_model *m, const struct chain_touch *t, int32_t state)
{
    if (t->next) return t->next->value[state];
    return state & 1 && m->tensors[t->tensor].leaves ? m->tensors[t->tensor].whole : 0;
}

static inline bool chain_on(const struct chain_tensor *t, int32_t place)
{
    return place >= CHAIN_LABELS && place < CHAIN_LABELS + t->label_count;
}

static inline int64_t chain_size(const struct chain_tensor *t, int32_t state)
{
    return chain_on(t, state / 2) ? t->size[state / 2 - CHAIN_LABELS] : 0;
}

static inline int32_t chain_states(const struct chain_tensor *t)
{
    return 2 * (CHAIN_LABELS + (t->strict ? 3 : 1) * t->label_count);
}

/* chain_bound.c. Messages for the prices as they are, and the bound that they prove. */
int64_t chain_messages(struct chain_model *m, int64_t *steps);
/* Raises prices where a plan by the messages alone would overfill the scratchpads, and keeps the best. */
int64_t chain_price(struct chain_model *m, int64_t target, int rounds, int64_t step_limit, int64_t *steps);

struct chain_beam_options {
    int32_t width, answers; /* answers: at most so many of the last states are traced back */
    int32_t of_a_kind; /* at most so many states with the same tensors on chip come first; 0: as they rank */
    bool by_time;      /* among equals the fastest comes first, else the one that leaves most room */
    int64_t capacity;  /* at most that of the model; below it nothing is proved */
    int64_t cut;       /* what costs as much is of no use */
    int64_t step_limit;
    const struct lx_run *run;
    double deadline; /* seconds of the monotonic clock; 0: none */
};

struct chain_beam_result {
    bool exact, stopped; /* exact: nothing was dropped but by `cut` */
    int64_t bound;       /* on everything that costs less than `cut`; at most `cut` */
    int64_t steps;
    int32_t found;   /* answers, best first */
    int32_t *choice; /* per answer and op, of the model; from the caller */
    int64_t *bytes;  /* per answer */
};

void chain_beam(const struct chain_model *m, const struct chain_beam_options *how,
                struct chain_beam_result *out);

#endif
