/* The last stage: a plan is executed on a simulated device, with real bytes at the planned addresses.
 *
 * The device has one HBM, a scratchpad (LX) for each core, a data ring and a reduce ring. At tick t it makes
 * the loads and ring copies of tick t, runs op t on its cores, and makes the stores of tick t. The ticks of a
 * nest are walked once per iteration, each op on its tile; tags, faults and counters still refer to whole
 * tensors. A core takes its work from the launch that the plan states: it recovers tile after tile from its
 * arguments, and contractions and moves run as the loop nests of their tiles. Elements are stored in their
 * type (fp16 as fp16), computed in fp32 and rounded when they are stored. Tensors known only by their bytes
 * are mixed word by word, so that a wrong byte anywhere changes the result.
 *
 * Every stick of every memory carries a tag: its owner, the tensor and value that it holds, and its position
 * in the tensor. A read of another stick than the program means is a fault, reported with core, address, op,
 * buffer and owner, even if the numbers happen to agree. A write over a live buffer is a fault, too. With a
 * seed of skews the cores run out of step between two syncs, in any order: a core that reads or writes sticks
 * with which another core has not ended is a fault.
 *
 * Each op is judged by itself. It is evaluated in fp64 on its inputs as the device has them, and each element
 * that it stored must be within a bound proved for the device's arithmetic in any order of summation. Ops
 * that only move data must keep its bits. Moved bytes are counted and compared with the plan's figures: any
 * difference fails the run. The distance of the graph's outputs from fp64 end to end is reported and decides
 * nothing.
 *
 *     struct lx_device_options how = {.verify = LX_VERIFY_FULL};
 *     struct lx_run_result *r = lx_device_run(plan, &how, &st);   // NULL: it could not be run at all
 *     if (r && !r->ok) puts(r->fault_count ? r->faults[0].text : "wrong result or wrong count");
 *     lx_run_result_free(r);
 *
 * Same plan, same seed: same bits on every run with every number of threads. */
#pragma once

#include "plan/plan.h"

/* Judged by the run: every op, and the graph's outputs from end to end as well; every op; the ops that write
 * outputs of the graph, and these from end to end; nothing. */
enum lx_verify { LX_VERIFY_FULL, LX_VERIFY_OPS, LX_VERIFY_OUTPUTS, LX_VERIFY_NONE, LX_VERIFY_COUNT };
const char *lx_verify_word(enum lx_verify v);

/* The outputs of a pattern in fp64 from end to end. The pattern must outlive them. They serve runs of all
 * plans of that pattern and seed, whatever the device. */
struct lx_reference;
void lx_reference_free(struct lx_reference *r);

/* The host's function for an op that runs off the device (extern): `op` of the pattern, operands as items in
 * host order, which the device reads from HBM and writes there. False: the run ends for the reason in
 * `st`. */
typedef bool lx_host_op(void *context, int32_t op, const void *const *inputs, void *output, lx_status *st);

/* An argument of a run: the value of an input of one element, such as an offset that is known only when it
 * runs. */
struct lx_argument {
    int32_t tensor; /* of the pattern, as in the file */
    int64_t value;
};

struct lx_device_options {
    uint64_t seed;                       /* of the input data */
    const struct lx_argument *arguments; /* in place of seeded data */
    int argument_count;
    uint64_t skew; /* of the order in which cores run between two syncs; 0: all in step */
    enum lx_verify verify;
    bool in_use; /* record the bytes in use of each scratchpad at each tick, for a trace */
    int threads; /* of the host; 0: one */
    const struct lx_reference *
        reference; /* of this pattern and seed; NULL: made here, unless data or extern ops are the caller's */
    void (*progress)(void *context, int32_t done, int32_t ops); /* may be NULL */
    void (*iterating)(void *context, int64_t iteration,
                      int64_t of); /* before each op; `of`: 1 if it is in no nest. May be NULL */
    bool (*stop)(void *context);   /* may be NULL; a stopped run is an error */
    /* The caller's own data: an input (tensor of the pattern) as items in host order, in place of seeded data
     * (tensors and ops as in the file, whatever the planner has rewritten); each graph output as HBM has it
     * in the end. May be NULL. */
    void (*input)(void *context, int32_t tensor, void *items);
    void (*output)(void *context, int32_t tensor, const void *items);
    /* Results of a run elsewhere, used in place of computing them. Returns the whole tensor as HBM would have
     * it; the device takes the tile of this iteration. `index` per level of the op's nest. The judge and all
     * else work as without it. May be NULL. */
    const void *(*made)(void *context, int32_t op, int operand, const int64_t *index);
    lx_host_op *host_op; /* NULL: the bytes of the operands are mixed, like for any op of unknown meaning */
    void *context;
};

