/* The passes that make a team plan, in order. Private to the stage. */
#pragma once

#include "base/base.h"
#include "layout/op_index.h"
#include "team/team.h"

/* A plan under construction, with the writable arrays of lx_team_plan. */
struct team_draft {
    const struct lx_graph *g;
    const struct lx_team_options *how;
    const struct lx_team_plan *like; /* a plan with the shards to use; NULL: search for them */
    int devices;
    struct lx_team_grid grid;
    struct arena *memory;
    struct lx_team_tensor *tensors;
    struct lx_team_op *ops;
    struct lx_team_space **spaces; /* writable `space` of each op */
    struct lx_team_exchange *exchanges;
    int32_t exchange_count;
    struct lx_team_group *groups;
    int32_t group_count;
    struct lx_team_step *steps;
    int32_t step_count;
    double predicted_us;
    bool unsharded;
};

/* choose_shards.c: chooses the dimension that each axis shards. False: `st` gives the reason. */
bool team_choose_shards(struct team_draft *d, lx_status *st);
void team_settle_bounds(struct team_draft *d); /* block_bounds.c: blocks, and the ranges of ops */
void team_add_exchanges(struct team_draft *d); /* exchange.c */
void team_order_steps(struct team_draft *d);   /* steps.c */

/* grid.c */
struct lx_team_box team_own_box(const struct lx_team_grid *grid, const struct lx_tensor *t,
                                const struct lx_team_tensor *how, int device);
/* The number of dimensions along which a box exceeds the own block. */
int team_beside(const struct lx_team_box *need, const struct lx_team_box *own);
/* The loop of a variable; -1: not sharded. */
int team_loop_of(const struct lx_team_space *s, int var);
/* Whether the op makes partial sums along the axis: the axis shards a reduced variable, or the op reads
 * partial sums along it. */
bool team_shards_sum(const struct op_index *x, const int var[LX_TEAM_AXES], int axis);
/* Whether both devices have partial sums of the same result. */
bool team_adds_with(const struct lx_team_grid *grid, const struct op_index *x, const int var[LX_TEAM_AXES],
                    int device, int other);
/* Whether each device keeps its share of the result, instead of getting all shares. */
bool team_scatters(const struct lx_team_grid *grid, const struct op_index *x, const int var[LX_TEAM_AXES],
                   const struct lx_team_tensor *out);
/* The share of an op's output that a device adds up in a combine. A scalar's share is all on the first of
 * the combining devices. */
struct lx_team_box team_share_of(const struct lx_graph *g, const struct lx_team_grid *grid,
                                 const struct lx_team_tensor *tensors, const int var[LX_TEAM_AXES],
                                 int32_t op, int device);

/* team_plan.c: bytes that a plan with these shards would exchange without the later passes. */
int64_t team_plain_bytes(const struct lx_team_plan *p);
/* Begins a graph of the same name, device and grid. */
struct graph_builder;
void team_begin_copy(struct graph_builder *b, const struct lx_graph *g);
#define TEAM_NO_SHAPE                                                                                        \
    "tensor %s is known by its bytes only and cannot be distributed over a team; give it a shape"

/* global_program.c. team_is_device_program: whether the graph is the program of one device, with collectives
 * along grid axes. team_global_program: the graph of all devices, with shards that make each device run its
 * own program. NULL: `st` gives the reason. */
bool team_is_device_program(const struct lx_graph *g);
const struct lx_graph *team_global_program(const struct lx_graph *g, lx_status *st);
/* shard_copies.c: a graph where an op that cannot make its result in the stated shards writes another
 * tensor, and a copy has these shards. Returns a reference to `g` if there is no such op. NULL: see `st`. */
const struct lx_graph *team_with_copies(const struct lx_graph *g, const struct lx_team_grid *grid,
                                        lx_status *st);

