/* The parts of the checker. Private to the room.
 *
 * A plan is believed in nothing but what it states: the order of ops, layouts, splits, buffers with their lives and
 * addresses, who is served by which buffer, copies, launches, addresses in HBM. What follows from that is derived
 * here, by code that shares nothing with the planner: which sticks a core touches (check_cuts.c, check_zones.c), where every value
 * is at every moment (check_replay.c), and all figures (check_figures.c). */
#ifndef LX_CHECK_CHECK_H
#define LX_CHECK_CHECK_H

#include "base/arena.h"
#include "layout/op_index.h"
#include "plan/plan.h"

/* How an op is cut over the cores. Core c has slice (c / stride) mod split of each variable. */
struct cut {
    struct op_index x;
    int64_t cores;
    int64_t split[LX_MAX_VARS], unit[LX_MAX_VARS], width[LX_MAX_VARS], stride[LX_MAX_VARS];
    int64_t sum_slices; /* parts that each sum is made of */
};

/* Positions of each device dimension but for the inside of the stick. */
struct zone {
    int rank;
    int64_t lo[LX_MAX_DEVICE_RANK], hi[LX_MAX_DEVICE_RANK];
    int64_t count[LX_MAX_DEVICE_RANK]; /* touched in [lo, hi): all of them, or fewer where a view jumps */
};

/* How a tensor lies over the cores: core c has part (c / stride) mod slices of each device dimension. */
struct parts {
    int64_t cores;
    int rank;
    int64_t slices[LX_MAX_DEVICE_RANK], stride[LX_MAX_DEVICE_RANK];
    bool touched_whole; /* the op that sees the tensor so touches exactly these parts */
};

/* What a tensor's HBM bytes hold from one write to the last look at it; time is 3 x tick + phase. */
enum phase { PHASE_COPIES_IN, PHASE_OP, PHASE_STORES, PHASES };

struct checker {
    const struct lx_plan *p;
    const struct lx_graph *g; /* as it runs */
    const struct lx_layouts *l;
    struct arena *memory;
    struct lx_op_traffic *traffic; /* per op, by our own count */
    struct lx_figures
        figures; /* likewise; perfect_hbm_bytes: the least that any plan with these layouts moves */
    lx_status *st;
};

/* check_values.c: the running graph computes what the pattern does. */
bool check_values(const struct checker *c);
/* check_layouts.c: the sticks of operands run as their ops need them. */
bool check_layouts(const struct checker *c);
/* check_cuts.c: the splits of the plan, legal by sticks, cores and spans. */
void cut_of_op(const struct checker *c, int32_t op, struct cut *out);
bool check_cuts(const struct checker *c);

/* check_zones.c */
int64_t whole_bytes(const struct checker *c, int32_t tensor);
struct parts parts_of_operand(const struct checker *c, const struct cut *cut, int32_t op, int operand);
bool parts_equal(const struct parts *a, const struct parts *b);
/* Of core `core`. */
struct zone zone_of_part(const struct lx_layout *l, const struct parts *p, int64_t core);
struct zone zone_touched(const struct checker *c, const struct cut *cut, int32_t op, int operand,
                         int64_t core);
/* By all cores together. */
struct zone zone_of_access(const struct checker *c, const struct cut *cut, int32_t op, int operand);
bool zone_empty(const struct zone *z);
bool zone_within(const struct zone *inner, const struct zone *outer);
int64_t zone_sticks(const struct zone *z);
int64_t zone_common_sticks(const struct zone *a, const struct zone *b);
/* Bytes of sticks of a tensor; of one known by its bytes never more than these. */
int64_t bytes_of_sticks(const struct checker *c, int32_t tensor, int64_t sticks);

/* check_buffers.c: sizes, places, handovers of buffers on chip. */
bool check_buffers(const struct checker *c, struct parts *parts);
bool check_list(const struct lx_plan *p, lx_status *st);

/* check_replay.c: every op finds what it reads; counts what moves. `parts`: per buffer. */
bool check_replay(struct checker *c, const struct parts *parts);

/* check_hbm.c: what HBM holds when. */
struct hbm_lives;
struct hbm_lives *hbm_begin(const struct checker *c);
void hbm_written(struct hbm_lives *h, int32_t tensor, int64_t time);
void hbm_seen(struct hbm_lives *h, int32_t tensor, int64_t time);
bool hbm_check(const struct checker *c, struct hbm_lives *h);
void hbm_end(struct hbm_lives *h);

/* check_bundles.c: runs of ops that are launched together; after the replay. */
bool check_bundles(const struct checker *c);
/* check_launches.c: tiles cover every output once, by cores that have what they need. */
bool check_launches(const struct checker *c);

/* check_figures.c: every figure of the plan against ours. */
bool check_figures(struct checker *c);
/* check_bounds.c: what is claimed of the best against what is known. */
int64_t compulsory_bytes(const struct checker *c);
bool check_bound(const struct lx_plan *p, int64_t least, struct lx_check_report *out, lx_status *st);

#endif
