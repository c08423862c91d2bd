/* The simulated device while it runs: memories with tags, the program, counters, faults. Private to the
 * stage. */
#pragma once

#include "base/rng.h"
#include "device/memory/stick_box.h"
#include "device/device.h"
#include "kernels/kernels.h"
#include "device/reference/values.h"

/* The iteration of the current nest.
 *
 * The ops of a nest are walked once per iteration, the outermost level slowest. The launch of an op covers
 * one tile, its pieces are positions in the tile; iteration_offsets turns them into positions of the whole
 * tensor, like in all boxes, regions and tags. */
struct iteration {
    const struct lx_nest *nest; /* of this tick's op; NULL: none */
    int64_t index[LX_MAX_LEVELS];
    int64_t number; /* of the iteration, from 0 on */
};

/* Are the nests of a plan valid for its graph, in order of time, and its ops divided by their tiles? */
bool iterations_valid(const struct lx_plan *p, lx_status *st);

/* The first iteration of the op's nest, or no nest. */
struct iteration iteration_at(const struct lx_plan *p, int32_t op);
/* Moves to the next iteration; false: that was the last. */
bool iteration_next(struct iteration *i);

/* Are all levels inside `level` at their first, or last, index? */
bool iteration_inner_first(const struct iteration *i, int level);
bool iteration_inner_last(const struct iteration *i, int level);

/* Sets the begin of the tile along each variable, by the launch of the op. */
void iteration_offsets(const struct iteration *i, const struct lx_launch *l, int64_t offset[LX_MAX_VARS]);

/* How many tiles a sum over the levels `summed` has before this iteration; and after it, 0 for all. */
uint32_t iteration_parts_before(const struct iteration *i, unsigned summed);
uint32_t iteration_parts_after(const struct iteration *i, unsigned summed);

/* What a scratchpad has before anything is written: NaN in any float type, and far off as an integer. */
enum { POISON = 0xff };

enum { NOBODY = -1, WIPED = -2, COMING = -3 };

/* The content of a stick: a value of the program; for an incomplete sum over tiles, the number of tiles in
 * it. */
struct content {
    int32_t value;
    uint32_t parts; /* 0: it is complete */
};

/* The tag of a stick. */
struct tag {
    int32_t value;         /* of the program; NOBODY: never written, WIPED: by an extern op, COMING: a load is
                              on its way, and `parts` is its value */
    int32_t owner;         /* in a scratchpad the stay, in HBM the tensor */
    uint32_t stick, parts; /* stick: number in the tensor; parts: as in struct content */
};

/* When a core was through with a stick, by its own clock. */
struct task_end {
    int64_t time;
    int32_t core;
    uint32_t moment;
};

struct stick_times {
    struct task_end written, read; /* read: the latest */
};

struct memory {
    unsigned char *bytes;
    struct tag *tags;          /* one per stick */
    uint32_t *touched;         /* per stick: the last access that was counted for it */
    struct stick_times *times; /* per stick; NULL: the cores are in step */
    int64_t sticks;
};

/* The host's functions: for ops that run off the device, and for results that were made elsewhere
 * (device.h). */
struct machine_host {
    lx_host_op *op;                                                                    /* may be NULL */
    const void *(*made)(void *context, int32_t op, int operand, const int64_t *index); /* may be NULL */
    void *context;
};

/* The view of a stay on the cores, set on first use. */
struct stay_view {
    bool known;
    struct lx_core_view view;
    int32_t nest;                          /* nest of its slice; -1: it holds the whole tensor */
    signed char level[LX_MAX_DEVICE_RANK]; /* the level that cuts the dimension; -1: none */
};

struct machine {
    const struct lx_plan *plan;
    const struct lx_graph *graph;        /* the graph with layouts */
    const struct lx_op_launch *launches; /* per op, from the plan */
    struct program program;              /* of the pattern */
    struct lx_layout *layouts;           /* per tensor; a tensor known by its bytes is a row of bytes */
    int64_t cores, stick_bytes;
    struct memory hbm;
    struct memory *lx;  /* per core */
    int32_t *reserved;  /* per stick of HBM: the input, weight or output that owns it for good; or NOBODY */
    int64_t height;     /* the highest byte in use of a scratchpad */
    uint32_t access;    /* number of the current access */
    uint32_t before;    /* number of the last access before the op of this tick, */
    uint32_t last_read; /* and of the last one by which the op has read an input */
    int32_t *current;   /* per tensor: the value after the ops so far */
    int32_t *first_op;  /* per tensor: the first op that accesses it; op_count: none */
    int32_t tick;
    struct iteration at;         /* of the nest of this tick */
    uint32_t round;              /* counts iterations */
    uint32_t *filled;            /* per stay: the round of its last write */
    struct stay_view *views;     /* per stay */
    unsigned *summed;            /* per tensor: levels of its nest over which its maker sums */
    bool writing;                /* the op of the tick writes its output: slots may be handed over */
    int64_t *clock;              /* per core; NULL: they are in step */
    int64_t actor;               /* the core that reads or writes; -1: the host */
    uint32_t moment;             /* counts ticks */
    struct rng random;           /* of the clocks */
    struct lx_counters *counted; /* of this tick, per core */
    int64_t *transfer_bytes;     /* per transfer */
    struct pool *pool;
    int threads;
    VEC(struct lx_fault) faults;
    int64_t fault_count;
    struct arena *memory;  /* of the result */
    struct arena *scratch; /* of the op */
    struct machine_host host;
    bool failed; /* the run ends with `failure` */
    lx_status failure;
};

/* The place of an operand for one core. */
struct place {
    struct memory *in; /* NULL: none; then there is a fault already */
    int64_t address;   /* bytes */
    struct box box;
    int32_t tensor, stay; /* stay -1: HBM */
    int64_t core;
};

