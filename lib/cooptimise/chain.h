/* The least traffic of a graph over all its divisions.
 *
 * Each tensor is a chain: its accesses in order of time, with a state between two accesses. The state says
 * whether the tensor is off chip or on chip in one view (a label), and whether HBM lacks the last write. The
 * choice of an op (a division) gives the label of each of its accesses; a step of a tensor costs the bytes
 * that stays/traffic.c would count. Chains share the choices of ops and the room of the scratchpads at each
 * tick.
 *
 * Where the states cannot express a plan, the steps allow more, so the minimum over all choices and steps is
 * a lower bound for every plan: relayouts cost nothing; with evictions a tensor may leave after any access;
 * room is counted in bytes, not addresses; an output may share the place of an input with the same label;
 * only extern ops end bundles.
 *
 * Sizes: tens to thousands of ops, up to some hundred distinct choices, two states for each label. */
#pragma once

#include "network/room_prices.h"
#include "cooptimise/cooptimise_menu.h"
#include "stays/draft.h"

/* Places of a tensor. A state is 2 * place + lacking; lacking: the last write is not in HBM. */
enum {
    CHAIN_FREE, /* off chip; a residency may begin */
    CHAIN_GONE, /* without ring and evictions: was on chip, and has no more labelled accesses in this run */
    CHAIN_OUT,  /* without ring and evictions: off chip for this whole run */
    CHAIN_LABELS
    /* From here on one place per label: on chip. With ring, without evictions and with several labels, two
     * more places per label: LEFT, was on chip with this label, which no later access of the run has; SHUT,
     * off chip wherever an access has this label. */
};

enum {
    CHAIN_MOST_STEPS = 96, /* from one state at one op */
    CHAIN_MOST_TOUCHES = LX_MAX_OPERANDS
};

struct chain_tensor {
    int32_t tensor; /* index in the graph */
    int64_t whole;  /* bytes */
    bool leaves;    /* a graph output: HBM must have it at the end */
    int32_t label_count;
    bool strict;    /* has the places LEFT and SHUT */
    int32_t *label; /* interned views */
    int64_t *size;  /* per label: bytes per core */
    int32_t slot;   /* tensors that are live together have different slots */
};

struct chain_access {
    bool reads, writes;
    int64_t bytes;
};

/* All accesses of one op to one tensor. */
struct chain_touch {
    int32_t tensor; /* index of a chain_tensor */
    int32_t access_count;
    struct chain_access *access;
    int32_t *label; /* per choice and access: a label of the tensor, -1, or chain_forced_off(label) */
    bool first, last;
    bool ends_run;            /* the scratchpads are wiped before the next touch */
    bool may_share;           /* an output that may be written over an input */
    int32_t next_op;          /* op of the next touch, unless last */
    struct chain_touch *next; /* NULL: last */
    int64_t *value;           /* per state before the touch: message of chain_bound.c */
    bool *reached;            /* per state before the touch: can occur */
};

struct chain_op {
    int32_t choice_count, touch_count;
    int32_t *origin; /* per choice: its index in the menu */
    int64_t *time;   /* per choice: predicted, all operands off chip; of equal choices the fastest is taken */
    struct chain_touch *touch;
    int32_t child;    /* index of the touch that writes the output, or -1 */
    uint64_t parents; /* bits: touches whose place the output may take */
    int64_t least;    /* constant part of the op's bound, see chain_bound.c */
};

struct chain_model {
    const struct draft *x;
    struct arena *memory;
    bool ring, evict;
    bool coarse;      /* labels are not told apart */
    int64_t constant; /* bytes of tensors that are never on chip */
    int32_t op_count, tensor_count, slot_count;
    struct chain_op *ops;
    struct chain_tensor *tensors;
    struct prices room;     /* prices of the scratchpads, per op */
    int64_t largest, cells; /* choices x states over the touches of an op: largest of all ops; sum */
};

struct chain_step {
    int32_t next;        /* state after the step */
    bool begins;         /* the op writes the whole tensor on chip, where it was not before */
    int32_t label;       /* label under which the access is served on chip, or -1 */
    int64_t bytes, room; /* bytes to and from HBM; bytes on chip while the op runs */
};

/* chain_model.c. `x`: a draft in the graph's own order. `coarse`: labels are not told apart, to save
 * memory. */
void chain_model_make(struct chain_model *m, const struct draft *x, const struct op_menus *menus, bool coarse,
                      struct arena *memory);

/* Encodes an access with this label that must go through HBM. */
static inline int32_t chain_forced_off(int32_t label)
{
    return -2 - label;
}

/* chain_steps.c. Writes the steps from state `from` under a choice to `out`; returns their number. */
int chain_steps(const struct chain_model *m, const struct chain_touch *t, int32_t choice, int32_t from,
                struct chain_step *out);
/* The cost of the tensor's later touches, from this state on. */
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

/* chain_bound.c. Computes all messages under the current prices; returns the bound. */
int64_t chain_messages(struct chain_model *m, int64_t *steps);
/* Raises prices where a plan decoded from the messages overfills the scratchpads; keeps the best bound. */
int64_t chain_price(struct chain_model *m, int64_t target, int rounds, int64_t step_limit, int64_t *steps);

struct chain_beam_options {
    int32_t width, answers; /* answers: how many of the last states are traced back, at most */
    int32_t of_a_kind;      /* up to this many states with the same tensors on chip rank first; 0: no limit */
    bool by_time;           /* ties go to the fastest; else to the state that leaves most room */
    int64_t capacity;       /* at most the model's; a lower one proves nothing */
    int64_t cut;            /* states that cost this much or more are dropped */
    int64_t step_limit;
    const struct lx_run *run;
    double deadline; /* seconds of the monotonic clock; 0: none */
};

struct chain_beam_result {
    bool exact, stopped; /* exact: only `cut` dropped states */
    int64_t bound;       /* lower bound on all answers that cost less than `cut`; at most `cut` */
    int64_t steps;
    int32_t found;   /* answers, best first */
    int32_t *choice; /* per answer and op: choice in the model; the caller's array */
    int64_t *bytes;  /* per answer */
};

void chain_beam(const struct chain_model *m, const struct chain_beam_options *how,
                struct chain_beam_result *out);
