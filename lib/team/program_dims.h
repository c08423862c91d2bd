/* Dimensions of a device's program while it is made one of the whole team. Private to global_program.c.
 *
 * A tensor is known by its cut points: products of its trailing extents. What devices do together takes a part out of a
 * dimension, or puts parts into one, so that this dimension becomes two, there and wherever it goes through ops:
 * dimensions that ops walk with one variable are one class, and cut together. */
#ifndef LX_TEAM_PROGRAM_DIMS_H
#define LX_TEAM_PROGRAM_DIMS_H

#include "base/arena.h"
#include "layout/op_index.h"

enum { PROGRAM_CUTS = 32 };

/* Cut points in falling order, from all elements to 1. */
struct cut_points {
    int count;
    int64_t at[PROGRAM_CUTS];
};

/* What an op of several devices does to one of its operands: `parts` parts lie behind each other in steps of `inner`
 * elements. 1: the operand is that of one device. */
struct operand_parts {
    int64_t parts, inner;
};

struct program_dims {
    const struct lx_graph *g;
    int32_t *first;  /* per tensor: its first dimension, of all */
    int32_t *parent; /* per dimension: another of its class, or itself */
    struct dim_class {
        bool rigid; /* some op goes along it otherwise than index by index */
        int cuts;
        int64_t inner[LX_MAX_RANK]; /* where it is cut: falling */
    } * classes;
    /* Two per op: its operand, or its result, cannot be cut as the parts of devices are; it is copied from or to one that is. */
    bool *apart;
    struct arena memory;
};

bool program_dims_make(struct program_dims *d, const struct lx_graph *g, lx_status *st);
void program_dims_free(struct program_dims *d);

struct operand_parts program_parts(const struct lx_graph *g, const struct lx_op *op, bool output);
/* The cut points of a tensor, as its classes have them. */
struct cut_points program_points(const struct program_dims *d, int32_t tensor);
bool program_apart(const struct program_dims *d, const struct lx_op *op, bool output);
/* The same of one device's part: what the op of several devices has in common of input and output. */
struct cut_points program_common(const struct program_dims *d, const struct lx_op *op);
/* The extents that dimension `dim` of a tensor has become, outermost first; how many. */
int program_split(const struct program_dims *d, int32_t tensor, int dim, int64_t *extent);

#endif