/* tensor_ops.c: readers, or writers, of each tensor. */
struct tensor_ops {
    int32_t *at; /* per tensor: the begin of its ops in `op`; they end at the next tensor's begin */
    int32_t *op; /* in order; repeated for an op with several such operands */
};
void tensor_ops_make(struct tensor_ops *x, const struct lx_graph *g, bool written);
void tensor_ops_free(struct tensor_ops *x);
/* The first op of the tensor after `o`, the last before `o`; -1: none. */
int32_t tensor_ops_after(const struct tensor_ops *x, int32_t tensor, int32_t o);
int32_t tensor_ops_before(const struct tensor_ops *x, int32_t tensor, int32_t o);
static inline int32_t tensor_ops_count(const struct tensor_ops *x, int32_t tensor)
{
    return x->at[tensor + 1] - x->at[tensor];
}

/* team_links.c: microseconds of exchanges on a team's links.
 *
 * Neighbours along a grid axis have links of one rate and latency (lx_device_link). Collectives go axis by
 * axis, the last first if parts grow, by rings or trees. A ring of n takes n - 1 messages and moves no byte
 * twice; a tree takes log2(n) messages, each with all bytes. The cheaper one counts. `axes` are bits 1 <<
 * axis. `bytes` are a device's bytes of the complete result. */
double team_gather_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes,
                      double bytes);
/* Combines partial sums of these bytes; each device gets its share (`scatters`) or all. */
double team_combine_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes,
                       double bytes, bool scatters);
/* Each device gets `bytes` from others along these axes: from all of them, or with `near` from neighbours. */
double team_swap_us(const struct lx_device *d, const struct lx_team_grid *grid, unsigned axes, double bytes,
                    bool near);

/* op_needs.c. Whether axes may shard a variable: a part of its values is computed from parts of the
 * operands. */
bool team_may_shard(const struct lx_op *op, const struct op_index *x, int v);
/* Whether combining takes the largest or smallest instead of the sum. */
bool team_picks(const struct lx_op *op);
/* Whether the op is linear in all its inputs together, or in single ones with the others constant (bits in
 * `*one`). */
bool team_linear(const struct lx_graph *g, const struct lx_op *op, unsigned *one);
/* Whether the op reads partial sums of that input; the same along an axis with that `var`. */
bool team_reads_partial(const struct lx_op *op, const int var[LX_TEAM_AXES], int input);
bool team_reads_partial_along(const struct lx_op *op, int var, int input);
/* The elements that an op reads of an input (an insertion: writes of the output), as a slice with one
 * element per value of each variable. */
struct lx_team_view team_view_of(const struct op_index *x, int operand);
/* The same along one dimension; and a range as a one-dimensional box. */
struct lx_team_view team_view_along(const struct op_index *x, int operand, int dim);
struct lx_team_box team_box_along(struct lx_team_range range);
struct lx_team_box team_need_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                 int input, const struct lx_team_space *space);
/* The box that the op writes for these ranges, unless it inserts into its output. */
struct lx_team_box team_result_box(const struct lx_graph *g, const struct lx_op *op, const struct op_index *x,
                                   const struct lx_team_space *space);
/* The values of the op's sharded variable that write a block of the output. */
struct lx_team_range team_range_of_block(const struct op_index *x, int var, struct lx_team_range block);
int64_t team_bytes(const struct lx_tensor *t, const struct lx_team_box *box);
/* Bytes of the box outside `own`. */
int64_t team_missing_bytes(const struct lx_tensor *t, const struct lx_team_box *box,
                           const struct lx_team_box *own);
bool team_is_shift(const struct lx_op *op);
/* Whether a shift reads from so far away that the hull of both boxes would be mostly unused; then it is a
 * copy. */
bool team_shift_copies(const struct lx_tensor *t, const struct lx_team_box *target,
                       const struct lx_team_box *read);
bool team_plain_index(const struct lx_op *op); /* element-wise: reads and writes equal indices */
