/* An op with its split in a plan, one of its operands, and pictures of it. */
#pragma once

#include "tui/core/explorer.h"

/* `g` and `op` are of the graph with layouts of `plan`, which may be another than the one on the screen. */
struct cut {
    const struct lx_plan *plan;
    const struct lx_divisions *all;
    const struct lx_graph *g;
    const struct lx_division *d;
    const struct lx_op *op;
    int32_t tensor;
    int operand;
    struct lx_core_view view;
    int64_t parts; /* different parts of the tensor */
};

/* Operand `operand` of the op, or its first one. */
void cut_take_operand(struct cut *c, int operand);
/* The begin of the iteration's tile along a variable. */
int64_t cut_tile_offset(const struct scene *on, const struct cut *c, int split);
/* Bytes that each core (row) sends to each other (column) over the ring so that the operand is where the op, or
 * its next reader, needs it: *cores squared, malloc'ed. NULL: none, or with *transfer views that are no plain
 * boxes. */
int64_t *cut_ring_bytes(const struct cut *c, int64_t *cores, const struct lx_transfer **transfer);

/* Where cores were drawn last, for the mouse. */
struct core_grid {
    struct box box;
    int per_row, cell_columns;
};

/* A number for each part. Returns the rows it took. */
int picture_draw_grid(const struct scene *on, struct core_grid *v, struct box area, const struct cut *c);
/* The slices of the selected core. */
void picture_draw_core(const struct scene *on, struct box area, const struct cut *c);
/* Every operand in this split, side by side, as many as fit, among them the selected one. */
void picture_draw_parts(const struct scene *on, struct box area, const struct cut *c);
/* Selects the operand that cores send each other, the selected one before others; false: none. */
bool cut_take_ring(struct cut *c);
/* The matrix of cut_ring_bytes, of the selected operand or else of one that has it. */
void picture_draw_ring(const struct scene *on, struct box area, const struct cut *c);
