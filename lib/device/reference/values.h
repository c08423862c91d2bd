/* What a pattern means, apart from any plan: which value each op reads. Private to the stage.
 *
 * Tensors may be written more than once; values may not. Value t (below the number of tensors) is what
 * tensor t holds before the first op: input data, or zeros. The values behind them are what the ops leave in
 * their results, op by op. The program is that of the pattern in its own order, so that a plan that runs ops
 * in a wrong order is found out. */
#ifndef LX_DEVICE_REFERENCE_VALUES_H
#define LX_DEVICE_REFERENCE_VALUES_H

#include "base/arena.h"
#include "layout/layout.h"

struct program {
    const struct lx_graph *pattern;
    int32_t value_count;
    int32_t *made_at;  /* per op: the value of its first result; those of the others follow */
    int32_t *tensor;   /* per value */
    int32_t *input_at; /* per op: into `inputs` */
    int32_t *inputs;   /* values, one per input of the op */
    int32_t *kept;     /* per op: the value of its output before it; -1: it writes all of it anew */
    int32_t *final;    /* per tensor: its value after the last op */
    uint64_t identity; /* of all that values depend on: tensors and ops, whatever the device */
};

uint64_t program_identity(const struct lx_graph *pattern);
void program_make(const struct lx_graph *g, struct arena *memory, struct program *out);

/* The value that pattern op `op` leaves in a tensor of the pattern, of several results the one that stands
 * there. */
int32_t program_made(const struct program *p, int32_t op, int32_t tensor);
/* Value of input `i` of pattern op `op`. */
int32_t program_input(const struct program *p, int32_t op, int i);
/* Does an op keep what it does not write of its output? */
bool op_keeps(const struct lx_op *op);

/* The shape under which an op that is known by its operands only sees a tensor: its own, or a row of bytes.
 * Every tensor has a layout by this: that of the layout stage, or sticks of bytes in a row. */
bool device_layout(const struct lx_graph *g, const struct lx_layout *planned, int32_t tensor,
                   struct lx_layout *out, lx_status *st);
/* Elements in host order. */
int64_t layout_items(const struct lx_layout *l);

#endif
