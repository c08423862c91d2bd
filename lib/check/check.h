/* The parts of the checker. Private to the room.
 *
 * The checker believes a plan's statements only: the order of ops, layouts, splits, buffers with their lives
 * and addresses, the buffer of each access, copies, launches, addresses in HBM. It derives everything else by
 * code that shares nothing with the planner: the sticks that a core touches (check_cuts.c, check_zones.c),
 * the place of every value at every moment (check_replay.c), and all figures (check_figures.c). */
#pragma once

#include "base/base.h"
#include "layout/op_index.h"
#include "plan/plan.h"

/* The split of an op, or of its tile in a nest, over the cores. Core c has slice (c / stride) mod split of
 * each variable. */
struct cut {
    struct op_index x; /* extents: of one tile */
    const struct lx_nest *nest;
    int64_t tiles[LX_MAX_VARS];
    int level_var[LX_MAX_LEVELS]; /* variable that each level of the nest cuts */
    int64_t cores;
    int64_t split[LX_MAX_VARS], unit[LX_MAX_VARS], width[LX_MAX_VARS], stride[LX_MAX_VARS];
    int64_t sum_slices; /* number of partial sums per element */
};

/* Positions in each device dimension, without the inside of the stick. */
struct zone {
    int rank;
    int64_t lo[LX_MAX_DEVICE_RANK], hi[LX_MAX_DEVICE_RANK];
    int64_t count[LX_MAX_DEVICE_RANK]; /* positions touched in [lo, hi): all, or fewer where a view jumps */
};

/* The parts of a tensor on the cores: core c has part (c / stride) mod slices of each device dimension. */
struct parts {
    int64_t cores;
    int rank;
    int64_t slices[LX_MAX_DEVICE_RANK], stride[LX_MAX_DEVICE_RANK];
    int64_t tiles[LX_MAX_DEVICE_RANK];  /* of a nest along the dimension */
    int64_t blocks[LX_MAX_DEVICE_RANK]; /* tiles of inner loops, each cut in slices */
    int64_t low[LX_MAX_DEVICE_RANK],
        high[LX_MAX_DEVICE_RANK]; /* positions around its slice that a core has too */
    bool touched_whole;           /* the op whose view this is touches exactly these parts */
    bool within;                  /* that op touches nothing outside of its parts */
};

/* Effect of a nest on a tensor of its ops. Sets of levels are bits; the outermost level is 1. */
struct looped {
    unsigned indexed, summed; /* levels that cut the tensor; levels over which its maker in the run sums */
    signed char dim[LX_MAX_LEVELS];
};
enum { WRITTEN_NEVER = -1, WRITTEN_OFTEN = -2 };

/* Phases of a tick; a moment is 3 x steps + phase. */
enum phase { PHASE_COPIES_IN, PHASE_OP, PHASE_STORES, PHASES };

struct checker {
    const struct lx_plan *p;
    const struct lx_graph *g; /* the graph with layouts */
    const struct lx_layouts *l;
    struct arena *memory;
    int32_t *nest_of;              /* per op, or -1 */
    int32_t *writer;               /* per tensor: the one op that writes it, or WRITTEN_... */
    struct looped *looped;         /* per access; empty outside of nests */
    struct lx_op_traffic *traffic; /* per op, counted by the checker, in all iterations */
    struct lx_figures
        figures; /* counted likewise; perfect_hbm_bytes: a lower bound for any plan with these layouts */
    lx_status *st;
};

/* check_values.c: the running graph computes what the pattern does. */
bool check_values(const struct checker *c);
/* check_layouts.c: the sticks of operands run along the right variables. */
bool check_layouts(const struct checker *c);
/* check_nests.c: loops around runs of ops. Runs before the others, which use the functions below. */
bool check_nests(struct checker *c);

/* check_values.c: if the pattern came from another: is it that one with running sums instead of softmax? */
bool check_origin(const struct checker *c);
/* NULL: the op is in no nest. */
const struct lx_nest *loops_of(const struct checker *c, int32_t op);
/* Empty where the nest (NULL: none) does not access the tensor. */
struct looped looped_in(const struct checker *c, const struct lx_nest *n, int32_t tensor);
/* Iterations of these levels. */
int64_t loop_count(const struct lx_nest *n, unsigned levels);
/* The set of the levels up to a hold, and of all levels. */
static inline unsigned loops_to(int hold)
{
    return (1u << hold) - 1;
}
static inline unsigned all_loops(const struct lx_nest *n)
{
    return n ? loops_to(n->level_count) : 0;
}

