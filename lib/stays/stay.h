/* A stay is a residency: a time that a tensor spends on chip, at one address on every core, divided over the
 * cores in one way (its view). Other accesses of the tensor read and write HBM. A plain intermediate has one
 * stay, from the op that writes it to its last reader. The passes make others:
 *
 *     clone of an input      a stay that begins with a load
 *     output made on chip    a stay that is stored
 *     eviction               two stays of one tensor: the first is stored, the second is loaded
 *     dump around an extern  the same, at the op that runs off the device
 *     relayout               two stays with different views: the second is filled over the ring
 *     move                   two stays with one view, one after the other: each core copies its part
 *     in place               a stay that takes over the slot of one that ends with the op (lx_buffer.parents)
 *
 * Each stay is one buffer of the placement problem, under the same number. Stay i < number of tensors is the
 * first of tensor i; further ones follow. If a buffer is off chip, the accesses of its stay go to HBM. The
 * placement determines the copies (lx_transfer): a load when a stay begins with a read, a store after the
 * last write if HBM needs the value.
 *
 * At tick t: moves, loads and ring copies of tick t, then the op, then the stores. Moves come one after the
 * other; none overwrites bytes that a later one copies. Every scratchpad is wiped before a bundle, so no stay
 * crosses its border.
 *
 * A load may be issued before its due tick (lx_transfer.ahead): after the copies that are due at the issue
 * tick, beside its op. Its stay lives from the issue on; its bytes are there at the due tick.
 *
 * A stay that a nest fills again and again (hold above 0) may have two or three slots, one behind the other:
 * its stages. It then lives for the whole nest. The first fill issues one fill for each further slot, too;
 * each later fill issues one more, into the slot whose slice is over. */
#pragma once

#include "divide/divide.h"
#include "placement/problem.h"

/* Why a stay may not be on chip; the first that holds. The words are shown and written in JSON. */
#define LX_EXCLUSIONS(X)                                                                                     \
    X(LX_EXCLUDED_NONE, "none", "it may be on chip")                                                         \
    X(LX_EXCLUDED_UNUSED, "unused", "no op uses it")                                                         \
    X(LX_EXCLUDED_EXTERN, "extern user", "an op that runs off the device reads and writes HBM only")         \
    X(LX_EXCLUDED_BOUNDARY, "graph boundary", "a graph input or output that is not copied")                  \
    X(LX_EXCLUDED_STATED, "stated", "the pattern says hbm")                                                  \
    X(LX_EXCLUDED_STAGE, "stage", "the stage that is asked for leaves it in HBM")                            \
    X(LX_EXCLUDED_PARTIAL, "partial read", "cores would read parts that are not theirs")                     \
    X(LX_EXCLUDED_DIVISION, "core-division mismatch", "two ops cut it over the cores in different ways")     \
    X(LX_EXCLUDED_NEST, "nest", "a nest reads it elsewhere before all of it is made")                        \
    X(LX_EXCLUDED_NO_GAIN, "no gain", "a place on chip would save nothing: nobody reads it again")           \
    X(LX_EXCLUDED_SIZE, "too large", "a core's part is larger than its scratchpad")

#define LX_EXCLUDED_ENUM(id, word, help) id,
enum lx_exclusion { LX_EXCLUSIONS(LX_EXCLUDED_ENUM) LX_EXCLUDED_COUNT };
#undef LX_EXCLUDED_ENUM

const char *lx_exclusion_word(enum lx_exclusion b);

struct lx_stay {
    int32_t tensor;      /* of the graph with layouts */
    int32_t first, last; /* ops that access it, both included; ticks */
    int32_t view_op;     /* it has this op's view of the tensor */
    int view_operand;    /* through this operand */
    int hold;            /* in a nest: slice fixed by the levels up to this one; 0: whole */
    int stages;          /* slots of a slice that is loaded; 0 or 1: one */
    int32_t ring_source; /* stay that fills it over the data ring, if that one is placed; or -1 */
    int32_t moved_from;  /* stay that it continues at another address, if that one is placed; or -1 */
    bool begins_written; /* its first access writes the whole tensor */
    bool cost_unstated;  /* in the plan file that it is from */
    enum lx_exclusion exclusion;
};

enum { LX_MOST_STAGES = 3 };
static inline int lx_stages(const struct lx_stay *s)
{
    return s->stages > 1 ? s->stages : 1;
}

/* One access of a tensor by an op. */
struct lx_access {
    int32_t tensor, stay; /* stay: serves the access if placed; -1: always HBM */
    bool reads, writes;   /* both: the op keeps elements, or reads before it overwrites */
    int64_t bytes;        /* HBM bytes if it is off chip: sticks touched, in all iterations */
    int64_t again;        /* of these, partial sums that a nest reads back */
};

