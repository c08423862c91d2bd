/* Axes of a run of ops: variables that a level of a nest could cut. Variables of two ops are the same axis if
 * both walk one dimension of a common tensor. An axis has exactly one variable of each op of the run. Runs
 * grow op by op. Some hundred ops with a handful of variables each. */
#ifndef LX_NESTS_AXES_H
#define LX_NESTS_AXES_H

#include "base/arena.h"
#include "divide/op_nest.h"

struct axis_run;

/* A run that begins with op `first` and is empty. All memory is the arena's. */
struct axis_run *axis_run_begin(const struct lx_layouts *l, int32_t first, struct arena *memory);
/* Takes the next op in. False: it can be in no nest, or no axis is left that a longer run could have. */
bool axis_run_grow(struct axis_run *r);
int32_t axis_run_last(const struct axis_run *r);
/* The axes of the run: variables per op and the number that tile counts must divide. */
struct axis_found {
    signed char *var;
    int64_t divides; /* tile counts are divisors of this */
};
enum { MOST_AXES = 8 };
int axis_run_axes(const struct axis_run *r, struct axis_found out[MOST_AXES], struct arena *memory);

/* An upper bound on the tiles of one tensor in any nest that has these ops. Ops are added one by one; further
 * ops never raise it. */

struct axis_reach;

struct axis_reach *axis_reach_new(const struct lx_layouts *l, struct arena *memory);
/* From here on about this tensor; no ops yet. */
void axis_reach_begin(struct axis_reach *r, int32_t tensor);
/* False: no nest has the op. */
bool axis_reach_add(struct axis_reach *r, int32_t op);
int64_t axis_reach_tiles(struct axis_reach *r);
/* Steps that all of this took so far: who asks stops somewhere. */
int64_t axis_reach_steps(const struct axis_reach *r);

#endif
