/* Mappings of ops, and the helpers that they share. */
#pragma once

#include "import/map/import.h"
#include "import/ops.h"

/* Mappings of ops.def. */
map_op map_arg_reduce, map_bitcast, map_broadcast, map_collective, map_compare, map_concat, map_constant,
    map_convolution, map_custom_call, map_device_id, map_dot, map_dynamic_insert, map_dynamic_slice,
    map_embedding, map_fill_cache, map_gather, map_gather_rows, map_gelu, map_identity, map_iota, map_matmul,
    map_pad, map_permute, map_pointwise, map_pool, map_reduce, map_reduce_by_body, map_reduce_window,
    map_repeat, map_reshape, map_reverse, map_scan, map_scatter, map_slice, map_sort, map_split, map_topk,
    map_unknown_constant, map_update_cache;

/* import_ops.c. The pointer is valid until the next value is bound. */
struct import_value *import_in(struct import *im, const struct model_op *op, int i);
bool import_has(const struct model_op *op, int i);
const struct model_type *import_type_out(const struct import *im, const struct model_op *op);
/* Is it a tensor with elements? */
bool import_is_tensor(const struct import *im, int32_t value);
/* The ai.onnx version of the kinds in the current body. */
int64_t import_opset(const struct import *im);
/* Ends a mapping; always true: the value becomes the op's result. */
bool import_done(struct import *im, const struct model_op *op, enum import_class class, const char *reason,
                 const struct import_value *v);
bool import_mapped(struct import *im, const struct model_op *op, const struct import_value *v);
bool import_generic(struct import *im, const struct model_op *op, const char *why);
/* The same with a splat of that number. */
bool import_number(struct import *im, const struct model_op *op, int64_t number);

/* import_points.c: a constant of whole numbers, repeated if of rank 0, else a list. */
struct import_value import_whole(struct import *im, const struct model_type *type, const int64_t *numbers,
                                 int count);
/* Computes the op if its operands are known; false: they are not. */
bool import_computed(struct import *im, const struct model_op *op);
/* a (kind) b, in the shape and type of a. */
struct import_value import_point(struct import *im, const struct model_op *op, const char *kind,
                                 struct import_value a, const struct import_value *b);

/* import_reduce.c: what an HLO computation, or TTIR's reduce_type, does with two elements. */
struct reducer {
    const char *theirs, *ours, *two; /* the pattern kinds of a reduction and of two operands */
    double neutral;                  /* the neutral element */
    enum lx_combine combine;
};
const struct reducer *import_reducer(const struct import *im, const struct model_op *op); /* NULL: unknown */
/* Is this first number neutral? */
bool import_neutral(const struct import_value *v, const struct reducer *r);

/* import_moves.c: makes an op for a constant with few known numbers. False: not made. */
bool import_made_constant(struct import *im, const struct import_value *v, int32_t storage);
/* Running sums along an axis of at least two elements. */
bool import_scan(struct import *im, const struct model_op *op, int64_t axis, bool exclusive, bool reverse);

/* import_boxes.c: the first result is elements begin, begin + 1, ... of each dimension of operand 0, as many
 * as its type has. */
bool box_take(struct import *im, const struct model_op *op, const int64_t *begin);

/* ---- Ops that choose by indices (import_choose.c) ---- */

enum { CHOOSE_OPERANDS = 2 + LX_MAX_RANK };

/* An op being made: its dimensions, its operands over these, and the dimensions that it chooses along. */
struct choosing {
    const char *kind;
    int rank;
    int64_t extent[VIEW_MAX_RANK];
    int count;
    struct import_value operand[CHOOSE_OPERANDS];
    int dim[CHOOSE_OPERANDS][VIEW_MAX_RANK]; /* per operand and dimension: the op's; -1: extent 1 */
    int chosen_count;
    signed char chosen[LX_MAX_RANK];
    int64_t start[LX_MAX_RANK]; /* if no operand has it */
    bool starts;
    unsigned whole; /* dimensions that nothing may cut, chosen ones included (bits) */
    enum lx_combine combine;
    int64_t k; /* of a top-k or sort */
    bool descending;
    bool full; /* too many dimensions or operands: the op stays generic */
};

/* Adds a dimension; -1: no room. */
int choose_dim(struct choosing *c, int64_t extent);
void choose_operand(struct choosing *c, const struct import_value *v, const int *dim);
void choose_along(struct choosing *c, int dim);
/* The result has `type`, its dimension i is dims[i]; with too many dimensions the op stays generic. */
bool choose_finish(struct import *im, const struct model_op *op, struct choosing *c,
                   const struct model_type *type, const int *dims);
