/* The values of a pattern, apart from any plan: which value each op reads. Private to the stage.
 *
 * Tensors may be written more than once; values may not. Value t (below the number of tensors) is the content
 * of tensor t before the first op: input data, or zeros. The further values are the results of the ops, op by
 * op. The program has the pattern's own order, so that a plan with ops in a wrong order is found out. */
#pragma once

#include "base/base.h"
#include "layout/layout.h"

struct program {
    const struct lx_graph *pattern;
    int32_t value_count;
    int32_t *made_at;  /* per op: the value of its first result; its other results follow */
    int32_t *tensor;   /* per value */
    int32_t *input_at; /* per op: into `inputs` */
    int32_t *inputs;   /* values, one per input of the op */
    int32_t *kept;     /* per op: the value of its output before it; -1: it writes the whole output */
    int32_t *final;    /* per tensor: its value after the last op */
    uint64_t identity; /* hash of everything that values depend on: tensors and ops, whatever the device */
};

uint64_t program_identity(const struct lx_graph *pattern);
void program_make(const struct lx_graph *g, struct arena *memory, struct program *out);

/* The value that pattern op `op` leaves in a tensor of the pattern, the matching one of several results. */
int32_t program_made(const struct program *p, int32_t op, int32_t tensor);
/* Value of input `i` of pattern op `op`. */
int32_t program_input(const struct program *p, int32_t op, int i);
/* Does an op keep elements of its output that it does not write? */
bool op_keeps(const struct lx_op *op);

/* The layout of a tensor on the device: the planned one, or sticks of bytes in a row for a tensor without
 * one. */
bool device_layout(const struct lx_graph *g, const struct lx_layout *planned, int32_t tensor,
                   struct lx_layout *out, lx_status *st);
/* Elements in host order. */
int64_t layout_items(const struct lx_layout *l);