/* check_cuts.c: the splits of the plan are legal by sticks, cores and spans. */
void cut_of_op(const struct checker *c, int32_t op, struct cut *out);
bool check_cuts(const struct checker *c);

/* check_zones.c */
int64_t whole_bytes(const struct checker *c, int32_t tensor);
/* The parts of a buffer with the view of an operand, in the slice that the levels up to `hold` fix. */
struct parts parts_of_operand(const struct checker *c, const struct cut *cut, int32_t op, int operand,
                              int hold);
bool parts_equal(const struct parts *a, const struct parts *b);
/* Sticks of a core's part, and sticks of a core under both layouts. */
int64_t part_sticks(const struct lx_layout *l, const struct parts *p, int64_t core);
int64_t part_common_sticks(const struct lx_layout *l, const struct parts *a, const struct parts *b,
                           int64_t core);
/* Positions [*lo, *hi) of a core in each block of device dimension d, and how long a block is. */
int64_t piece_of_part(const struct lx_layout *l, const struct parts *p, int d, int64_t core, int64_t *lo,
                      int64_t *hi);
struct zone zone_of_part(const struct lx_layout *l, const struct parts *p, int64_t core);
/* Positions that core `core` touches of an operand, in the first iteration. `core` -1: all cores, all
 * iterations. */
struct zone zone_touched(const struct checker *c, const struct cut *cut, int32_t op, int operand,
                         int64_t core);

bool zone_empty(const struct zone *z);
bool zone_within(const struct zone *inner, const struct zone *outer);
int64_t zone_sticks(const struct zone *z);
/* Bytes of `sticks` sticks; of a tensor known by its bytes, always these. */
int64_t bytes_of_sticks(const struct checker *c, int32_t tensor, int64_t sticks);

/* check_buffers.c: sizes, places, handovers of buffers on chip. */
bool check_buffers(const struct checker *c, struct parts *parts);
bool check_list(const struct lx_plan *p, lx_status *st);
/* check_loops.c: no loop finds a value lost in its second iteration. */
bool check_loops(const struct lx_list *list, const int64_t *address, const int32_t *pool, lx_status *st);
/* Does the op that writes `child` read `parent` for the last time, at the same elements that it writes? */
bool may_take_place(const struct checker *c, int32_t child, int32_t parent, const struct parts *parts);
/* Bytes of the largest part of a core. */
int64_t part_bytes(const struct checker *c, int32_t tensor, const struct parts *p);

/* check_claims.c: claims about buffers that a run does not need. */
bool check_claims(const struct checker *c, const struct parts *parts);
/* The off-chip cost of buffers. */
bool check_prices(const struct checker *c);

/* check_issues.c: copies that begin before they are due. */
bool check_issues(const struct checker *c);
/* check_replay.c: every op finds what it reads. `parts`: per buffer. */
bool check_replay(struct checker *c, const struct parts *parts);
/* check_figures.c: counts the traffic of all iterations; compares the bytes of copies. */
bool count_traffic(struct checker *c, const struct parts *parts);
/* HBM bytes of an operand off chip: its touched sticks, once; and in all iterations. */
int64_t touched_bytes(const struct checker *c, const struct cut *k, int32_t op, int operand);
int64_t check_access_bytes(const struct checker *c, const struct cut *k, int32_t op, int operand);

/* check_syncs.c: no core runs into what another one has not ended. */
bool check_syncs(struct checker *c, const struct parts *parts);

/* check_hbm.c: what HBM holds when. */
struct hbm_lives;
struct hbm_lives *hbm_begin(const struct checker *c);
void hbm_written(struct hbm_lives *h, int32_t tensor, int64_t time);
void hbm_seen(struct hbm_lives *h, int32_t tensor, int64_t time);
bool hbm_check(const struct checker *c, struct hbm_lives *h);
void hbm_end(struct hbm_lives *h);

/* check_bundles.c: runs of ops that are launched together, after the replay; and sums of predicted times. */
bool check_bundles(const struct checker *c);
bool check_times(const struct checker *c);
/* check_launches.c: tiles cover every output once, by cores that hold the operands. */
bool check_launches(const struct checker *c);

/* Compares every figure of the plan with the counted one. */
bool check_figures(struct checker *c);
