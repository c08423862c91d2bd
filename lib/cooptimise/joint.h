/* The joint problem: which choice each op makes (a division of its work over the cores) together with which
 * buffers stay on chip. cooptimise.h makes one from a graph, tests from captured data.
 *
 * Every op has a menu of choices. Every access of an op to a buffer has a label per choice: the interned pair
 * of the buffer's parts and the cores that hold them. A buffer may be on chip only if all its accesses have
 * the same label >= 0; it then takes label_size[label] bytes of each core over its life [start, end).
 *
 *   cost of an op under choice c = extra[c] + sum of toll + max(compute[c], sum of memory[c])
 *
 * The sums are over the op's accesses through HBM: all accesses to buffers off chip, and accesses with
 * `always` set (the load of a copied input, the store of an output produced on chip). The objective is the
 * sum over the ops. With tolls only it is traffic, with compute and memory it is time; tolls larger than all
 * times make it lexicographic.
 *
 * A choice may have a number of tiles. A cut separates two consecutive ops with different tile counts, or
 * with different labels of a shared buffer; a run lies between two cuts. The output of an op in a loop is a
 * tile on chip, for its run only: later readers get a copy, tile by tile, and need not agree. The copy costs
 * copy_toll, each cut costs cut_toll. Such a copy is on chip only if the op does not split its sums over the
 * cores. A whole buffer lives to the end of a run in a loop that reads it.
 *
 * Sizes: 5 to 80 ops with 5 to 60 choices in captures, 4,100 ops with up to 100 choices in generated graphs.
 * Ops of one shape may share their arrays. */
#pragma once

#include "placement/problem.h"

struct arena;

struct lx_joint_access {
    int32_t op;
    bool always;
    int64_t toll;
    const int64_t *memory; /* per choice of the op; NULL: nothing */
    const int32_t *label;  /* per choice of the op; -1: not on chip under it. NULL: never on chip */
};

struct lx_joint_buffer {
    const char *name;
    int64_t bytes; /* of the whole tensor, for the flip search */
    int64_t start, end;
    bool first_use_is_read;
    const char *reason; /* why it may never be on chip, or NULL */
    const int32_t *parents;
    int32_t parent_count;
    const struct lx_joint_access *accesses; /* in the order of the ops */
    int32_t access_count;
    /* The rest is for problems with tiles. */
    const int64_t *size; /* per choice of the first op that accesses it; NULL: label_size */
    int64_t copy_toll;
    bool leaves;     /* readers outside the graph need the whole buffer after the last op */
    bool tile_stays; /* a tile may be on chip even if `reason` bars the whole buffer */
};

struct lx_joint_op {
    const char *name;
    int64_t tick;                   /* strictly ascending */
    int32_t choice_count;           /* > 0 */
    int32_t seed;                   /* the choice of work division */
    const int64_t *compute, *extra; /* per choice; NULL: nothing */
    const int64_t *tiles;           /* per choice; NULL: one, there is no loop */
    const bool *cuts_sums;          /* per choice: the op splits its sums over cores; NULL: never */
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
    LX_JOINT_SEED, /* the seeds; only placement is chosen */
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
    enum lx_verdict status; /* optimal: bound equals objective; limit: stopped early */
    int32_t *choice;        /* per op */
    int32_t *label;         /* per buffer: the label on which its accesses agree, or -1 */
    int64_t *address;       /* per buffer; LX_OFF_CHIP or >= 0 */
    int64_t objective;
    int64_t bound;          /* no choices and placement cost less */
    int64_t seed_objective; /* of the seeds, placed by the same solver */
    int64_t steps, leaves;  /* leaves: placement problems solved */
};

static inline int64_t joint_at(const int64_t *values, int32_t choice)
{
    return values ? values[choice] : 0;
}

/* Checks sizes, seeds, labels and lives, the order of ops and accesses, and that sums stay within 2^60. */
bool lx_joint_validate(const struct lx_joint_problem *p, lx_status *st);
/* Solves the problem; the answer's arrays come from `memory`. False: `st` says why. */
bool lx_joint_search(const struct lx_joint_problem *p, const struct lx_joint_options *how,
                     struct arena *memory, struct lx_joint_answer *out, lx_status *st);
/* The label on which all accesses of a buffer agree, or -1. */
int32_t lx_joint_label(const struct lx_joint_problem *p, const int32_t *choice, int32_t buffer);
/* The objective, computed from scratch. `on`: per buffer; NULL: nothing is on chip. */
int64_t lx_joint_cost(const struct lx_joint_problem *p, const int32_t *choice, const bool *on);
/* Makes the placement problem under these choices: the same buffers in the same order, mismatches barred. */
void lx_joint_placement(const struct lx_joint_problem *p, const int32_t *choice, struct arena *memory,
                        struct lx_problem *out);
