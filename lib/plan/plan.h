/* A plan: a placement problem, a solver's checked answer, and all data needed to check it elsewhere. */
#pragma once

#include "search/request.h"

struct draft;

/* Figures of a plan, in bytes except the times. For a buffer list the traffic is the cost of buffers off
 * chip. */
struct lx_figures {
    int64_t hbm_bytes;          /* traffic: operands off chip, loads and stores, over all ops */
    int64_t baseline_hbm_bytes; /* the same with everything off chip */
    int64_t perfect_hbm_bytes;  /* the same with unlimited scratchpads: a lower bound */
    int64_t spill_bytes;        /* hbm_bytes - perfect_hbm_bytes */
    int64_t height_bytes;       /* the highest end of a placed buffer */
    int64_t bound_bytes;        /* no plan with these divisions and passes has less spill */
    int64_t ring_bytes;
    int64_t sync_times;              /* that all cores of a bundle wait for each other, in all iterations */
    double device_us, end_to_end_us; /* predicted: the device at work; launched, bundle by bundle */
    double bound_us; /* where time is asked for: no plan of the graph takes less from end to end */
};

struct lx_plan {
    /* Inputs. */
    const struct lx_graph *graph; /* the pattern: a reference */
    struct lx_imported imported; /* of a model: what became of its file, as the graph or the plan file says */
    struct lx_passes passes;     /* used to make it */
    bool balanced;  /* it is compared by bytes among plans near the fastest; bound_us is known, too */
    bool asks_time; /* the objective is end-to-end time; the problem's buffers still cost bytes */
    struct lx_launch_options launch;
    const char *solver; /* by name: a plan file may name a solver that we do not have */
    uint64_t seed;
    int64_t work_limit;
    const char *options; /* "name=value ..." of options that differ from their defaults */

    /* Structure: all decisions, in the order of the run. Not for buffer lists. */
    const struct lx_layouts *layouts; /* layouts->graph has the ops in the order of the run */
    const struct lx_divisions *divisions;
    const int32_t *order;        /* per tick: index of the op before reordering; NULL: not reordered */
    const struct lx_nest *nests; /* in order of time; ops by their ticks */
    int32_t nest_count;
    const struct lx_stay *stays;      /* per buffer */
    const struct lx_access *accesses; /* of op o: from access_at[o], its inputs in order, then its output */
    const int32_t *access_at;
    const struct lx_transfer *transfers; /* by tick; within a tick loads and rings, then stores */
    int32_t transfer_count;
    const struct lx_bundle *bundles; /* in order; they cover all ops */
    int32_t bundle_count;
    const struct lx_sync *syncs; /* in order of time; NULL: not stated */
    int32_t sync_count;
    /* Per op of layouts->graph: how it is launched, as made or as a file states it. */
    const struct lx_op_launch *launches;
    int64_t *hbm_address;        /* per tensor: address in HBM; -1: never there */
    int64_t pool_at, pool_bytes; /* the segment of off-chip intermediates */
    int64_t segment_bytes;       /* all HBM bytes that the plan uses */

    /* Answer: the problem and the places of its buffers. */
    struct lx_problem problem; /* one buffer per stay; or the list's own */
    struct lx_answer answer;
    const char **reason;   /* per buffer: why it is off chip; NULL where it is on chip */
    int32_t *took_slot_of; /* per buffer: the parent whose place it takes, or -1 */

    const char *certificate; /* of the bound, as JSON; NULL: none */

    /* Figures. */
    struct lx_figures figures;
    struct lx_op_traffic *traffic; /* per op of layouts->graph; NULL for a list */
    struct lx_joint joint;
    struct lx_gain gains[LX_MOST_GAINS]; /* per step that ran, in order */
    int gain_count;
    /* Why the plan may not be optimal, in words; NULL: it is, or the plan was read. Not written. */
    const char *unproved;
    /* Of `balanced`: fewer bytes that a slower plan moves, and its time; 0: none is known. Not written. */
    int64_t fewer_bytes;
    double fewer_bytes_us;
    double limit_us;   /* of `balanced`: plans that take no longer are compared by bytes. Not written. */
    double seconds;    /* wall time of planning; not written, so plans are reproducible */
    const void *ready; /* by the request's make_ready, in `memory`; NULL: not made */

    /* Private to the stage; NULL for a list: decisions; the draft (NULL: read from a file); layouts and
     * divisions before any decision. */
    const struct decisions *how;
    struct draft *draft;
    struct lx_layouts *own_layouts;
    struct lx_divisions *own_divisions;
    const struct lx_plan *lender; /* owner of these two: a reference; NULL: this plan */
    bool lends; /* work division made them, so other plans may share them; false for a file's */
    struct arena *memory;
    struct users *users;
};

