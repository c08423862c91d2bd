/* The simulated device while it runs: memories with tags, the program, counters, faults. Private to the
 * stage. */
#ifndef LX_DEVICE_MEMORY_MACHINE_H
#define LX_DEVICE_MEMORY_MACHINE_H

#include "base/rng.h"
#include "base/vec.h"
#include "divide/op_nest.h"
#include "layout/op_index.h"
#include "device/memory/stick_box.h"
#include "device/device.h"
#include "kernels/kernels.h"
#include "device/reference/values.h"

/* Where a device is in the loops of a nest, and what that means for tensors.
 *
 * The ops of a nest are walked once per iteration, the outermost level slowest. The launch of an op is that of
 * one tile, its pieces are positions in the tile; with `iteration_offsets` they become positions of the whole
 * tensor, as are all boxes, regions and tags. */
struct iteration {
    const struct lx_nest *nest; /* of the op of this tick; NULL: none */
    int64_t index[LX_MAX_LEVELS];
    int64_t number; /* from 0 on */
};

/* Are the nests of a plan nests of its graph, in order of time, and its ops divided as their tiles? */
bool iterations_valid(const struct lx_plan *p, lx_status *st);

/* At the first iteration of the op's nest, or in none. */
struct iteration iteration_at(const struct lx_plan *p, int32_t op);
/* On to the next; false: that was the last. */
bool iteration_next(struct iteration *i);

/* Of the levels inside `level`: are they all at their first, or last? */
bool iteration_inner_first(const struct iteration *i, int level);
bool iteration_inner_last(const struct iteration *i, int level);

/* Variable by variable: where the tile begins, as the launch of the op says. */
void iteration_offsets(const struct iteration *i, const struct lx_launch *l, int64_t offset[LX_MAX_VARS]);

/* Of a sum over the levels `summed`: how many tiles it has before this iteration; and after it, 0: all of
 * them. */
uint32_t iteration_parts_before(const struct iteration *i, unsigned summed);
uint32_t iteration_parts_after(const struct iteration *i, unsigned summed);

enum { NOBODY = -1, WIPED = -2 };

/* What a stick holds: a value of the program; of a sum over tiles that is not complete, how many of them it
 * has. */
struct content {
    int32_t value;
    uint32_t parts; /* 0: it is complete */
};

/* What a stick of a memory holds. */
struct tag {
    int32_t value;         /* of the program; NOBODY: never written, WIPED: by an extern op */
    int32_t owner;         /* in a scratchpad the stay, in HBM the tensor */
    uint32_t stick, parts; /* of the tensor: there are not more in a memory; as of struct content */
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

/* Who does the ops that run off the device. */
struct machine_host {
    lx_host_op *op; /* may be NULL */
    void *context;
};

/* What the cores hold of a stay, found when it is first asked for. */
struct stay_view {
    bool known;
    struct lx_core_view view;
    int32_t nest;                          /* that its slice belongs to; -1: it is whole */
    signed char level[LX_MAX_DEVICE_RANK]; /* whose tiles cut the dimension; -1: none */
};

struct machine {
    const struct lx_plan *plan;
    const struct lx_graph *graph;        /* as it runs */
    const struct lx_op_launch *launches; /* per op: as the plan states them */
    struct program program;              /* of the pattern */
    struct lx_layout *layouts;           /* per tensor; those known by bytes are a row of bytes */
    int64_t cores, stick_bytes;
    struct memory hbm;
    struct memory *lx;  /* per core */
    int32_t *reserved;  /* per stick of HBM: the input, weight or output that has it for good; or NOBODY */
    int64_t height;     /* the highest byte of a scratchpad that was in use */
    uint32_t access;    /* number of the access under way */
    uint32_t before;    /* number of the last one before the op of this tick, */
    uint32_t last_read; /* and of the last one by which it has read an input */
    int32_t *current;   /* per tensor: the value that the ops so far have left in it */
    int32_t *first_op;  /* per tensor: the first op that accesses it; op_count: none */
    int32_t tick;
    struct iteration at;         /* of the nest of this tick */
    uint32_t round;              /* counts iterations */
    uint32_t *filled;            /* per stay: the round in which it was written last */
    struct stay_view *views;     /* per stay */
    unsigned *summed;            /* per tensor: levels of its nest that the op which makes it sums over */
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
    bool failed; /* the run ends, and `failure` says why */
    lx_status failure;
};

/* Where an operand is for one core. */
struct place {
    struct memory *in; /* NULL: nowhere; then there is a fault already */
    int64_t address;   /* bytes */
    struct box box;
    int32_t tensor, stay; /* stay -1: HBM */
    int64_t core;
};

/* memory.c */
bool machine_make(struct machine *m, lx_status *st);
void machine_free(struct machine *m);
/* Gives graph inputs, weights and outputs their places in HBM for good. */
void machine_reserve(struct machine *m);
/* An extern op has used the scratchpads for itself. */
void machine_wipe(struct machine *m);
/* Graph inputs where the plan wants them. `items` in host order. */
void machine_put_input(struct machine *m, int32_t tensor, const void *items);
struct place place_in_hbm(struct machine *m, int32_t tensor);
struct place place_in_stay(struct machine *m, int32_t stay, int64_t core);
/* Of operand `operand` of the op of this tick: its stay if that is placed, else HBM. */
struct place place_of_access(struct machine *m, int operand, int64_t core);
/* What the cores hold of a stay; NULL: a fault. */
const struct stay_view *machine_view(struct machine *m, int32_t stay);
/* The part of a core in this iteration; false: a fault. */
bool stay_box(struct machine *m, int32_t stay, int64_t core, struct box *out);
/* What the ops so far have left in a tensor: before the op of this tick, or when it has run. */
struct content content_before(const struct machine *m, int32_t tensor);
struct content content_after(const struct machine *m, int32_t tensor);
bool stay_placed(const struct machine *m, int32_t stay);

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
    bool
        counts; /* sticks that this access has not touched before: in HBM any core, in a scratchpad its own */
};