/* scratchpads.c */
bool machine_make(struct machine *m, lx_status *st);
void machine_free(struct machine *m);
/* Reserves the places of graph inputs, weights and outputs in HBM. */
void machine_reserve(struct machine *m);
/* Wipes the scratchpads: an extern op used them, or a bundle begins. */
void machine_wipe(struct machine *m);
/* Puts a graph input at its place in HBM. `items` in host order; NULL: zeros. */
void machine_put_input(struct machine *m, int32_t tensor, const void *items);
struct place place_in_hbm(struct machine *m, int32_t tensor);
struct place place_in_stay(struct machine *m, int32_t stay, int64_t core);
/* The place of operand `operand` of this tick's op: its stay if that is placed, else HBM. */
struct place place_of_access(struct machine *m, int operand, int64_t core);
/* The view of a stay; NULL: a fault. */
const struct stay_view *machine_view(struct machine *m, int32_t stay);
/* Sets the part of a core in this iteration; false: a fault. */
bool stay_box(struct machine *m, int32_t stay, int64_t core, struct box *out);
/* The content of a tensor before the op of this tick, and after it. */
struct content content_before(const struct machine *m, int32_t tensor);
struct content content_after(const struct machine *m, int32_t tensor);
bool stay_placed(const struct machine *m, int32_t stay);
/* The number of the slice that is due in this iteration, from 0 on. */
int64_t stay_turn(const struct machine *m, int32_t stay);

/* skews.c: clocks of the cores, from a seed; 0: all in step. */
void skews_begin(struct machine *m, uint64_t seed);
/* All cores wait for each other, and then run on in any order. */
void skews_meet(struct machine *m);
/* As the syncs before this tick say. */
void skews_meet_at_tick(struct machine *m);
/* All cores have ended a task. */
void skews_step(struct machine *m);
/* These cores wait for each other. */
void skews_join(struct machine *m, const int64_t *cores, size_t count);
/* The actor reads or writes a stick; false: before another core has ended what comes first. */
bool skews_read(struct machine *m, const struct place *p, int64_t local);
bool skews_write(struct machine *m, const struct place *p, int64_t local);

/* shadow.c. What a read expects: any other tag is a fault. */
struct expectation {
    struct content content;
    bool counts; /* count sticks touched first by this access: by any core in HBM, else by its own */
};

/* Returns the number of counted sticks. */
int64_t shadow_read(struct machine *m, const struct place *p, const struct region *r,
                    struct expectation want);
/* A write by an op or transfer of this tick; a fault where it overwrites a live buffer. Counts as above. */
int64_t shadow_write(struct machine *m, const struct place *p, const struct region *r, struct content value);
/* Counts the sticks that this access touches first, whatever they hold. */
int64_t shadow_count(struct machine *m, const struct place *p, const struct region *r);
/* One stick at a time, for transfers. True: as expected. */
bool shadow_stick_read(struct machine *m, const struct place *p, int64_t local, int64_t global,
                       struct content value, struct lx_fault *first);
void shadow_stick_write(struct machine *m, const struct place *p, int64_t local, int64_t global,
                        struct content value, struct lx_fault *first);
/* Sets per core the bytes of its scratchpad that hold a value of a live buffer. */
void shadow_in_use(const struct machine *m, int64_t *bytes);
/* Sticks that an op keeps, with value `before`, get the new value too. */
void shadow_keep(struct machine *m, const struct place *p, int32_t before, int32_t value);

/* Ends the run with an error; the first one counts. Any thread may call it. */
void machine_fail(struct machine *m, const lx_status *why);
void fault_add(struct machine *m, const struct lx_fault *f);
/* A fault without a stick. */
void fault_plain(struct machine *m, enum lx_fault_kind kind, const struct place *p, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* shadow_stick_issue: the load of this stick begins; no core may read the stick until the load is due.
 * shadow_stick_arrives: the load ends. False: it had not begun with this value, or the stick was
 * overwritten. */
void shadow_stick_issue(struct machine *m, const struct place *p, int64_t local, struct content value,
                        struct lx_fault *first);
bool shadow_stick_arrives(struct machine *m, const struct place *p, int64_t local, struct content value,
                          struct lx_fault *first);

/* transfers.c: move_transfers makes the stores of the tick, or its other copies; issue_transfers begins the
 * loads that are issued at the tick and due later. */
void move_transfers(struct machine *m, bool stores);
void issue_transfers(struct machine *m);

/* execute.c: the host's part before the tick; the op of the tick. */
void execute_prepare(struct machine *m);
void execute_op(struct machine *m);

/* The host indices [from, to) of an operand of this tick's op in its tile; all, outside of nests. */
struct host_range {
    int rank;
    int64_t from[LX_MAX_RANK], to[LX_MAX_RANK];
};
struct host_range operand_range(const struct machine *m, int operand);

/* readback.c: reads the tile of an operand of this tick's op (the output is the last) from its place, or a
 * tensor from HBM, as items in host order. False: it is not all there, which execution reports as a fault. */
bool read_operand(struct machine *m, int operand, void *items);
/* Counts the elements of the tile, in all cores' parts, that differ from `items`, the whole tensor. */
bool compare_operand(struct machine *m, int operand, const void *items, int64_t *differing);
bool read_hbm(struct machine *m, int32_t tensor, void *items);

/* Is the tensor known by its bytes only? Then it is a row of bytes everywhere. */
static inline bool machine_is_bytes(const struct machine *m, int32_t tensor)
{
    return m->graph->tensors[tensor].rank < 0;
}

static inline const struct lx_op *machine_op(const struct machine *m)
{
    return &m->graph->ops[m->tick];
}