/* Counted bytes and operations. `lx_*` count the sticks that a core touches in its scratchpad, each once per
 * access. HBM bytes count once, whatever the number of cores that want them, for the first of these cores. */
struct lx_counters {
    int64_t hbm_read, hbm_written, lx_read, lx_written, ring, reduce_ring, flops;
};

void lx_counters_add(struct lx_counters *to, const struct lx_counters *from);

#define LX_FAULTS(X)                                                                                         \
    X(LX_FAULT_PLACE, "no place", "an access to a buffer that has no address where it is needed")            \
    X(LX_FAULT_BOUNDS, "out of bounds", "an address outside the memory, or inside a stick")                  \
    X(LX_FAULT_PART, "not its part", "a core wants sticks that are not in its part of the buffer")           \
    X(LX_FAULT_LIFE, "outside its life", "an access before a buffer begins or after it ends")                \
    X(LX_FAULT_UNWRITTEN, "unwritten", "a read of bytes that nobody has written")                            \
    X(LX_FAULT_WIPED, "wiped", "a read of a scratchpad that was wiped, by an extern op or between bundles")  \
    X(LX_FAULT_OVERWRITTEN, "overwritten", "a read of bytes that another buffer has overwritten")            \
    X(LX_FAULT_STALE, "stale", "a read of an older (or newer) value than the program means")                 \
    X(LX_FAULT_MISPLACED, "misplaced", "a read of another part of the right tensor")                         \
    X(LX_FAULT_INCOMPLETE, "incomplete", "a read of a sum over tiles that has not all of them, or others")   \
    X(LX_FAULT_LIVE, "overwrites", "a write over a buffer that is live")                                     \
    X(LX_FAULT_EARLY, "early", "a read before another core has written, or before a load of it has ended")   \
    X(LX_FAULT_HASTY, "overwrites early", "a write before another core has read, as no sync makes it wait")  \
    X(LX_FAULT_HANDOVER, "handover", "a slot taken over against the rules of working in place")              \
    X(LX_FAULT_GRID, "outside the grid", "arguments of a launch that lead outside its grid of tiles")        \
    X(LX_FAULT_TWICE, "computed twice", "an element that two turns of one launch compute")                   \
    X(LX_FAULT_NEVER, "never computed", "an element that no turn of a launch computes")                      \
    X(LX_FAULT_LOST, "lost", "a graph output that HBM does not have in the end")                             \
    X(LX_FAULT_PLAN, "plan", "an entry of the plan that means nothing")

#define LX_FAULT_ENUM(id, word, help) id,
enum lx_fault_kind { LX_FAULTS(LX_FAULT_ENUM) LX_FAULT_KINDS };
#undef LX_FAULT_ENUM
const char *lx_fault_word(enum lx_fault_kind k);
const char *lx_fault_help(enum lx_fault_kind k);

/* One fault: the first faulty stick of a core's access, and the number of faulty sticks. */
struct lx_fault {
    enum lx_fault_kind kind;
    int32_t tick;      /* op, or transfers of its tick; op_count: after the last op */
    int64_t iteration; /* of its nest, from 0 on; -1: no nest */
    int32_t core;      /* -1: no core, the fault is in HBM */
    int32_t tensor;    /* accessed tensor; -1: none */
    int32_t stay;      /* accessed stay; -1: the tensor in HBM */
    int32_t owner;     /* tensor that owns the bytes; -1: none */
    int64_t address;   /* in the core's scratchpad or in HBM; -1: none */
    int64_t sticks;
    const char *text; /* the fault in words */
};

enum { LX_MAX_FAULTS = 256 }; /* kept faults; all are counted */

