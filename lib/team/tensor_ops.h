/* The ops that read each tensor, or those that write it. Private to the stage. */
#ifndef LX_TEAM_TENSOR_OPS_H
#define LX_TEAM_TENSOR_OPS_H

#include "graph/graph.h"

struct tensor_ops {
    int32_t *at; /* per tensor: where its ops begin; they end where those of the next begin */
    int32_t *op; /* in order; as often as it is an operand */
};

/* False: memory is out. Free it either way. */
bool tensor_ops_make(struct tensor_ops *x, const struct lx_graph *g, bool written);
void tensor_ops_free(struct tensor_ops *x);
/* The first one behind op `o`, the last one before it; -1: there is none. */
int32_t tensor_ops_after(const struct tensor_ops *x, int32_t tensor, int32_t o);
int32_t tensor_ops_before(const struct tensor_ops *x, int32_t tensor, int32_t o);

static inline int32_t tensor_ops_count(const struct tensor_ops *x, int32_t tensor)
{
    return x->at[tensor + 1] - x->at[tensor];
}

#endif
