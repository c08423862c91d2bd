/* The team stage: one graph over several devices, as one plan that every device runs (SPMD).
 *
 * Devices form a grid of up to LX_TEAM_AXES axes. Each axis shards a tensor along one of its dimensions
 * into contiguous blocks, or replicates it. Two axes may shard one dimension, the first into the larger
 * blocks. The owner of a block of an op's output computes it; parts of inputs that it does not own come by
 * an exchange, from the owner with the same coordinates along axes that do not shard. The plan is a list of
 * steps, the same for all devices, in which ranges differ by device:
 *
 *     start e      send the parts of a tensor that others need, begin to receive the box that this device needs
 *     compute o p  a piece of op o: the core (needs nothing from others), the parts before or after it, or all
 *     wait e       the box of exchange e is complete
 *     combine o    partial sums of devices along the axes that shard a sum become one: each device adds up a share,
 *                  and keeps it or, where the result is replicated along these axes, gets the others' shares
 *
 * Partial sums may stay: an op that is linear in them makes partial sums of its own result, and only those
 * that are read otherwise are combined.
 *
 * Between two writes of a tensor its exchanges are coalesced: reads share one bounding box per device
 * unless the gap between two boxes costs more than another message. An exchange starts as soon as its
 * tensor is written and is awaited as late as possible; ops that can share loop bounds form a group with
 * one core, computed while data travels.
 *
 * A plan holds a reference to its graph. Sizes: up to LX_TEAM_DEVICES devices. */
#ifndef LX_TEAM_TEAM_H
#define LX_TEAM_TEAM_H

#include "team/distribution.h"

enum { LX_TEAM_AXES = LX_GRID_AXES };

/* Instead of a dimension of a tensor: devices have partial sums. Instead of a variable of an op: it reads
 * input i as partial sums, LX_TEAM_PARTIAL - i; an op that adds its inputs up, all of them. Its result is
 * partial sums again. */
enum { LX_TEAM_PARTIAL = -2 };

/* The last axis is the one along which neighbours have neighbouring numbers. */
struct lx_team_grid {
    int axes;
    int size[LX_TEAM_AXES];
};

int lx_team_device_count(const struct lx_team_grid *grid);
/* "8", "2x4", "2x2x4". */
bool lx_team_grid_of_text(const char *text, struct lx_team_grid *grid, lx_status *st);
/* Where a device stands along an axis. */
int lx_team_coordinate(const struct lx_team_grid *grid, int device, int axis);

/* Bits of the axes along which two devices stand differently. */
unsigned lx_team_axes_between(const struct lx_team_grid *grid, int a, int b);

/* How many blocks the axes that shard `what` (a dimension of a tensor, a variable of an op) make of it. */
int lx_team_blocks(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], int what);
/* The number of a device's block. */
int lx_team_block(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], int what, int device);

/* The wish that each axis shard a tensor along a dimension (-1: replicate it). */
struct lx_team_choice {
    const char *tensor;
    int shard[LX_TEAM_AXES];
};

struct lx_team_options {
    int devices;                          /* in a row, where there is no grid */
    struct lx_team_grid grid;             /* of no axes: there is none */
    const struct lx_team_choice *choices; /* for tensors not named here the planner decides */
    int choice_count;
    bool by_time; /* least predicted time; else fewest exchanged bytes, and of equals the least time */
    bool
        spills; /* by time: tensors too large for all scratchpads of a device go through HBM, as if without nests */
    bool replicated; /* every device computes everything, unless stated shards forbid it: without a search */
    bool plain;      /* default partitions, one exchange per read, no cores: the passes improve on it */
};

struct lx_team_tensor {
    int shard
        [LX_TEAM_AXES]; /* per axis: the dimension; -1: whole along it, as along axes that the grid has not; partial */
    /* Per dimension: where its blocks begin, and its extent; NULL if no axis cuts it. Block b belongs to
     * the devices whose coordinates along the axes that cut it are b, the last of these axes fastest. */
    const int64_t *bound[LX_MAX_RANK];
    bool given; /* its shards were stated, by the caller or the pattern */
};

