/* The joint problem: which choice each op makes (a division of its work over the cores) together with which
 * buffers stay on chip. No graphs in here; cooptimise.h makes one from a graph, tests from captured data.
 *
 * Every op has a menu of choices. Every access of an op to a buffer has, per choice, a label: the parts into
 * which the buffer is cut and the cores that hold them, interned, so that equal labels mean the same parts
 * on the same cores. A buffer may be on chip only if all its accesses have one and the same label >= 0 under
 * the chosen choices; it then takes label_size[label] bytes of each core over its life [start, end).
 *
 *   cost of an op under choice c = extra[c] + sum of toll + max(compute[c], sum of memory[c])
 *
 * where the sums are over its accesses through memory.
 *
 * An access goes through memory when its buffer is off chip, and also on chip where `always` is set: the
 * load of an input that is copied to the scratchpad, the store of an output that was produced there. The
 * objective is the sum over the ops. With tolls only it is traffic; with compute and memory it is time;
 * tolls that outweigh all times together make it lexicographic.
 *
 * Choices may also say into how many tiles a loop cuts the op and its neighbours. There is a cut between two
 * ops, one behind the other, that have different counts, or that share a buffer and do not agree on it; what
 * is between two cuts is a run. What an op of a loop makes is a tile on chip, which is there for its run
 * only: if it is needed behind that it is copied, tile by tile, to where it is whole, and nobody outside of
 * the run need agree. That costs its copy_toll, and each cut the problem's cut_toll. Such a copy is made on
 * chip only where the op does not cut its sums over the cores.
 *
 * Typical sizes: 5 to 80 ops with 5 to 60 choices in captures, 4,100 ops with up to 100 choices in generated
 * graphs. Ops of one shape may share their arrays. */
#ifndef LX_COOPTIMISE_JOINT_H
#define LX_COOPTIMISE_JOINT_H

#include "placement/problem.h"

struct arena;

struct lx_joint_access {
    int32_t op;
    bool always;
    int64_t toll;
    const int64_t *memory; /* per choice of the op; NULL: nothing */
    const int32_t *label;  /* per choice of the op; -1: it cannot be on chip. NULL: never */
};

struct lx_joint_buffer {
    const char *name;
    int64_t bytes; /* of the whole tensor: what the flip search counts */
    int64_t start, end;
    bool first_use_is_read;
    const char *reason; /* why it may never be on chip, or NULL */
    const int32_t *parents;
    int32_t parent_count;
    const struct lx_joint_access *accesses; /* in the order of the ops */
    int32_t access_count;
    /* With tiles. */
    const int64_t *size; /* per choice of the op that makes it; NULL: that of the label */
    int64_t copy_toll;
    bool leaves;     /* the graph: it is needed whole behind all ops */
    bool tile_stays; /* a tile may be on chip whatever `reason` says of the whole */
};

struct lx_joint_op {
    const char *name;
    int64_t tick;                   /* each its own, in the order of the ops */
    int32_t choice_count;           /* > 0 */
    int32_t seed;                   /* the choice that work division alone made */
    const int64_t *compute, *extra; /* per choice; NULL: nothing */
    const int64_t *tiles;           /* per choice; NULL: one, there is no loop */
    const bool *cuts_sums;          /* per choice; NULL: none does */
    const bool *flip; /* per choice: the seed's single split moved to another output dimension; NULL: none */
};

struct lx_joint_problem {
    int64_t capacity, alignment;
    int32_t op_count, buffer_count, label_count;
    const struct lx_joint_op *ops;
    const struct lx_joint_buffer *buffers;
    const int64_t *label_size;
    bool tiled; /* some op has tiles */
    int64_t cut_toll;
};

enum lx_joint_mode {
    LX_JOINT_SEED, /* the seeds as they are: placement only */
    LX_JOINT_FLIP, /* the documented search: every combination of dim flips in turn, up to a cap */
    LX_JOINT_FULL, /* ours */
};

struct lx_joint_options {
    enum lx_joint_mode mode;
    bool without_flip;              /* LX_JOINT_FULL: do not try the documented search first */
    const struct lx_solver *solver; /* for the addresses */
    struct lx_run run;              /* work_limit: of the search, in its own steps; 0: its default */
};

struct lx_joint_answer {
    enum lx_verdict status; /* optimal: the bound meets the objective; limit: stopped early */
    int32_t *choice;        /* per op */
    int32_t *label;         /* per buffer: that of its accesses under the choices, or -1 */
    int64_t *address;       /* per buffer; LX_OFF_CHIP or >= 0 */
    int64_t objective;
    int64_t bound;          /* proved: no choices and no placement cost less */
    int64_t seed_objective; /* of the seeds with the same solver */
    int64_t steps, leaves;  /* leaves: complete placements that were solved */
};

/* Of an array per choice that may be missing. */
static inline int64_t joint_at(const int64_t *values, int32_t choice)
{
    return values ? values[choice] : 0;
}

/* Sizes, seeds, labels and lives; the order of ops and accesses; sums within 2^60. */
bool lx_joint_validate(const struct lx_joint_problem *p, lx_status *st);
/* The answer's arrays come from `memory`. False: `st` says why. */
bool lx_joint_search(const struct lx_joint_problem *p, const struct lx_joint_options *how,
                     struct arena *memory, struct lx_joint_answer *out, lx_status *st);
/* The label that all accesses of a buffer agree on, or -1. */
int32_t lx_joint_label(const struct lx_joint_problem *p, const int32_t *choice, int32_t buffer);
/* The objective from scratch. `on`: per buffer; NULL: nothing is on chip. */
int64_t lx_joint_cost(const struct lx_joint_problem *p, const int32_t *choice, const bool *on);
/* The placement problem that these choices leave: buffers in the same order, mismatches barred. */
void lx_joint_placement(const struct lx_joint_problem *p, const int32_t *choice, struct arena *memory,
                        struct lx_problem *out);

#endif
