/* The team stage: one graph over several devices, as one plan that every device runs (SPMD).
 *
 * Devices form a grid of up to LX_TEAM_AXES axes. Each axis shards a tensor along one of its dimensions into
 * contiguous blocks, or replicates it. Two axes may shard one dimension, the first into the larger blocks.
 * The owner of an output block computes it. Input parts that it does not own come by an exchange from the
 * owner with the same coordinates along replicating axes. The plan is a list of steps, the same for all
 * devices, with ranges per device:
 *
 *     start e        send the parts of a tensor that others need, begin to receive this device's box
 *     compute o p    a piece of op o: the core (needs no exchange), the parts before or after, or all
 *     wait e         wait until the box of exchange e is complete
 *     combine o      combine partial sums along the axes that shard a sum: each device adds up a share.
 *                    It keeps the share or, if the result is replicated along these axes, gets the
 *                    others' shares
 *
 * Partial sums may stay: an op that is linear in them makes partial sums of its own result. They are
 * combined only if another op reads them.
 *
 * Between two writes of a tensor its exchanges are coalesced: reads share one bounding box per device unless
 * the gap between two boxes costs more than another message. Ops that can share loop bounds form a group
 * with one core, computed while data travels.
 *
 * A plan holds a reference to its graph. Sizes: up to LX_TEAM_DEVICES devices. */
#pragma once

#include "team/distribution.h"

enum { LX_TEAM_AXES = LX_GRID_AXES };

/* In place of a sharded dimension: the tensor is partial sums. In place of an op's variable: the op reads
 * input i as partial sums, LX_TEAM_PARTIAL - i; an op that adds its inputs, all of them. Its result is
 * partial sums, too. */
enum { LX_TEAM_PARTIAL = -2 };

/* Along the last axis, neighbours have consecutive device numbers. */
struct lx_team_grid {
    int axes;
    int size[LX_TEAM_AXES];
};

int lx_team_device_count(const struct lx_team_grid *grid);
/* Parses "8", "2x4", "2x2x4". */
bool lx_team_grid_of_text(const char *text, struct lx_team_grid *grid, lx_status *st);
/* A device's coordinate along an axis. */
int lx_team_coordinate(const struct lx_team_grid *grid, int device, int axis);

/* Bits of the axes along which two devices differ. */
unsigned lx_team_axes_between(const struct lx_team_grid *grid, int a, int b);

/* The number of blocks that the axes make of `what`, a dimension of a tensor or a variable of an op. */
int lx_team_blocks(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], int what);
/* The block of a device. */
int lx_team_block(const struct lx_team_grid *grid, const int cut[LX_TEAM_AXES], int what, int device);

/* A requested shard dimension per axis (-1: replicate). */
struct lx_team_choice {
    const char *tensor;
    int shard[LX_TEAM_AXES];
};

struct lx_team_plans;

struct lx_team_options {
    int devices;                          /* devices in a row, if there is no grid */
    struct lx_team_grid grid;             /* 0 axes: no grid */
    const struct lx_team_choice *choices; /* the planner decides about tensors not listed */
    int choice_count;
    bool by_time; /* minimize predicted time; otherwise exchanged bytes, then time */
    /* by_time: count HBM traffic of tensors too large for a device's scratchpads, as if without nests */
    bool spills;
    bool replicated; /* replicate everything except stated shards, without a search */
    bool plain;      /* baseline without the passes: default partitions, one exchange per read, no cores */
    /* as in struct lx_plan_options, for teams that may be the answer */
    void (*make_ready)(struct lx_team_plans *p);
};

struct lx_team_tensor {
    /* per axis: the sharded dimension; -1: replicated; LX_TEAM_PARTIAL: partial sums */
    int shard[LX_TEAM_AXES];
    /* Per dimension: begins of its blocks, then its extent; NULL if no axis shards it. Block b belongs to
     * the devices whose coordinates along the sharding axes give b, the last of these axes fastest. */
    const int64_t *bound[LX_MAX_RANK];
    bool given; /* shards stated by caller or pattern */
};

