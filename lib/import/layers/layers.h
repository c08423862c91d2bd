/* Expands single-op layers into smaller ops.
 *
 * A derived body computes the same as its op, in ONNX kinds for any file format. Shapes and small constants
 * follow from the type rules of ONNX. The op points to the body (`instead`); the model as its file has it
 * does not change. After a part fails, later parts do nothing, and the op gets no body. Kinds that ONNX lacks
 * are called "lxplan:Rsqrt", "lxplan:Log1p", "lxplan:AllGather" and "lxplan:DevicePart". Bodies have 2 to 30
 * ops; recurrent layers have some for each step. */
#pragma once

#include "import/ops.h"

struct layer_limits {
    int64_t ops;    /* of all derived bodies together */
    bool macros;    /* also norms, attention, recurrent and quantised layers */
    int64_t device; /* takes its part of a tensor */
    bool team;      /* for a team: the device number stays open */
};

/* Derives a body for each op that has a layer rule. */
void model_expand(struct lx_model *m, const struct layer_limits *limits);

enum { LAYER_MAX_ATTRS = 8, ONNX_DERIVED_OPSET = 20 }; /* the version of derived kinds */

/* A derived body being made. */
struct layer {
    struct lx_model *m;
    const struct model_op *op;
    int64_t opset; /* of the op */
    const struct layer_limits *limits;
    VEC(struct model_op) ops;
    int32_t *results; /* by tensor of the op's results, counted through tuples; -1: not yet */
    int result_count;
    int32_t body;
    struct model_attr attr[LAYER_MAX_ATTRS]; /* of the next part */
    int attr_count;
    bool runs; /* make ops even for known operands */
    bool ok;
    lx_status *st;
};

/* Layer rules of ops.def. False: the op is left alone. */
derive_op derive_activation, derive_aligned, derive_all_to_all, derive_attention, derive_batch_norm,
    derive_batch_norm_grad, derive_chain, derive_clip, derive_convolution, derive_custom_call,
    derive_dequantize, derive_dropout, derive_full, derive_gather, derive_gemm, derive_global_pool,
    derive_group_query, derive_identity, derive_logic, derive_lstm, derive_mesh_shard, derive_modulo,
    derive_norm, derive_pad, derive_quantize, derive_saturated, derive_skip_norm, derive_softmax;

/* layers.c. Values are numbers of model values; -1: failed or omitted. */
int32_t layer_in(const struct layer *l, int operand); /* -1: omitted */
const struct model_type *layer_type(const struct layer *l, int32_t value);
const struct model_type *layer_out(const struct layer *l); /* the type of the op's first result */
/* Attributes of the op. */
int64_t layer_int(const struct layer *l, const char *key, int64_t otherwise);
double layer_real(const struct layer *l, const char *key, double otherwise);
/* Attributes of the next part, at most LAYER_MAX_ATTRS. */
void layer_put(struct layer *l, const char *key, int64_t number);
void layer_put_list(struct layer *l, const char *key, int count, const int64_t *list);
/* A part: an op with these operands and one result. */
int32_t layer_part(struct layer *l, const char *kind, int count, const int32_t *operands);
/* Adds an op with these operands and a new result, typed by its kind's rule unless `type` is given. */
int32_t layer_add(struct layer *l, struct model_op op, int count, const int32_t *operands,
                  const struct model_type *type, const struct model_data *data);
int32_t layer_one(struct layer *l, const char *kind, int32_t a);
int32_t layer_two(struct layer *l, const char *kind, int32_t a, int32_t b);
/* a (kind) number, in a's type */
int32_t layer_by(struct layer *l, const char *kind, int32_t a, double number);
int32_t layer_number(struct layer *l, enum model_element e, double number); /* rank 0 */
int32_t layer_list(struct layer *l, int count, const int64_t *numbers);     /* int64, rank 1 */
int32_t layer_cast(struct layer *l, int32_t a, enum model_element e);
int32_t layer_reshape(struct layer *l, int32_t a, int rank, const int64_t *extent);
int32_t layer_permute(struct layer *l, int32_t a, int rank, const int64_t *perm);
int32_t layer_expand_to(struct layer *l, int32_t a, int rank, const int64_t *extent);
int32_t layer_slice(struct layer *l, int32_t a, int axis, int64_t begin, int64_t end);
int32_t layer_concat(struct layer *l, int axis, int count, const int32_t *parts);
/* Keeps reduced dimensions with extent 1. */
int32_t layer_reduce(struct layer *l, const char *kind, int32_t a, int count, const int64_t *axes);
/* Reshapes a vector of channels for a tensor with the channels in dimension `axis` of `rank`. */
int32_t layer_channels(struct layer *l, int32_t vector, int rank, int64_t axis);
/* Makes `value` a result tensor of the op, reshaped and cast to its type if needed. An operand becomes an
 * Identity. False: something has failed. */
bool layer_result(struct layer *l, int result, int32_t value);
int32_t layer_fail(struct layer *l); /* -1 */
