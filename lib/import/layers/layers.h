/* Layers that a file has as one op, in smaller ops.
 *
 * A derived body does what the op does, in kinds of ONNX whatever the format of the file, so that the op
 * mapping needs to know each of them once; shapes and small constants follow from the rules of the reader of
 * ONNX. The op points to it (`instead`); the model as its file has it stays as it was. An op that cannot be
 * written so is left alone. A part that fails makes those behind it do nothing. Kinds that ONNX lacks are
 * "lxplan:Rsqrt", "lxplan:Log1p", "lxplan:DynamicInsert" (x, update, one start a dimension) and
 * "lxplan:Real", "lxplan:Imag", "lxplan:Complex" of complex numbers. Bodies have 2 to 30 ops; recurrent
 * layers and loops some for each step. */
#ifndef LX_IMPORT_LAYERS_H
#define LX_IMPORT_LAYERS_H

#include "import/ops.h"

struct layer_limits {
    int64_t ops;    /* of all derived bodies together */
    bool macros;    /* also of what is one op to people: norms, attention, recurrent and quantised layers */
    int64_t device; /* whose part of a tensor is taken */
    bool team;      /* that of every device: it is left open whose */
};

/* Derives a body for each op that has a layer rule. */
void model_expand(struct lx_model *m, const struct layer_limits *limits);

enum { LAYER_MAX_ATTRS = 8, ONNX_DERIVED_OPSET = 20 }; /* the kinds are those of that version */

/* One derived body under way. */
struct layer {
    struct lx_model *m;
    const struct model_op *op;
    const struct layer_limits *limits;
    VEC(struct model_op) ops;
    int32_t *results; /* by tensor of the op's results, counted through tuples; -1: none yet */
    int result_count;
    int32_t body;
    struct model_attr attr[LAYER_MAX_ATTRS]; /* of the next part */
    int attr_count;
    bool ok;
    lx_status *st;
};

/* Layer rules of ops.def. */
derive_op derive_aligned, derive_all_to_all, derive_attention, derive_batch_norm_grad,
    derive_batch_norm_inference, derive_batch_norm_onnx, derive_batch_norm_training, derive_batch_norm_ttir,
    derive_cast_like, derive_chain, derive_clamp_scalar, derive_clamp_tensor, derive_clip, derive_custom_call,
    derive_dequantize, derive_dropout, derive_full, derive_gather, derive_gemm, derive_global_pool,
    derive_group_query, derive_hard_sigmoid, derive_hard_swish, derive_layer_norm, derive_leaky_relu,
    derive_linear, derive_log_softmax, derive_logic, derive_lstm, derive_mesh_partition, derive_mesh_shard,
    derive_modulo, derive_ones, derive_pad, derive_quantize, derive_reduction, derive_relu6, derive_saturated,
    derive_skip_norm, derive_softplus, derive_swish, derive_to_layout, derive_zeros;

/* layer_parts.c. Values are numbers of values of the model, -1 where something failed or is left out. */
bool layer_has(const struct layer *l, int operand);
int32_t layer_in(const struct layer *l, int operand); /* -1: left out */
const struct model_type *layer_type(const struct layer *l, int32_t value);
enum model_element layer_element(const struct layer *l, int32_t value);
/* Attributes of the op. */
int64_t layer_int(const struct layer *l, const char *key, int64_t otherwise);
double layer_real(const struct layer *l, const char *key, double otherwise);
/* Attributes of the next part. */
void layer_put(struct layer *l, const char *key, int64_t number);
void layer_put_real(struct layer *l, const char *key, double number);
void layer_put_list(struct layer *l, const char *key, int count, const int64_t *list);
/* Parts: an op with these operands and one result. */
int32_t layer_part(struct layer *l, const char *kind, int count, const int32_t *operands);
/* The same with `result_count` results. */
bool layer_parts(struct layer *l, const char *kind, int count, const int32_t *operands, int result_count,
                 int32_t *results);
/* An op as that one, with other operands and this type of result. */
int32_t layer_like(struct layer *l, const struct model_op *like, int count, const int32_t *operands,
                   const struct model_type *type);
int32_t layer_one(struct layer *l, const char *kind, int32_t a);
int32_t layer_two(struct layer *l, const char *kind, int32_t a, int32_t b);
int32_t layer_by(struct layer *l, const char *kind, int32_t a,
                 double number);                                            /* a (kind) number, in a's type */
int32_t layer_number(struct layer *l, enum model_element e, double number); /* rank 0 */
int32_t layer_list(struct layer *l, int count, const int64_t *numbers);     /* int64, rank 1 */
int32_t layer_cast(struct layer *l, int32_t a, enum model_element e);
int32_t layer_reshape(struct layer *l, int32_t a, int rank, const int64_t *extent);
int32_t layer_permute(struct layer *l, int32_t a, int rank, const int64_t *perm);
int32_t layer_expand_to(struct layer *l, int32_t a, int rank, const int64_t *extent);
int32_t layer_slice(struct layer *l, int32_t a, int axis, int64_t begin, int64_t end);
/* Elements `from` along a dimension, as many; they are at most MODEL_MAX_KNOWN. */
int32_t layer_gather(struct layer *l, int32_t a, int axis, int64_t count, const int64_t *from);
int32_t layer_concat(struct layer *l, int axis, int count, const int32_t *parts);
int32_t layer_reduce(struct layer *l, const char *kind, int32_t a, int count, const int64_t *axes, bool keep);
int32_t layer_softmax(struct layer *l, int32_t a, int64_t axis);
/* A vector of channels, ready to be combined with a tensor that has them in dimension `axis` of `rank`. */
int32_t layer_channels(struct layer *l, int32_t vector, int rank, int axis);
/* `value` is that tensor of the op's results: reshaped and cast to its type where that is another. */
void layer_result(struct layer *l, int result, int32_t value);
void layer_fail(struct layer *l);

#endif