enum lx_team_mode {
    LX_TEAM_REPLICATED, /* every device computes all of it */
    LX_TEAM_SPLIT,      /* variables of the output are cut */
    LX_TEAM_COMBINE, /* a variable that is summed (maximised, ...) away is sharded, or partial sums are read; then a combine */
    LX_TEAM_KEPT_PARTIAL, /* the same, without the combine: readers take partial sums */
    LX_TEAM_MODES
};

/* Ranges of the sharded variables of an op, on a device or in a piece. */
struct lx_team_space {
    int loops;
    int var[LX_TEAM_AXES];
    struct lx_team_range range[LX_TEAM_AXES];
};

struct lx_team_op {
    enum lx_team_mode mode;
    int var
        [LX_TEAM_AXES]; /* per axis: the variable that it cuts; -1: none; LX_TEAM_PARTIAL and below: parts */
    const struct lx_team_space
        *space;              /* per device; each cut variable is there once, in the order of the axes */
    const int32_t *exchange; /* per input: the exchange whose box it reads; -1: what is owned */
    int32_t group;
    int64_t bytes; /* received by all devices because of this op */
};

enum lx_team_pattern {
    LX_TEAM_HALO,    /* every box overlaps what its device owns, and only neighbours send */
    LX_TEAM_GATHER,  /* every device that reads at all gets the whole tensor */
    LX_TEAM_RESHAPE, /* any other: a repartition */
    LX_TEAM_PATTERNS
};

struct lx_team_exchange {
    int32_t tensor;
    int32_t after;        /* the op that wrote what is sent; -1: it is an input */
    int32_t first_reader; /* op */
    int reads;            /* operands served */
    enum lx_team_pattern pattern;
    bool sides; /* of a halo: nobody reads what lies off along two dimensions, and it does not travel */
    const struct lx_team_box *box;  /* per device, what it then has; empty: it needs nothing */
    const int64_t *sent, *received; /* bytes, per device */
    int64_t bytes;                  /* received by all */
    int64_t separate_bytes;         /* the same had each read been served on its own */
};

/* Consecutive ops that share loop bounds. */
struct lx_team_group {
    int32_t first, last;
    const struct lx_team_space *core; /* per device; NULL: not split, because nothing is awaited */
};

enum lx_team_step_kind { LX_TEAM_START, LX_TEAM_WAIT, LX_TEAM_COMPUTE, LX_TEAM_REDUCE, LX_TEAM_STEP_KINDS };

enum lx_team_piece { LX_TEAM_ALL, LX_TEAM_CORE, LX_TEAM_BEFORE, LX_TEAM_AFTER, LX_TEAM_PIECES };

struct lx_team_step {
    enum lx_team_step_kind kind;
    int32_t op;       /* compute, reduce */
    int32_t exchange; /* start, wait */
    enum lx_team_piece piece;
    int along; /* before, after: of which loop; earlier loops run over the core, later ones over everything */
};

struct arena;

struct lx_team_plan {
    const struct lx_graph *graph;
    int devices;
    struct lx_team_grid grid;
    const struct lx_team_tensor *tensors; /* as many as the graph's */
    const struct lx_team_op *ops;         /* as many as the graph's */
    const struct lx_team_exchange *exchanges;
    int32_t exchange_count;
    const struct lx_team_group *groups;
    int32_t group_count;
    const struct lx_team_step *steps;
    int32_t step_count;
    int64_t bytes;         /* received by all devices in all exchanges */
    int64_t combine_bytes; /* and in combining partial results */
    int64_t plain_bytes;   /* what `bytes` would be without the passes */
    double
        predicted_us; /* by the search: exchanges and ops one after the other; of plans of devices: of their clock */
    double
        bound_us; /* none take less with inputs that lie as here and what is given; 0: nothing is proved, or not yet */
    int64_t
        bound_bytes; /* no plan exchanges and combines less whose inputs lie as here, and that keeps what is given;
                            less than 0: that was not asked */
    bool unsharded; /* no time was left for cuts: all is whole, as far as it can be; not in its file */
    bool exact;     /* no sum is cut over devices; see lx_team_is_exact */
    uint64_t hash;  /* of graph, devices and everything above; devices compare it before data moves */
    struct arena *memory;
};

/* NULL: `st` says why the graph cannot be distributed. */
struct lx_team_plan *lx_team_make(const struct lx_graph *g, const struct lx_team_options *how, lx_status *st);
void lx_team_free(struct lx_team_plan *plan);