enum lx_team_mode {
    LX_TEAM_REPLICATED,   /* every device computes the whole op */
    LX_TEAM_SPLIT,        /* output variables are sharded */
    LX_TEAM_COMBINE,      /* a reduced variable is sharded, or partial sums are read; a combine follows */
    LX_TEAM_KEPT_PARTIAL, /* the same without the combine: readers take partial sums */
    LX_TEAM_MODES
};

/* Ranges of an op's sharded variables, on a device or in a piece. */
struct lx_team_space {
    int loops;
    int var[LX_TEAM_AXES];
    struct lx_team_range range[LX_TEAM_AXES];
};

struct lx_team_op {
    enum lx_team_mode mode;
    /* per axis: the sharded variable; -1: none; LX_TEAM_PARTIAL and below: reads partial sums */
    int var[LX_TEAM_AXES];
    const struct lx_team_space *space; /* per device: each sharded variable once, in the order of axes */
    const int32_t *exchange; /* per input: the exchange whose box it reads; -1: only the own block */
    int32_t group;
    int64_t bytes; /* received by all devices for this op */
};

enum lx_team_pattern {
    LX_TEAM_HALO,    /* every box overlaps its device's own block, and only neighbours send */
    LX_TEAM_GATHER,  /* every reading device gets the whole tensor */
    LX_TEAM_RESHAPE, /* any other repartition */
    LX_TEAM_PATTERNS
};

struct lx_team_exchange {
    int32_t tensor;
    int32_t after;        /* the op that wrote the sent contents; -1: a graph input */
    int32_t first_reader; /* op */
    int reads;            /* operands served */
    enum lx_team_pattern pattern;
    bool sides;                     /* halo: without corners, which no read needs */
    const struct lx_team_box *box;  /* per device: the box it then has; empty: none */
    const int64_t *sent, *received; /* bytes, per device */
    int64_t bytes;                  /* received by all */
    int64_t separate_bytes;         /* the same with one exchange per read */
};

/* Consecutive ops that share loop bounds. */
struct lx_team_group {
    int32_t first, last;
    const struct lx_team_space *core; /* per device; NULL: not split, because no exchange is pending */
};

enum lx_team_step_kind { LX_TEAM_START, LX_TEAM_WAIT, LX_TEAM_COMPUTE, LX_TEAM_REDUCE, LX_TEAM_STEP_KINDS };

enum lx_team_piece { LX_TEAM_ALL, LX_TEAM_CORE, LX_TEAM_BEFORE, LX_TEAM_AFTER, LX_TEAM_PIECES };

struct lx_team_step {
    enum lx_team_step_kind kind;
    int32_t op;       /* compute, reduce */
    int32_t exchange; /* start, wait */
    enum lx_team_piece piece;
    /* before, after: the loop; earlier loops run over the core, later ones over their whole range */
    int along;
};

struct arena;

struct lx_team_plan {
    const struct lx_graph *graph;
    int devices;
    struct lx_team_grid grid;
    const struct lx_team_tensor *tensors; /* as many as graph tensors */
    const struct lx_team_op *ops;         /* as many as graph ops */
    const struct lx_team_exchange *exchanges;
    int32_t exchange_count;
    const struct lx_team_group *groups;
    int32_t group_count;
    const struct lx_team_step *steps;
    int32_t step_count;
    int64_t bytes;         /* received by all devices in all exchanges */
    int64_t combine_bytes; /* received by all devices in combines */
    int64_t plain_bytes;   /* `bytes` without the passes */
    /* by the search: exchanges and ops one after the other; with device plans: by their clock */
    double predicted_us;
    double bound_us; /* lower bound on time for these inputs and given shards; 0: unknown */
    /* lower bound on exchanged and combined bytes for these inputs and given shards; < 0: not computed */
    int64_t bound_bytes;
    bool unsharded; /* out of time for the shard search: replicated as far as possible; not in plan files */
    bool exact;     /* no sum is sharded; see lx_team_is_exact */
    uint64_t hash;  /* of graph, devices and all fields above; devices compare it before data moves */
    struct arena *memory;
};

/* NULL: `st` gives the reason. */
struct lx_team_plan *lx_team_make(const struct lx_graph *g, const struct lx_team_options *how, lx_status *st);
void lx_team_free(struct lx_team_plan *plan);

