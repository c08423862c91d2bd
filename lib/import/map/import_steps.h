/* What the op mapping and the expansions share: rows of the tables, and helpers of their emit functions. */
#ifndef LX_IMPORT_IMPORT_STEPS_H
#define LX_IMPORT_IMPORT_STEPS_H

#include "import/map/import.h"
#include "import/ops.h"

/* Mappings of ops.def. */
map_op map_arg_reduce, map_batch_norm, map_bitcast, map_broadcast, map_collective, map_compare, map_concat,
    map_constant, map_convolution, map_custom_call, map_device_id, map_dot, map_dynamic_insert,
    map_dynamic_slice, map_embedding, map_fill_cache, map_gather, map_gather_rows, map_gelu, map_identity,
    map_iota, map_layer_norm, map_matmul, map_pad, map_permute, map_pointwise, map_pool, map_reduce,
    map_reduce_by_body, map_reduce_window, map_repeat, map_reshape, map_reverse, map_rms_norm, map_scan,
    map_scatter, map_slice, map_softmax, map_sort, map_split, map_topk, map_unknown_constant,
    map_update_cache;

/* import_ops.c. The pointer is good until the next value is bound. */
struct import_value *import_in(struct import *im, const struct model_op *op, int i);
bool import_has(const struct model_op *op, int i);
const struct model_type *import_type_out(const struct import *im, const struct model_op *op);
bool import_bind_one(struct import *im, const struct model_op *op, const struct import_value *v);
bool import_is_tensor(const struct import *im, int32_t value);
/* A value as operand of an op of that many dimensions: aligned at their end, extents of 1 repeated. */
bool import_aligned(struct import *im, struct import_value v, int rank, struct sketch_operand *out);
bool import_generic(struct import *im, const struct model_op *op, const char *why);
/* import_reduce.c: repetition within a dimension that goes would have to be counted: such an operand is
 * laid out first. */
bool import_without_repeats(struct import *im, const struct model_op *op, struct import_value *v,
                            const bool *goes);
/* What the computation of an HLO op does with two elements: a kind of ours, or NULL. */
const char *import_reducer(const struct import *im, const struct model_op *op);
/* Does a reduction of that kind of ours that begins with this number begin with nothing? */
bool import_neutral(const struct import_value *v, const char *ours);
/* Is that just its second element? */
bool import_replaces(const struct import *im, const struct model_op *op);
/* import_known.c: *done: the op was computed, its operands being known. */
bool import_computed(struct import *im, const struct model_op *op, bool *done);
/* Its result is that number everywhere. */
bool import_number(struct import *im, const struct model_op *op, int64_t number);
/* A value that is that whole number everywhere. */
void import_whole(struct import *im, const struct model_type *type, int64_t number, struct import_value *out);
/* import_boxes.c: parts one after the other along a dimension, however many. */
bool import_join(struct import *im, const struct model_op *op, struct import_value *part, int count, int axis,
                 const struct model_type *type, struct import_value *out);
/* import_made.c: a tensor from nothing, or from one that is stored plain (-1: nothing). */
void import_made(struct import *im, const char *kind, const struct model_op *at, int32_t from,
                 int32_t storage, const struct lx_op_params *params, const struct lx_op_data *data);
/* Running sums along an axis of at least two elements. */
bool import_scan(struct import *im, const struct model_op *op, int64_t axis, bool exclusive, bool reverse);
/* A constant of numbers that are known and few. *done: it was one. */
void import_made_constant(struct import *im, const struct import_value *v, int32_t storage, bool *done);
/* import_ops.c: the version of ai.onnx that the kinds of the body under way are of. */
int64_t import_opset(const struct import *im);
/* import_values.c: a type that the file does not have. */
const struct model_type *import_type(struct import *im, enum model_element e, int rank,
                                     const int64_t *extent);

/* One expansion under way, a layer in steps (import_expand.c). A step that fails leaves nothing to do for
 * those behind it; `ok` says so at the end. */
struct steps {
    struct import *im;
    const struct model_op *op;
    bool ok;
};

/* False: the op stays generic (expansions are not wanted, or its operand has too many dimensions). */
bool steps_begin(struct steps *s, struct import *im, const struct model_op *op);
/* The value is result `r` of the op, if that is wanted. */
void steps_result(struct steps *s, int r, struct import_value y);
bool steps_end(struct steps *s);
struct import_value step_operand(struct steps *s, int i);
/* a (kind) b, or a (kind) number, or kind of a; `b` and `number` may be NULL. The first has the shape. */
struct import_value step_point(struct steps *s, const char *kind, struct import_value a,
                               const struct import_value *b, const double *number, enum model_element e);
struct import_value step_cast(struct steps *s, struct import_value a, enum model_element e);
/* Along the dimensions that go, which stay with an extent of 1. */
struct import_value step_along(struct steps *s, const char *kind, struct import_value a, const bool *goes);

/* ---- What ops that take parts and ops that pad have in common ---- */

/* An operand whose storage has all its elements, each once. */
bool box_laid_out(struct import *im, const struct model_op *op, struct import_value *v);
/* The first result is the elements begin, begin + 1, ... of each dimension of operand 0, as many as its
 * type has. */
bool box_take(struct import *im, const struct model_op *op, const int64_t *begin);
/* The greatest common divisor. */
int64_t box_common(int64_t a, int64_t b);
/* Below 0: counted from the end. */
int64_t box_from_end(int64_t at, int64_t extent);

#endif