/* Bytes that no plan on this grid goes below whose inputs lie as here, and that keeps given shards: of all
 * shards that the planner chooses from. 0: nothing is proved, for want of time. */
int64_t lx_team_least_bytes(const struct lx_team_plan *plan);

/* The part of a tensor that a device owns. */
struct lx_team_box lx_team_own(const struct lx_team_plan *plan, int32_t tensor, int device);
/* Is it replicated along every axis? */
bool lx_team_is_replicated(const struct lx_team_tensor *t);
/* Is everything replicated: do all devices do the same? */
bool lx_team_all_replicated(const struct lx_team_plan *plan);
/* Do devices have partial sums of it, along some axis? */
bool lx_team_is_partial(const struct lx_team_tensor *t);
/* Does `from` send `to` its own part of a tensor? Of devices that own the same one does. */
bool lx_team_serves(const struct lx_team_grid *grid, const struct lx_team_tensor *t, int from, int to);
/* The box that `from` sends `to` in an exchange of a tensor. */
struct lx_team_box lx_team_sent(const struct lx_team_grid *grid, const struct lx_tensor *tensor,
                                const struct lx_team_tensor *t, const struct lx_team_exchange *x, int from,
                                int to);
/* Where a compute step runs on a device. */
struct lx_team_space lx_team_step_space(const struct lx_team_plan *plan, const struct lx_team_step *step,
                                        int device);
bool lx_team_space_empty(const struct lx_team_space *s);
/* The part of an input that an op needs while its sharded variables run over `space`. */
struct lx_team_box lx_team_need(const struct lx_graph *g, const struct lx_op *op, int input,
                                const struct lx_team_space *space);

/* Is the plan right, whoever made it? False: `st` says why not (LX_E_NO). */
bool lx_team_check(const struct lx_team_plan *plan, lx_status *st);

const char *lx_team_mode_word(enum lx_team_mode mode);
const char *lx_team_pattern_word(enum lx_team_pattern pattern);
const char *lx_team_step_word(enum lx_team_step_kind kind);
const char *lx_team_piece_word(enum lx_team_piece piece);

/* The plan as JSON: malloc'ed. */
char *lx_team_to_json(const struct lx_team_plan *plan, size_t *length);
/* A part of a tensor of a device's graph that goes to another device or comes from one. Both sides have it,
 * with the same tag and bytes. */
struct lx_team_message {
    int32_t op;            /* of the device's graph: a send or a receive */
    int operand;           /* of a send: the input that is sent; -1: of a receive, its output */
    int peer;              /* the other device */
    int tag;               /* one message of a tag goes from one device to another */
    struct lx_team_box at; /* in that operand */
    int64_t bytes;
};

/* Where a graph input or output of a device belongs. */
struct lx_team_place {
    int32_t local;  /* tensor of the device's graph */
    int32_t tensor; /* of the team's graph; -1: zeros, for what nobody writes */
    struct lx_team_box box;
};

/* The graph of one device, with local shapes, for the stages after this one: the steps of the plan, with
 * ops piece by piece; ops of the kinds send and receive work on HBM. */
struct lx_team_device {
    const struct lx_graph *graph; /* NULL: it has nothing to do */
    uint64_t shape;               /* the same number where only offsets of slices differ */
    uint64_t likely;              /* the same number where one's plan most likely fits the other, too */
    const struct lx_team_message *messages;
    int32_t message_count;
    const struct lx_team_place *places;
    int32_t place_count;
    const int32_t
        *step; /* per op of its graph: the step of the plan that it belongs to; -1: it joins an output */
    struct arena *memory;
};

struct lx_team_device *lx_team_device_make(const struct lx_team_plan *plan, int device, lx_status *st);
void lx_team_device_free(struct lx_team_device *m);

/* Tags of messages: exchanges from 1 on, then two for each combine, then outputs. Tag 0 is the agreement
 * before data moves. */
int lx_team_tag_exchange(const struct lx_team_plan *plan, int32_t exchange);
int lx_team_tag_combine(const struct lx_team_plan *plan, int32_t op, int round);
int lx_team_tag_output(const struct lx_team_plan *plan, int32_t tensor);

#endif
