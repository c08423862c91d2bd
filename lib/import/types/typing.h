/* Result types: one rule an op for all dialects (ops.def). A rule works out the type of the first result
 * from the operands and the attributes. Text dialects state types, which must be that; ONNX gets them from
 * here. */
#ifndef LX_IMPORT_TYPING_H
#define LX_IMPORT_TYPING_H

#include "import/model_parts.h"
#include "base/text.h"
#include "import/ops.h"

enum { TYPING_OPERANDS = 6 };

/* One op under its rule. */
struct typing {
    struct lx_model *m;
    struct model_op *op;
    const struct op_row *row;
    enum model_format dialect;
    int64_t opset;                                /* ONNX */
    const struct model_type *in[TYPING_OPERANDS]; /* the first operands; NULL: left out */
    const struct model_type *stated; /* text: of the result, of an op without one its first operand */
    enum model_element element;      /* ONNX: of the first result */
    int64_t want[MODEL_MAX_RANK];    /* extents of the first result */
    int rank;
    const char *why;                        /* what is wrong; NULL: the result is not as wanted */
    bool schema;                            /* an attribute is missing, or is not as it must be */
    const struct lx_model_options *options; /* ONNX; NULL: none */
    int64_t budget;                         /* ONNX: elements that may still be computed ahead */
    bool derived;                           /* not in the file */
    lx_status *st;
};

/* typing.c: for rules. */
enum typed typing_like(struct typing *t, const struct model_type *like);
void typing_want(struct typing *t, int64_t extent);
/* Is a shape broadcast to the wanted one, aligned at the right? `spread`: extents of 1 of the wanted one grow
 * as well, and so does its rank. */
bool typing_fits(struct typing *t, int rank, const int64_t *extent, bool grows);
bool typing_spread(struct typing *t, int rank, const int64_t *extent);
enum typed typing_wrong(struct typing *t, const char *why);
enum typed typing_schema(struct typing *t, const char *why);
/* ONNX: the type of a result beyond the first, if it is wanted. One that cannot be breaks the rule. */
void typing_result(struct typing *t, int result, enum model_element e, int rank, const int64_t *extent);
int64_t typing_int(const struct typing *t, const char *key, int64_t otherwise);
/* Numbers of an attribute, or of an operand that is known (-1, NULL: there is none). *count -1: neither is
 * given. False: the operand is not known, or has more than `most`. */
bool typing_ints(const struct typing *t, const char *key, int operand, int64_t *out, int most, int *count);
bool typing_has(const struct typing *t, int operand);
const struct model_data *typing_data(const struct typing *t, int operand); /* NULL: not known */
/* Of 0..rank-1, counted from the end if below 0; -1: outside. */
int typing_dim(int64_t dim, int rank);

#define TYPE_RULES(X)                                                                                        \
    X(same, "the shape of the first operand")                                                                \
    X(broadcast, "operands have one shape, or are broadcast, aligned at the right")                          \
    X(cast, "the shape of the first operand")                                                                \
    X(along, "the shape of the operand, which has that axis")                                                \
    X(dropout, "the shape of the first operand")                                                             \
    X(quantize, "the shape of the first operand")                                                            \
    X(layer_norm, "the shape of the first operand, to which scale and bias are broadcast")                   \
    X(batch_norm, "the shape of the first operand, whose channels the scale has")                            \
    X(reduce, "the operand without the dimensions that go, or 1 for them")                                   \
    X(dot, "batch, then free dimensions of the left and the right; contracted ones are equal")               \
    X(matmul, "rows of the left, columns of the right; what is between is equal")                            \
    X(convolution, "floor((n + low + high - dilation (k - 1) - 1) / stride) + 1 along each window")          \
    X(pool, "floor((n + low + high - dilation (k - 1) - 1) / stride) + 1 along each window")                 \
    X(global_pool, "1 for each dimension from the third on")                                                 \
    X(reshape, "as many elements as the operand")                                                            \
    X(flatten, "two dimensions, cut at the axis")                                                            \
    X(squeeze, "the operand without dimensions of 1")                                                        \
    X(unsqueeze, "the operand with more dimensions of 1")                                                    \
    X(permute, "dimension i is dimension permutation[i] of the operand")                                     \
    X(repeat, "extents of the operand, or 1 repeated")                                                       \
    X(resize, "floor(extent times scale), or the sizes")                                                     \
    X(tile, "extents times repeats")                                                                         \
    X(topk, "k along the axis")                                                                              \
    X(slice, "ceil((end - begin) / step), within the operand")                                               \
    X(split, "parts that make up the operand")                                                               \
    X(concat, "the parts one after the other, other extents equal")                                          \
    X(pad, "low + n + high + interior (n - 1)")                                                              \
    X(iota, "a dimension of the result counts")                                                              \
    X(range, "ceil((end - start) / step)")                                                                   \
    X(constant, "the type of its value")                                                                     \
    X(constant_of_shape, "the shape that the operand says")                                                  \
    X(shape, "one number for each dimension")                                                                \
    X(size, "one number")                                                                                    \
    X(embedding, "dimensions of the index, then a row of the table")                                         \
    X(gather_rows, "the index in the place of the axis")                                                     \
    X(gather, "dimensions of the index and, at offset_dims, of the box")                                     \
    X(dynamic_slice, "dynamic_slice_sizes, within the operand")                                              \
    X(dynamic_update, "the first operand, in which the second has room")                                     \
    X(cache, "heads and width of the cache, within its rows and its length")                                 \
    X(group_query, "the query; caches grow by its rows")                                                     \
    X(lstm, "[T, dirs, B, H], then the last states")                                                         \
    X(branch, "the results of a branch")                                                                     \
    X(parts, "the shape of the operand, one extent by the number of devices")                                \
    X(device_part, "one of as many parts as there are devices")                                              \
    X(tuple, "the types of its operands")                                                                    \
    X(tuple_part, "the type of that part of the tuple")                                                      \
    X(call, "operands and result are those of what is called")
