/* The passes that make a team plan, in the order in which they run. Private to the stage. */
#ifndef LX_TEAM_TEAM_PRIVATE_H
#define LX_TEAM_TEAM_PRIVATE_H

#include "base/arena.h"
#include "layout/op_index.h"
#include "team/team.h"

/* A plan in the making: what lx_team_plan shows as const is still written here. */
struct team_draft {
    const struct lx_graph *g;
    const struct lx_team_options *how;
    const struct lx_team_plan *like; /* whose cuts it has; NULL: they are searched for */
    int devices;
    struct lx_team_grid grid;
    struct arena *memory;
    struct lx_team_tensor *tensors;
    struct lx_team_op *ops;
    struct lx_team_space **spaces; /* of the ops, while they are made */
    struct lx_team_exchange *exchanges;
    int32_t exchange_count;
    struct lx_team_group *groups;
    int32_t group_count;
    struct lx_team_step *steps;
    int32_t step_count;
    double predicted_us;
    bool unsharded;
};

bool team_choose_shards(struct team_draft *d, lx_status *st); /* choose_shards.c: what each axis cuts */
bool team_settle_bounds(struct team_draft *d,
                        lx_status *st); /* block_bounds.c: blocks, and where the ops run */
bool team_add_exchanges(struct team_draft *d, lx_status *st); /* exchange.c */
bool team_order_steps(struct team_draft *d, lx_status *st);   /* steps.c */

/* grid.c */
struct lx_team_box team_own_box(const struct lx_team_grid *grid, const struct lx_tensor *t,
                                const struct lx_team_tensor *how, int device);
/* Along how many dimensions a box reaches beyond what is owned. */
int team_beside(const struct lx_team_box *need, const struct lx_team_box *own);
/* The loop of a variable; -1: it is not cut. */
int team_loop_of(const struct lx_team_space *s, int var);
/* Does the axis cut a variable that is summed away, or has it parts of sums that are read? Then the result is parts. */
bool team_shards_sum(const struct op_index *x, const int var[LX_TEAM_AXES], int axis);
/* Have both devices parts of one sum? */
bool team_adds_with(const struct lx_team_grid *grid, const struct op_index *x, const int var[LX_TEAM_AXES],
                    int device, int other);
/* Does each of them keep his share of the result, instead of getting all shares? */
bool team_scatters(const struct lx_team_grid *grid, const struct op_index *x, const int var[LX_TEAM_AXES],
                   const struct lx_team_tensor *out);
/* The part of an op's output that a device adds up when partial results are combined; all of a scalar is the first one's
 * of those who do. */
struct lx_team_box team_share_of(const struct lx_graph *g, const struct lx_team_grid *grid,
                                 const struct lx_team_tensor *tensors, const int var[LX_TEAM_AXES],
                                 int32_t op, int device);

/* team_plan.c: what a plan with these cuts would exchange without the passes behind them. */
bool team_plain_bytes(const struct lx_team_plan *p, int64_t *bytes, lx_status *st);

/* op_needs.c. May axes cut a variable of the op: is a part of its values computed from parts of the operands? */
bool team_may_shard(const struct lx_op *op, const struct op_index *x, int v);
/* Can results of parts of its terms be combined? */
bool team_adds_up(const struct lx_op *op);
/* Are they not added up, but is the largest or the smallest of them taken? */
bool team_picks(const struct lx_op *op);
/* Is the op linear in its inputs together, or in one of them while the others stand; which one, as a bit each. */
bool team_linear(const struct lx_graph *g, const struct lx_op *op, unsigned *one);
/* Does the op read parts of that input; and along that axis? */
bool team_reads_partial(const struct lx_op *op, const int var[LX_TEAM_AXES], int input);
bool team_reads_partial_along(const struct lx_op *op, int var, int input);
/* What an op reads of an input (of an insertion, what it writes of the output), as a slice: one element per
 * value of each variable. */
struct lx_team_view team_view_of(const struct op_index *x, int operand);
/* The same along one dimension, and a range as a box of that one dimension. */
struct lx_team_view team_view_along(const struct op_index *x, int operand, int dim);
struct lx_team_box team_box_along(struct lx_team_range range);
struct lx_team_box team_need_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                 int input, const struct lx_team_space *space);
/* What it writes meanwhile, of an output that is not inserted into. */
struct lx_team_box team_result_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                   const struct lx_team_space *space);
/* The values of the op's cut variable that write a block [begin, end) of the output's cut dimension. */
struct lx_team_range team_range_of_block(const struct op_index *x, int var, struct lx_team_range block);
int64_t team_bytes(const struct lx_tensor *t, const struct lx_team_box *box);
/* Of a box, what the device does not own. */
int64_t team_missing_bytes(const struct lx_tensor *t, const struct lx_team_box *box,
                           const struct lx_team_box *own);
bool team_is_shift(const struct lx_op *op);
/* Does a shift bring all that it reads from so far that nothing of the box around both is of use? Then it is a copy. */
bool team_shift_copies(const struct lx_tensor *t, const struct lx_team_box *target,
                       const struct lx_team_box *read);
bool team_plain_index(const struct lx_op *op); /* element-wise: reads and writes at the same indices */

#endif
