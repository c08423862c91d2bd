/* Layouts that a file states: the graph as it runs, and each tensor's layout. What cannot be so is an
 * error. */
#ifndef LX_LAYOUT_STATED_LAYOUTS_H
#define LX_LAYOUT_STATED_LAYOUTS_H

#include "layout/layout.h"

struct stated_tensor {
    const char *name;
    int32_t origin; /* the pattern's tensor whose values it holds */
    bool is_copy;   /* added by layout, not the pattern's own */
    int order_count;
    int order[LX_MAX_RANK + 1];   /* of lx_layout_make */
    int64_t extents[LX_MAX_RANK]; /* positions per host dimension; 0: its extent */
};

struct stated_op {
    const char *name;
    int32_t origin; /* the pattern's op; -1: a restickify that was added */
    int input_count, output_count;
    int32_t inputs[LX_MAX_INPUTS], outputs[LX_MAX_OUTPUTS]; /* numbers of stated tensors */
    int stick_var;
};

/* `ops` in the order in which they run. NULL: `st` names tensor or op. */
struct lx_layouts *layouts_stated(const struct lx_graph *pattern, const struct stated_tensor *tensors,
                                  int32_t tensor_count, const struct stated_op *ops, int32_t op_count,
                                  lx_status *st);
/* The reverse: how a layout is stated. */
void layout_state(const struct lx_layout *l, struct stated_tensor *out);

#endif
