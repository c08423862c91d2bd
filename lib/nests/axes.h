/* Axes of a run of ops: which of their variables a level of a nest could cut. Variables of two ops are
 * the same axis if both walk one dimension of a tensor that both access. An axis of a run has exactly one
 * variable of each of its ops: an op without one is not reached, an op with two would see a tensor along
 * two dimensions. Runs grow op by op, so that all runs from one op on cost little more than the longest.
 * Some hundred ops with a handful of variables each. */
#ifndef LX_NESTS_AXES_H
#define LX_NESTS_AXES_H

#include "base/arena.h"
#include "divide/op_nest.h"

struct axis_run;

/* A run that begins with op `first` and is empty. All memory is the arena's. */
struct axis_run *axis_run_begin(const struct lx_layouts *l, int32_t first, struct arena *memory);
/* Takes the next op in. False: it can be in no nest, or no axis is left that a longer run could have. */
bool axis_run_grow(struct axis_run *r);
/* The last op of the run. */
int32_t axis_run_last(const struct axis_run *r);
/* The axes of the run as it is: variables per op (room for all ops of the run each) and what tile counts
 * must divide. */
struct axis_found {
    signed char *var;
    int64_t divides; /* tile counts are divisors of this */
};
enum { MOST_AXES = 8 };
int axis_run_axes(const struct axis_run *r, struct axis_found out[MOST_AXES], struct arena *memory);

/* Into how many tiles nests could cut one tensor, at most, if they had these ops. Private to the stage. A
 * bound, not a nest: whatever nest of the spec has all of these ops, it cuts the tensor into no more. Ops
 * are taken in one by one, and no further op makes it more. Some hundred ops, a handful of variables
 * each. */

struct axis_reach;

struct axis_reach *axis_reach_new(const struct lx_layouts *l, struct arena *memory);
/* From here on about this tensor; no ops yet. */
void axis_reach_begin(struct axis_reach *r, int32_t tensor);
/* False: no nest has the op. */
bool axis_reach_add(struct axis_reach *r, int32_t op);
/* The most tiles; 1: no nest cuts it. */
int64_t axis_reach_tiles(struct axis_reach *r);
/* Steps that all of this took so far: who asks stops somewhere. */
int64_t axis_reach_steps(const struct axis_reach *r);

#endif
