/* Into how many tiles nests could cut one tensor, at most, if they had these ops. Private to the stage. A
 * bound, not a nest: whatever nest of the spec has all of these ops, it cuts the tensor into no more. Ops
 * are taken in one by one, and no further op makes it more. Some hundred ops, a handful of variables
 * each. */
#ifndef LX_NESTS_AXIS_REACH_H
#define LX_NESTS_AXIS_REACH_H

#include "base/arena.h"
#include "divide/op_nest.h"

struct axis_reach;

/* NULL: memory is out. */
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
