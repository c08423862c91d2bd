/* From chosen ways to a new graph. Private to the stage. */
#ifndef LX_LAYOUT_INSERT_RESTICKIFIES_H
#define LX_LAYOUT_INSERT_RESTICKIFIES_H

#include "layout/layout.h"
#include "layout/propagate.h"

/* Which ops some output or extern op needs; `alive` has one entry per op. Of several results `ops`, which
 * are g's on entry, keep those that are needed. The number of the other ops. */
int32_t find_dead_ops(const struct lx_graph *g, bool *alive, struct lx_op *ops, struct arena *memory);
/* Fills graph, layouts, origins and lists of `out`, whose memory exists. */
bool insert_restickifies(const struct lx_graph *g, const bool *alive, const struct stick_plan *plan,
                         struct lx_layouts *out, lx_status *st);

#endif