struct lx_op_run {
    struct lx_counters counted;
    int64_t cores_used;
    double device_us, end_to_end_us; /* predicted: device time; its share of its bundle's end-to-end time */
    bool verified;                   /* its output was judged */
    int64_t wrong;                   /* elements (if only bytes are known, bytes) beyond their bound */
    int64_t altered;   /* elements of its operands whose bits changed since they were put or made */
    double error;      /* largest absolute difference from the exact result */
    double bound;      /* the largest bound of any element; 0: every bit is determined */
    double share;      /* largest difference / its own bound; infinite: a determined bit is wrong */
    double largest;    /* absolute, of the exact result */
    uint64_t hash;     /* of the bits of its results in host order; 0: not read back */
    bool counts_agree; /* with the plan */
    /* On a machine that has a clock: copies and work of the slowest core; the wait before of the one that
     * comes last. 0: not measured. */
    double measured_us, measured_wait_us;
    int64_t asked_bytes; /* of memory beyond the scratchpads, by all cores; 0: not counted */
};

/* A graph output against the whole pattern in fp64. */
struct lx_output_run {
    int32_t tensor;  /* of the pattern */
    bool known;      /* false: not compared, or made from bits that rounding changes */
    double error;    /* largest absolute difference */
    double largest;  /* absolute, of the reference */
    double relative; /* error / largest */
};

struct lx_run_result {
    bool ok; /* no fault, no wrong element, every count as planned */
    int32_t op_count;
    int64_t cores; /* of the device */
    const struct lx_op_run *ops;
    const struct lx_counters *by_core; /* [op * cores + core] */
    const int64_t *transfer_bytes;     /* per transfer of the plan, as counted */
    const int64_t
        *lx_in_use; /* [op * cores + core]: bytes that hold a live buffer's value; NULL: not asked for */
    struct lx_counters total;
    int64_t height_bytes; /* the highest byte in use of a scratchpad */
    const struct lx_fault *faults;
    int64_t fault_count; /* at most LX_MAX_FAULTS are in `faults` */
    int32_t wrong_ops;   /* ops whose output is beyond its bounds, or whose operands were altered */
    int32_t unequal_ops; /* ops whose counts are not the plan's */
    const char *unequal; /* the first unequal count, in words; NULL: all agree */
    int32_t worst_op;    /* the op with the largest share of its bound; -1: none was judged */
    double share;        /* of worst_op */
    const struct lx_output_run *outputs;
    int32_t output_count;
    double relative_error;           /* the largest of the outputs; negative: unknown for all */
    int32_t unknown_outputs;         /* outputs to be judged from end to end whose fp64 value is unknown */
    uint64_t output_hash;            /* of all graph outputs in HBM */
    double device_us, end_to_end_us; /* predicted */
    double seconds;                  /* of the host, with the reference if it was made */
    struct arena *memory;
};

/* NULL: `st` is the reason why the plan cannot be run (a bare list, memory, cancelled). A wrong plan gives a
 * result that is not ok. */
struct lx_run_result *lx_device_run(const struct lx_plan *plan, const struct lx_device_options *how,
                                    lx_status *st);

/* The same, tick by tick: inputs into HBM; each op with its transfers and its verification; the outputs and
 * the verdict. `end` and `abandon` free the device. A tick that fails (cancelled, memory, the host) is the
 * last.
 *
 *     struct lx_execution *d = lx_device_begin(plan, &how, &st);
 *     while (d && lx_device_next(d) < ops && lx_device_tick(d, &st)) ...
 *     r = lx_device_next(d) == ops ? lx_device_end(d, &st) : (lx_device_abandon(d), NULL); */
struct lx_execution;
struct lx_execution *lx_device_begin(const struct lx_plan *plan, const struct lx_device_options *how,
                                     lx_status *st);
/* The op of the next tick; ops of a nest come again and again. op_count: all are done. */
int32_t lx_device_next(const struct lx_execution *d);
bool lx_device_tick(struct lx_execution *d, lx_status *st);
struct lx_run_result *lx_device_end(struct lx_execution *d, lx_status *st);
void lx_device_abandon(struct lx_execution *d);

void lx_run_result_free(struct lx_run_result *r);

/* The run as Chrome/Perfetto trace events: malloc'ed, or NULL when memory is out. Predicted time, one row per
 * core and one for the transfers. */
char *lx_run_trace(const struct lx_plan *plan, const struct lx_run_result *r, size_t *length);
