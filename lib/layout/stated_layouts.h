/* Layouts from a file: the graph with restickifies, and each tensor's layout. An illegal layout is an
 * error. */
#pragma once

#include "layout/layout.h"

/* Behind all dimensions of an order: sticks are innermost. The device dimensions are o[0], ..., o[r-2], tiles of
 * o[r-1], inside of o[r-1], so that one position of o[0] lies in one piece. */
enum { LX_ROW_BY_ROW = -2 };

struct stated_tensor {
    const char *name;
    int32_t origin; /* the pattern's tensor whose values it holds */
    bool is_copy;   /* added by the layout stage, absent from the pattern */
    int order_count;
    int order[LX_MAX_RANK + 1];   /* as `order` of lx_layout_make */
    int64_t extents[LX_MAX_RANK]; /* padded positions per host dimension; 0: not padded */
};

struct stated_op {
    const char *name;
    int32_t origin; /* the pattern's op; -1: an added restickify */
    int input_count, output_count;
    int32_t inputs[LX_MAX_INPUTS], outputs[LX_MAX_OUTPUTS]; /* indices of stated tensors */
    int stick_var;
};

/* `ops` are in execution order. NULL: `st` names the tensor or op. */
struct lx_layouts *layouts_stated(const struct lx_graph *pattern, const struct stated_tensor *tensors,
                                  int32_t tensor_count, const struct stated_op *ops, int32_t op_count,
                                  lx_status *st);
/* The inverse: fills `out` from layout `l`. */
void layout_state(const struct lx_layout *l, struct stated_tensor *out);
