/* A plan: a placement problem, a solver's checked answer, and all that is needed to check it elsewhere. */
#ifndef LX_PLAN_PLAN_H
#define LX_PLAN_PLAN_H

#include "graph/graph.h"
#include "search/request.h"

struct draft;

/* What a plan comes to, in bytes but for the times. Of a list the traffic is the cost of what is off chip. */
struct lx_figures {
    int64_t hbm_bytes;          /* traffic of the plan: operands off chip, loads and stores, over all ops */
    int64_t baseline_hbm_bytes; /* the same with everything off chip */
    int64_t perfect_hbm_bytes;  /* the same in scratchpads without limit: nothing goes below */
    int64_t spill_bytes;        /* hbm_bytes - perfect_hbm_bytes */
    int64_t height_bytes;       /* the highest end of a placed buffer */
    int64_t bound_bytes;        /* proved: no plan with these divisions and passes has less spill */
    int64_t ring_bytes;
    int64_t sync_times;              /* that all cores of a bundle wait for each other, in all iterations */
    double device_us, end_to_end_us; /* predicted: the device at work; launched, bundle by bundle */
    double bound_us; /* where time is asked for: no plan of the graph takes less from end to end */
};

struct lx_plan {
    /* Inputs: what was asked. */
    const struct lx_graph *graph; /* a reference: the pattern */
    struct lx_passes passes;      /* that it is made with */
    bool asks_time; /* the end-to-end time is to be least; the problem's buffers cost bytes all the same */
    struct lx_launch_options launch;
    const char *solver; /* by name: a plan that was read may name one we do not have */
    uint64_t seed;
    int64_t work_limit;
    const char *options; /* "name=value ..." of those that differ from their defaults */

    /* Structure: what was decided, as it runs. A list has none of it. */
    const struct lx_layouts *layouts; /* layouts->graph has the ops as they run */
    const struct lx_divisions *divisions;
    const int32_t *order;        /* per tick: the op's place before reordering; NULL: nothing was moved */
    const struct lx_nest *nests; /* in order of time; ops by their ticks */
    int32_t nest_count;
    const struct lx_stay *stays;      /* per buffer */
    const struct lx_access *accesses; /* of op o: from access_at[o], its inputs in order, then its output */
    const int32_t *access_at;
    const struct lx_transfer *transfers; /* by tick; at one tick loads and rings first, then stores */
    int32_t transfer_count;
    const struct lx_bundle *bundles; /* in order; together they are all ops */
    int32_t bundle_count;
    const struct lx_sync *syncs; /* in order of time; NULL: not stated */
    int32_t sync_count;
    /* Per op of layouts->graph: how it is launched, as made or as a file states it. */
    const struct lx_op_launch *launches;
    int64_t *hbm_address;        /* per tensor: where it is in HBM; -1: never there */
    int64_t pool_at, pool_bytes; /* the segment of off-chip intermediates */
    int64_t segment_bytes;       /* all of HBM that the plan uses */

    /* Answer: the problem, and where its buffers are. */
    struct lx_problem problem; /* one buffer per stay; or the list's own */
    struct lx_answer answer;
    const char **reason;   /* per buffer: why it is off chip; NULL where it is on chip */
    int32_t *took_slot_of; /* per buffer: the parent in whose place it stands, or -1 */

    /* Figures. */
    struct lx_figures figures;
    struct lx_op_traffic *traffic; /* per op of layouts->graph; NULL for a list */
    struct lx_joint joint;
    struct lx_gain gains[LX_MOST_GAINS]; /* of the steps that ran, in order */
    int gain_count;
    const char
        *unproved;  /* in words why it may not be the least; NULL: it is, or the plan was read; not written */
    double seconds; /* of the solver; not written, plans are reproducible */

    /* Private to the stage; NULL for a list: decisions; the draft (NULL: read from a file); and their
     * sources. */
    const struct decisions *how;
    struct draft *draft;
    struct lx_layouts *own_layouts;
    struct lx_divisions *own_divisions;
    const struct lx_plan *lender; /* whose these two are: a reference; NULL: the plan's own */
    bool lends;                   /* they are what every plan of the graph begins with; not those of a file */
    struct arena *memory;
    struct users *users;
};