/* A copy that a placement asks for. */
enum lx_transfer_kind { LX_LOAD, LX_STORE, LX_RING, LX_MOVE, LX_TRANSFER_KINDS };

static inline bool lx_through_hbm(enum lx_transfer_kind kind)
{
    return kind == LX_LOAD || kind == LX_STORE;
}

const char *lx_transfer_word(enum lx_transfer_kind kind);

struct lx_transfer {
    enum lx_transfer_kind kind;
    int32_t tick;         /* LX_STORE: after the op of this tick; the others: before it */
    int32_t stay, source; /* source: for LX_RING and LX_MOVE, else -1 */
    int64_t bytes;        /* HBM bytes; LX_RING: received from other cores; LX_MOVE: copied by all cores */
    int32_t ahead;        /* LX_LOAD: ticks from its issue to `tick`, where it is due */
};

static inline int32_t lx_issue_tick(const struct lx_transfer *t)
{
    return t->tick - t->ahead;
}

/* Bytes and time of one op with the transfers of its tick; the device counts the same numbers. */
struct lx_op_traffic {
    int64_t hbm_read, hbm_written; /* operands off chip, loads and stores */
    int64_t ring;                  /* relayouts */
    int64_t reduce_ring; /* split reductions: (slices - 1) parts a sum, twice where the sum stays on chip */
    int64_t lx_read, lx_written; /* sticks that each core touches in the op, once per access; and moves */
    double device_us;            /* predicted by lib/cost: the op and the copies of its tick */
    double end_to_end_us;        /* its share of its bundle's time, by device time */
    int64_t cores;               /* cores that work on the op */
};

/* A point between two ticks at which all cores of the bundle wait for each other. */
struct lx_sync {
    int32_t before; /* op */
    bool in_loop;   /* in each iteration of the op's nest; else once, and never inside a nest */
};

/* Ops that are launched as one kernel; the scratchpads are wiped before, unless the bundle before is
 * non-terminal. An extern op is one of its own. */
struct lx_bundle {
    int32_t first, count; /* ops */
    bool is_extern;
    bool non_terminal; /* no context switch before the next bundle: what lives on needs the scratchpads */
    int64_t tensors;   /* that its ops read, write, load or store in HBM, each counted once */
    int64_t operands;  /* through HBM: accesses off chip, loads and stores, each one */
    int64_t cores;     /* of the op that uses most */
    double device_us, end_to_end_us;
};

/* The passes around the solver, in their order. lx_passes() has their names and help. */
enum lx_clone { LX_CLONE_AUTO, LX_CLONE_HEURISTIC, LX_CLONE_NONE, LX_CLONE_COUNT };
enum lx_cooptimise_mode { LX_COOPTIMISE_NONE, LX_COOPTIMISE_FLIP, LX_COOPTIMISE_FULL, LX_COOPTIMISE_COUNT };
/* The steps of the softmax table; LX_STAGE_ALL is everything that the passes allow. */
enum lx_stage { LX_STAGE_ALL, LX_STAGE_BASELINE, LX_STAGE_REDUCTIONS, LX_STAGE_IN_PLACE, LX_STAGE_COUNT };

/* Runs of ops in loops over tiles. */
enum lx_tile_mode { LX_TILE_AUTO, LX_TILE_NONE, LX_TILE_COUNT };
enum lx_online_mode { LX_ONLINE_AUTO, LX_ONLINE_NONE, LX_ONLINE_COUNT };

/* Loads that are issued before they are due. */
enum lx_prefetch_mode { LX_PREFETCH_AUTO, LX_PREFETCH_NONE, LX_PREFETCH_COUNT };

enum lx_matmul { LX_MATMUL_COST, LX_MATMUL_RULE, LX_MATMUL_COUNT };

struct lx_passes {
    bool undivided;  /* every op on one core, whole tensors */
    int weights;     /* enum lx_weights: may the host pack them? */
    int matmul;      /* enum lx_matmul: how a contraction is divided */
    int cooptimise;  /* enum lx_cooptimise_mode */
    bool by_time;    /* co-optimise predicted time; else traffic, then time */
    int clone;       /* enum lx_clone: graph inputs copied on chip by the solver's choice, by the rule */
    bool no_outputs; /* graph outputs are never produced on chip */
    bool no_in_place;
    bool no_dump; /* off chip: whatever an extern op would wipe */
    bool no_ring; /* ops that split a tensor differently share it through HBM only */
    bool reorder; /* independent ops may change places */
    bool move;    /* stays may change their addresses: a copy inside each scratchpad */
    bool evict;   /* stays may be cut: a tensor leaves and comes back */
    int tile;     /* enum lx_tile_mode */
    int online;   /* enum lx_online_mode: where there are tiles */
    int prefetch; /* enum lx_prefetch_mode: where plans are compared by time */
    int stage;    /* enum lx_stage */
};