#define TYPE_RULE(name, words) extern const struct type_rule type_##name;
TYPE_RULES(TYPE_RULE)
#undef TYPE_RULE
extern const struct type_rule type_none;

#define TYPE_RULE(name, words) enum typed type_of_##name(struct typing *t);
TYPE_RULES(TYPE_RULE)
#undef TYPE_RULE

/* Text: are stated types as their rules say? */
bool model_check_types(struct lx_model *m, lx_status *st);
/* Text: extents of the op's result that are open (-1) and follow from its operands. */
void model_follow_types(struct lx_model *m, struct model_op *op, int64_t *extent);
/* ONNX: types (and values, where they can be known) of all results of the graph and its subgraphs. */
bool onnx_infer_types(struct lx_model *m, const struct lx_model_options *options, lx_status *st);
/* The same of one op of a derived body. */
bool onnx_infer_part(struct lx_model *m, struct model_op *op, lx_status *st);

/* Begins an op outside of its rule, for attributes that the mapping reads as well. */
struct typing typing_open(const struct lx_model *m, const struct model_op *op, enum model_format dialect,
                          int64_t opset);
/* type_views.c: attributes of an op by dimension of its operand, whatever the dialect. A slice steps from
 * `begin`; dimension d of a permutation is perm[d] of the operand. Open, of slices: begin and step are
 * filled in, extents are not judged. */
enum typed typing_slice(struct typing *t, int64_t *begin, int64_t *step);
enum typed typing_pads(struct typing *t, int64_t *low, int64_t *high, int64_t *inner);
enum typed typing_permutation(struct typing *t, int64_t *perm);
/* Sizes of the parts of a Split, room for MODEL_MAX_KNOWN; false: they are not as they must be. */
bool onnx_split(const struct typing *t, int *axis, int64_t *sizes);

/* onnx_fold.c: computes the results of an ONNX op, if its kind is computed ahead and its operands are
 * known. */
void onnx_fold(struct typing *t);

/* ---- Extents that a file leaves open ---- */

/* What the user said `name` is; false: nothing. A name of text formats has its "%" or not. */
bool model_extent_given(struct lx_model *m, const struct lx_model_options *o, const char *name, int64_t *out);
/* Puts the name on the list, once; the list is a piece of a command line and stays short. */
void model_extent_ask(struct text *unbound, const char *name);
/* False where anything had to be asked for. */
bool model_extents_told(const struct lx_model *m, const struct text *unbound, lx_status *st);
/* TTIR and HLO, once everything is read: every `?` becomes a number. */
bool model_extents_bind(struct lx_model *m, const struct lx_model_options *o, lx_status *st);

/* ---- Arithmetic on values that are known ahead, as the ops would do it ---- */

/* From NOT on of one operand. */
enum arithmetic {
    ADD,
    SUB,
    MUL,
    DIV,
    MOD,
    MIN,
    MAX,
    EQ,
    LT,
    GT,
    LE,
    GE,
    AND,
    OR,
    NOT,
    NEG,
    ABS,
    FLOOR,
    CEIL
};

/* Division truncates; Mod has the sign of the divisor unless `fmod` is set. False: it is left to the op. */
bool fold_whole(enum model_element e, enum arithmetic op, int64_t a, int64_t b, bool fmod, int64_t *y);
bool fold_fraction(enum arithmetic op, double a, double b, double *y);
/* What is left of a number in an element of that type. */
int64_t fold_kept_int(enum model_element e, int64_t n);
double fold_kept_real(enum model_element e, double x);
/* Conversions: toward 0, into the range of the type; NaN gives 0. */
int64_t fold_to_int(enum model_element e, double x);
double fold_to_real(enum model_element to, enum model_element from, int64_t n);

#endif