/* The plan holds a reference to the graph. NULL: `st` says why. */
struct lx_plan *lx_plan_make(const struct lx_graph *g, const struct lx_plan_options *options, lx_status *st);
/* The plan of a list with an answer reported on the way (lx_progress). Has no reasons for buffers off
 * chip. */
struct lx_plan *lx_plan_of_answer(const struct lx_graph *list, const struct lx_plan_options *options,
                                  const struct lx_progress *so_far, lx_status *st);
/* One more reference; NULL gives NULL. A shared plan is never changed; lx_plan_free gives a reference
 * back. */
const struct lx_plan *lx_plan_ref(const struct lx_plan *p);
void lx_plan_free(const struct lx_plan *p);

/* Has the pattern a target, and does the plan reach it? Without one: true. */
bool lx_plan_meets_target(const struct lx_plan *p);
/* Is every tensor on chip of which the pattern says so? False: `st` says which is not, where and why. */
bool lx_plan_stated_met(const struct lx_plan *p, lx_status *st);

/* What is known of a claim: nothing is claimed; it is the maker's word; it is verified. */
#define LX_BOUND_STATES(X)                                                                                   \
    X(LX_BOUND_NONE, "not claimed")                                                                          \
    X(LX_BOUND_CLAIMED, "claimed")                                                                           \
    X(LX_BOUND_VERIFIED, "verified")

#define LX_BOUND_STATE_ENUM(id, word) id,
enum lx_bound_state { LX_BOUND_STATES(LX_BOUND_STATE_ENUM) LX_BOUND_STATE_COUNT };
#undef LX_BOUND_STATE_ENUM

const char *lx_bound_word(enum lx_bound_state s);

/* What the checker found of a legal plan. */
struct lx_check_report {
    int64_t hbm_bytes;        /* counted by the checker */
    int64_t compulsory_bytes; /* traffic that no plan with these layouts goes below; 0 for lists */
    int64_t bound_bytes;      /* as claimed, on spill or height */
    int64_t known_bytes;      /* the bound that the checker knows itself */
    enum lx_bound_state bound, optimality;
};

/* Is the plan legal, and are its figures true? Shares no code with the planner. False: `st` with LX_E_NO. */
bool lx_plan_check(const struct lx_plan *p, lx_status *st);
bool lx_plan_check_report(const struct lx_plan *p, struct lx_check_report *out, lx_status *st);

/* The objective: height if asked for (INT64_MAX where not all is placed), else spill. */
int64_t lx_plan_objective(const struct lx_plan *p);
/* What is paid, HBM bytes (of a list its cost) or height, and the least of it that is proved. */
int64_t lx_plan_value(const struct lx_plan *p);
int64_t lx_plan_least(const struct lx_plan *p);
/* (value - least) / least, of bytes, height or time; INFINITY where nothing above 0 is proved. */
double lx_plan_gap(const struct lx_plan *p);
/* Where operand `operand` (inputs in order, then the output) of op `op` is: its stay, or -1 for HBM. */
int32_t lx_plan_place(const struct lx_plan *p, int32_t op, int operand);
/* How op `op` is launched, its operands being where the plan has them. NULL: `st`. */
struct lx_op_launch *lx_plan_launch(const struct lx_plan *p, int32_t op,
                                    const struct lx_launch_options *options, lx_status *st);

/* The plan as JSON: malloc'ed, or NULL when memory is out. Same plan, same bytes. */
char *lx_plan_to_json(const struct lx_plan *p, size_t *length);
struct lx_plan *lx_plan_read(const char *path, lx_status *st);
struct lx_plan *lx_plan_of_text(const char *file, const char *text, size_t length, lx_status *st);

/* Is this text a plan file (and not a pattern)? Only its `kind` is looked at, wherever it stands. */
bool lx_is_plan(const char *text, size_t length);

#endif