/* Sticks that were counted. */
int64_t shadow_read(struct machine *m, const struct place *p, const struct region *r,
                    struct expectation want);
/* A write by an op or transfer of this tick; faults where a live buffer would be overwritten. Counts as
 * above. */
int64_t shadow_write(struct machine *m, const struct place *p, const struct region *r, struct content value);
/* Sticks that this access has not touched before, whatever they hold. */
int64_t shadow_count(struct machine *m, const struct place *p, const struct region *r);
/* One stick at a time, for transfers. True: as expected. */
bool shadow_stick_read(struct machine *m, const struct place *p, int64_t local, int64_t global,
                       struct content value, struct lx_fault *first);
void shadow_stick_write(struct machine *m, const struct place *p, int64_t local, int64_t global,
                        struct content value, struct lx_fault *first);
/* Per core: bytes of its scratchpad that hold a value of a buffer that is live at this tick. */
void shadow_in_use(const struct machine *m, int64_t *bytes);
/* An op has kept what it did not write: those sticks hold the new value too. */
void shadow_keep(struct machine *m, const struct place *p, int32_t before, int32_t value);

/* Ends the run with an error; the first one counts. Any thread may call it. */
void machine_fail(struct machine *m, const lx_status *why);
void fault_add(struct machine *m, const struct lx_fault *f);
/* Without a stick. */
void fault_plain(struct machine *m, enum lx_fault_kind kind, const struct place *p, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* transfers.c: transfers of the tick, `stores` or the others. */
void move_transfers(struct machine *m, bool stores);

/* execute.c: the op of the tick; and what the host does before its tick. */
void execute_prepare(struct machine *m);
void execute_op(struct machine *m);

/* The host indices [from, to) of an operand of the op of this tick that its tile has: all, outside of
 * nests. */
struct host_range {
    int rank;
    int64_t from[LX_MAX_RANK], to[LX_MAX_RANK];
};
struct host_range operand_range(const struct machine *m, int operand);

/* readback.c: the tile of an operand of the op of this tick (the output is the last) from where the plan has
 * it, or a tensor from HBM, as items in host order. False: it is not all there, and execution makes that a
 * fault. */
bool read_operand(struct machine *m, int operand, void *items);
/* How many elements of the tile, in any core's part, are not those of `items`, which are the whole
 * tensor's. */
bool compare_operand(struct machine *m, int operand, const void *items, int64_t *differing);
bool read_hbm(struct machine *m, int32_t tensor, void *items);

/* Is the tensor known by its bytes only? Then it is a row of bytes wherever it is. */
static inline bool machine_is_bytes(const struct machine *m, int32_t tensor)
{
    return m->graph->tensors[tensor].rank < 0;
}

static inline const struct lx_op *machine_op(const struct machine *m)
{
    return &m->graph->ops[m->tick];
}

#endif
