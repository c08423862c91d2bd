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
    const struct lx_team_plan *like; /* has the shards; NULL: they are searched for */
    int devices;
    struct lx_team_grid grid;
    struct arena *memory;
    struct lx_team_tensor *tensors;
    struct lx_team_op *ops;
    struct lx_team_space **spaces; /* of the ops */
    struct lx_team_exchange *exchanges;
    int32_t exchange_count;
    struct lx_team_group *groups;
    int32_t group_count;
    struct lx_team_step *steps;
    int32_t step_count;
    double predicted_us;
    bool unsharded;
};

/* choose_shards.c: the dimension that each axis shards. False: `st` says why there is no way. */
bool team_choose_shards(struct team_draft *d, lx_status *st);
void team_settle_bounds(struct team_draft *d); /* block_bounds.c: blocks, and where the ops run */
void team_add_exchanges(struct team_draft *d); /* exchange.c */
void team_order_steps(struct team_draft *d);   /* steps.c */

/* grid.c */
struct lx_team_box team_own_box(const struct lx_team_grid *grid, const struct lx_tensor *t,
                                const struct lx_team_tensor *how, int device);
/* The dimensions along which a box reaches beyond the own one. */
int team_beside(const struct lx_team_box *need, const struct lx_team_box *own);
/* The loop of a variable; -1: it is not sharded. */
int team_loop_of(const struct lx_team_space *s, int var);
/* Does the axis shard a variable that is summed away, or is it one of partial sums that are read? Then the
 * op makes partial sums along it. */
bool team_shards_sum(const struct op_index *x, const int var[LX_TEAM_AXES], int axis);
/* Have both devices partial sums of one result? */
bool team_adds_with(const struct lx_team_grid *grid, const struct op_index *x, const int var[LX_TEAM_AXES],
                    int device, int other);
/* Does each of them keep its share of the result, instead of getting all shares? */
bool team_scatters(const struct lx_team_grid *grid, const struct op_index *x, const int var[LX_TEAM_AXES],
                   const struct lx_team_tensor *out);
/* The share of an op's output that a device adds up when partial sums are combined; the first of the
 * devices that combine has all of a scalar. */
struct lx_team_box team_share_of(const struct lx_graph *g, const struct lx_team_grid *grid,
                                 const struct lx_team_tensor *tensors, const int var[LX_TEAM_AXES],
                                 int32_t op, int device);

/* team_plan.c: bytes that a plan with these shards would exchange without the passes behind them. */
int64_t team_plain_bytes(const struct lx_team_plan *p);
/* Begins a graph of the same name, device and grid. */
struct graph_builder;
void team_begin_copy(struct graph_builder *b, const struct lx_graph *g);
#define TEAM_NO_SHAPE                                                                                        \
    "tensor %s is known by its bytes only and cannot be distributed over a team; give it a shape"

/* global_program.c: does the graph say along which axes of its grid devices work together? Then it is the
 * program of one device, and this is the graph of all, with shards that make each device do what its own
 * program has. NULL: `st` says why there is none. */
bool team_is_device_program(const struct lx_graph *g);
const struct lx_graph *team_global_program(const struct lx_graph *g, lx_status *st);
/* shard_copies.c: the graph, where an op that cannot make its result in the stated shards makes another
 * tensor, and a copy has these shards; itself, where there is none. NULL: `st` is set. */
const struct lx_graph *team_with_copies(const struct lx_graph *g, const struct lx_team_grid *grid,
                                        lx_status *st);

/* tensor_ops.c: the ops that read, or write, each tensor. */
struct tensor_ops {
    int32_t *at; /* per tensor: where its ops begin; they end where those of the next begin */
    int32_t *op; /* in order; as often as it is an operand */
};
void tensor_ops_make(struct tensor_ops *x, const struct lx_graph *g, bool written);
void tensor_ops_free(struct tensor_ops *x);
/* The first one behind op `o`, the last one before it; -1: there is none. */
int32_t tensor_ops_after(const struct tensor_ops *x, int32_t tensor, int32_t o);
int32_t tensor_ops_before(const struct tensor_ops *x, int32_t tensor, int32_t o);
static inline int32_t tensor_ops_count(const struct tensor_ops *x, int32_t tensor)
{
    return x->at[tensor + 1] - x->at[tensor];
}

/* team_links.c: microseconds that exchanges take on the links of a team.
 *
 * Neighbours along an axis of the grid are joined by links of one rate and latency (lx_device_link).
 * Collectives go axis by axis, the last first where parts grow, in rings or trees: a ring of n takes n - 1
 * messages and moves no byte twice; a tree takes log2(n), each with all bytes; the cheaper is taken. `axes`
 * are bits: 1 << axis. `bytes`: of a device, when it has all of them. */
double team_gather_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes,
                      double bytes);
/* Partial sums of these bytes become one, of which each device has its share (`scatters`) or all. */
double team_combine_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes,
                       double bytes, bool scatters);
/* Each device gets `bytes` from others along these axes: all from all, or with `near` from neighbours. */
double team_swap_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes, double bytes,
                    bool near);

/* op_needs.c. May axes shard a variable of the op: is a part of its values computed from parts of the
 * operands? */
bool team_may_shard(const struct lx_op *op, const struct op_index *x, int v);
/* Can partial sums of the op be combined? */
bool team_adds_up(const struct lx_op *op);
/* Is the largest or the smallest of them taken, instead of their sum? */
bool team_picks(const struct lx_op *op);
/* Is the op linear in its inputs together, or in one of them (a bit each) while the others stand? */
bool team_linear(const struct lx_graph *g, const struct lx_op *op, unsigned *one);
/* Does the op read partial sums of that input; and along an axis with that `var`? */
bool team_reads_partial(const struct lx_op *op, const int var[LX_TEAM_AXES], int input);
bool team_reads_partial_along(const struct lx_op *op, int var, int input);
/* The elements that an op reads of an input (an insertion: writes of the output), as a slice: one per value
 * of each variable. */
struct lx_team_view team_view_of(const struct op_index *x, int operand);
/* The same along one dimension, and a range as a box of that one dimension. */
struct lx_team_view team_view_along(const struct op_index *x, int operand, int dim);
struct lx_team_box team_box_along(struct lx_team_range range);
struct lx_team_box team_need_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                 int input, const struct lx_team_space *space);
/* The box that it writes meanwhile, of an output that is not inserted into. */
struct lx_team_box team_result_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                   const struct lx_team_space *space);
/* The values of the op's sharded variable that write a block of the output's sharded dimension. */
struct lx_team_range team_range_of_block(const struct op_index *x, int var, struct lx_team_range block);
int64_t team_bytes(const struct lx_tensor *t, const struct lx_team_box *box);
/* The bytes of a box that the device does not own. */
int64_t team_missing_bytes(const struct lx_tensor *t, const struct lx_team_box *box,
                           const struct lx_team_box *own);
bool team_is_shift(const struct lx_op *op);
/* Does a shift read from so far that nothing of the box around both is of use? Then it is a copy. */
bool team_shift_copies(const struct lx_tensor *t, const struct lx_team_box *target,
                       const struct lx_team_box *read);
bool team_plain_index(const struct lx_op *op); /* element-wise: reads and writes at the same indices */

#endif