/* The plan holds a reference to the graph. NULL: `st` says why. */
struct lx_plan *lx_plan_make(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st);
/* Makes the plan of a buffer list from an answer reported by a running solver (lx_progress), without reasons
 * for buffers off chip. */
struct lx_plan *lx_plan_of_answer(const struct lx_graph *list, const struct lx_plan_options *options,
                                  const struct lx_progress *so_far, lx_status *st);
/* The plan of a list that has a placement of its file (lx_list.address), legal or not. */
struct lx_plan *lx_plan_stated(const struct lx_graph *list, lx_status *st);
/* Adds a reference; NULL gives NULL. A shared plan is never changed; lx_plan_free drops a reference. */
const struct lx_plan *lx_plan_ref(const struct lx_plan *p);
void lx_plan_free(const struct lx_plan *p);
FREED_AT(plan_free_at, const struct lx_plan *, lx_plan_free)

/* True if the plan reaches the pattern's target, or the pattern has none. */
bool lx_plan_meets_target(const struct lx_plan *p);
/* True if every tensor that the pattern puts on chip or in HBM is there. False: `st` says which is not, where
 * and why. */
bool lx_plan_stated_met(const struct lx_plan *p, lx_status *st);

/* State of a claim: not claimed; the maker's word; verified. */
#define LX_BOUND_STATES(X)                                                                                   \
    X(LX_BOUND_NONE, "not claimed")                                                                          \
    X(LX_BOUND_CLAIMED, "claimed")                                                                           \
    X(LX_BOUND_VERIFIED, "verified")

#define LX_BOUND_STATE_ENUM(id, word) id,
enum lx_bound_state { LX_BOUND_STATES(LX_BOUND_STATE_ENUM) LX_BOUND_STATE_COUNT };
#undef LX_BOUND_STATE_ENUM

const char *lx_bound_word(enum lx_bound_state s);

/* Findings of the checker for a legal plan. */
struct lx_check_report {
    int64_t hbm_bytes;        /* counted by the checker */
    int64_t compulsory_bytes; /* no plan with these layouts moves less; 0 for lists */
    int64_t bound_bytes;      /* claimed bound, on spill or height */
    int64_t known_bytes;      /* the checker's own bound */
    enum lx_bound_state bound, optimality;
    int64_t least;     /* proved here: no plan has a lower value */
    const char *proof; /* class of the certificate that verifies the bound; NULL: it is not verified */
};

/* True if the plan is legal and its figures are true. Shares no code with the planner. False: `st` with
 * LX_E_NO. */
bool lx_plan_check(const struct lx_plan *p, lx_status *st);
bool lx_plan_check_report(const struct lx_plan *p, struct lx_check_report *out, lx_status *st);

/* Proves the plan's bound and keeps the certificate in it; without one if the proof is out of reach. */
void lx_plan_certify(struct lx_plan *p);

/* The objective: height if asked for (INT64_MAX if not all buffers are placed), else spill. */
int64_t lx_plan_objective(const struct lx_plan *p);
/* The value: HBM bytes (of a list its cost) or height; and the proved lower bound on it. */
int64_t lx_plan_value(const struct lx_plan *p);
int64_t lx_plan_least(const struct lx_plan *p);
/* (value - least) / least, of bytes, height or time; INFINITY if no bound above 0 is proved. */
double lx_plan_gap(const struct lx_plan *p);
/* The stay of operand `operand` (inputs in order, then the output) of op `op`, or -1 for HBM. */
int32_t lx_plan_place(const struct lx_plan *p, int32_t op, int operand);
/* The launch of op `op`, with operands at the plan's places. NULL: `st`. */
struct lx_op_launch *lx_plan_launch(const struct lx_plan *p, int32_t op,
                                    const struct lx_launch_options *options, lx_status *st);

/* The plan as JSON, malloc'ed. Equal plans give equal bytes. */
char *lx_plan_to_json(const struct lx_plan *p, size_t *length);
struct lx_plan *lx_plan_read(const char *path, lx_status *st);
struct lx_plan *lx_plan_of_text(const char *file, const char *text, size_t length, lx_status *st);

/* The same of a list with a placement, too. */
struct lx_plan *lx_plan_of_any(const char *file, const char *text, size_t length, lx_status *st);

/* True if this text is a plan file and not a pattern. Only its `kind` is read, at any position. */
bool lx_is_plan(const char *text, size_t length);
