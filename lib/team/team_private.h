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
    int members;
    struct arena *memory;
    struct lx_team_tensor *tensors;
    struct lx_team_op *ops;
    struct lx_team_exchange *exchanges;
    int32_t exchange_count;
    struct lx_team_group *groups;
    int32_t group_count;
    struct lx_team_step *steps;
    int32_t step_count;
};

bool team_choose_cuts(struct team_draft *d, lx_status *st); /* choose.c: dimensions and modes */
bool team_settle_bounds(struct team_draft *d,
                        lx_status *st); /* block_bounds.c: blocks, and ranges of the ops */
bool team_add_exchanges(struct team_draft *d, lx_status *st); /* exchange.c */
bool team_order_steps(struct team_draft *d, lx_status *st);   /* steps.c */

/* op_needs.c */
struct lx_team_box team_own_box(const struct lx_tensor *t, const struct lx_team_tensor *how, int member);
struct lx_team_array team_own_array(const struct lx_tensor *t, const struct lx_team_tensor *how, int member);
/* What an op reads of an input (of an insertion, what it writes of the output), as a slice: one element per
 * value of each variable. */
struct lx_team_view team_view_of(const struct op_index *x, int operand);
/* The same along one dimension, and a range as a box of that one dimension. */
struct lx_team_view team_view_along(const struct op_index *x, int operand, int dim);
struct lx_team_box team_box_along(struct lx_team_range range);
struct lx_team_box team_need_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                 int input, int var, struct lx_team_range range);
/* The values of the op's cut variable that write a block [begin, end) of the output's cut dimension. */
struct lx_team_range team_range_of_block(const struct op_index *x, int var, struct lx_team_range block);
int64_t team_bytes(const struct lx_tensor *t, const struct lx_team_box *box);
/* Of a box, what the member does not own. */
int64_t team_missing_bytes(const struct lx_tensor *t, const struct lx_team_box *box,
                           const struct lx_team_box *own);
/* The part of an op's output that a member adds up when partial results are combined; all of a scalar is member
 * 0's. */
struct lx_team_box team_share_of(const struct lx_graph *g, int32_t op, int members, int member);
bool team_is_shift(const struct lx_op *op);
bool team_plain_index(const struct lx_op *op); /* element-wise: reads and writes at the same indices */

#endif
