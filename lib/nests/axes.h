/* Axes of a run of ops: variables that a level of a nest could cut. Variables of two ops are on the same axis
 * if both index one dimension of a common tensor. An axis has exactly one variable of each op of the run.
 * Runs grow op by op. Some hundred ops with a handful of variables each. */
#pragma once

#include "base/base.h"
#include "divide/op_nest.h"

struct axis_run;

/* An empty run that will begin with op `first`. All its memory comes from the arena. */
struct axis_run *axis_run_begin(const struct lx_layouts *l, int32_t first, struct arena *memory);
/* Adds the next op. False: no nest can contain the op, or no longer run can have an axis. */
bool axis_run_grow(struct axis_run *r);
int32_t axis_run_last(const struct axis_run *r);
/* An axis of the run: one variable per op. */
struct axis_found {
    signed char *var;
    int64_t divides; /* tile counts divide this */
};
enum { MOST_AXES = 8 };
int axis_run_axes(const struct axis_run *r, struct axis_found out[MOST_AXES], struct arena *memory);

/* The first op of the run in which variable `v` of the first op is no axis, and why; NULL: it is one in each. */
const char *axis_run_misses(const struct axis_run *r, int v, int32_t *op);

/* An upper bound on the tiles of one tensor in any nest that contains a set of ops. Adding ops never raises
 * it. */

struct axis_reach;

struct axis_reach *axis_reach_new(const struct lx_layouts *l, struct arena *memory);
/* Starts with this tensor and no ops. */
void axis_reach_begin(struct axis_reach *r, int32_t tensor);
/* Adds an op to the set. False: no nest can contain the op. */
bool axis_reach_add(struct axis_reach *r, int32_t op);
int64_t axis_reach_tiles(struct axis_reach *r);
/* Work done so far, so callers can limit it. */
int64_t axis_reach_steps(const struct axis_reach *r);