/* A lower bound on exchanged bytes for this grid, these inputs and given shards, over all shards the planner
 * chooses from. 0: nothing proved in time. */
int64_t lx_team_least_bytes(const struct lx_team_plan *plan);

/* The block of a tensor that a device owns. */
struct lx_team_box lx_team_own(const struct lx_team_plan *plan, int32_t tensor, int device);
/* Whether the tensor is replicated along every axis. */
bool lx_team_is_replicated(const struct lx_team_tensor *t);
/* Whether all tensors are replicated, so that all devices do the same. */
bool lx_team_all_replicated(const struct lx_team_plan *plan);
/* Whether the tensor is partial sums along some axis. */
bool lx_team_is_partial(const struct lx_team_tensor *t);
/* Whether `from` sends `to` its block of a tensor. One of several owners of the same block does. */
bool lx_team_serves(const struct lx_team_grid *grid, const struct lx_team_tensor *t, int from, int to);
/* The box that `from` sends to `to` in an exchange. */
struct lx_team_box lx_team_sent(const struct lx_team_grid *grid, const struct lx_tensor *tensor,
                                const struct lx_team_tensor *t, const struct lx_team_exchange *x, int from,
                                int to);
/* The ranges of a compute step on a device. */
struct lx_team_space lx_team_step_space(const struct lx_team_plan *plan, const struct lx_team_step *step,
                                        int device);
bool lx_team_space_empty(const struct lx_team_space *s);
/* The part of an input that an op needs for the ranges `space`. */
struct lx_team_box lx_team_need(const struct lx_graph *g, const struct lx_op *op, int input,
                                const struct lx_team_space *space);

/* Checks a plan from any source. False: `st` gives the reason (LX_E_NO). */
bool lx_team_check(const struct lx_team_plan *plan, lx_status *st);

const char *lx_team_mode_word(enum lx_team_mode mode);
const char *lx_team_pattern_word(enum lx_team_pattern pattern);
const char *lx_team_step_word(enum lx_team_step_kind kind);
const char *lx_team_piece_word(enum lx_team_piece piece);

/* JSON text from malloc. */
char *lx_team_to_json(const struct lx_team_plan *plan, size_t *length);
/* A part of a tensor sent from one device's graph to another's. Both sides have it, with equal tag and
 * bytes. */
struct lx_team_message {
    int32_t op;            /* op of the device's graph: a send or a receive */
    int operand;           /* send: the input sent; receive: -1, its output */
    int peer;              /* the other device */
    int tag;               /* unique per pair of devices */
    struct lx_team_box at; /* box in that operand */
    int64_t bytes;
};

/* The global position of a device's graph input or output. */
struct lx_team_place {
    int32_t local;  /* tensor of the device's graph */
    int32_t tensor; /* tensor of the team's graph; -1: zeros, for a tensor without a writer */
    struct lx_team_box box;
};

/* The graph of one device, with local shapes, for the later stages: the steps of the plan, with ops in
 * pieces. Sends and receives work on HBM. */
struct lx_team_device {
    const struct lx_graph *graph; /* NULL: no work */
    uint64_t shape;               /* equal for graphs that differ only in offsets of slices */
    uint64_t likely;              /* equal if one graph's plan most likely fits the other, too */
    const struct lx_team_message *messages;
    int32_t message_count;
    const struct lx_team_place *places;
    int32_t place_count;
    const int32_t *step; /* per op of the graph: its step in the plan; -1: joins an output */
    struct arena *memory;
};

struct lx_team_device *lx_team_device_make(const struct lx_team_plan *plan, int device, lx_status *st);
void lx_team_device_free(struct lx_team_device *m);

/* Message tags: exchanges from 1 on, then two per combine, then outputs. Tag 0 is the agreement before data
 * moves. */
int lx_team_tag_exchange(const struct lx_team_plan *plan, int32_t exchange);
int lx_team_tag_combine(const struct lx_team_plan *plan, int32_t op, int round);
int lx_team_tag_output(const struct lx_team_plan *plan, int32_t tensor);
