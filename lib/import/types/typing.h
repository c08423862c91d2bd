/* Result types: one rule an op for all dialects (ops.def). A rule computes the type of the first result from
 * operands and attributes. Text dialects state types, which must match; ONNX results get theirs here. */
#pragma once

#include "import/ops.h"

enum { TYPING_OPERANDS = 6 };

/* An op being typed by its rule. */
struct typing {
    struct lx_model *m;
    struct model_op *op;
    const struct op_row *row;
    enum model_format dialect;
    int64_t opset;                                /* ONNX */
    const struct model_type *in[TYPING_OPERANDS]; /* the first operands; NULL: omitted */
    const struct model_type
        *stated;                  /* text: the result's type; of an op without results, its first operand's */
    enum model_element element;   /* ONNX: of the first result */
    int64_t want[MODEL_MAX_RANK]; /* extents of the first result */
    int rank;
    const char *why;                        /* the error; NULL: the result does not match `want` */
    bool schema;                            /* an attribute is missing or malformed */
    const struct lx_model_options *options; /* ONNX; NULL: none */
    int64_t budget;                         /* ONNX: elements that may still be folded */
    bool derived;                           /* not in the file */
    lx_status *st;
};

/* typing.c: for rules. */
enum typed typing_like(struct typing *t, const struct model_type *like);
void typing_want(struct typing *t, int64_t extent);
/* Does a shape broadcast to the wanted one, right-aligned? `spread`: wanted extents of 1 grow as well, and so
 * does the rank. */
bool typing_fits(struct typing *t, int rank, const int64_t *extent, bool grows);
bool typing_spread(struct typing *t, int rank, const int64_t *extent);
enum typed typing_wrong(struct typing *t, const char *why);
enum typed typing_schema(struct typing *t, const char *why);
/* ONNX: the type of a further result, if wanted. An impossible type breaks the rule. */
void typing_result(struct typing *t, int result, enum model_element e, int rank, const int64_t *extent);
int64_t typing_int(const struct typing *t, const char *key, int64_t otherwise);
/* Numbers of an attribute, or of a known operand (-1, NULL: none). *count -1: neither is given. False: the
 * operand is unknown, or has more than `most`. */
bool typing_ints(const struct typing *t, const char *key, int operand, int64_t *out, int most, int *count);
bool typing_has(const struct typing *t, int operand);
const struct model_data *typing_data(const struct typing *t, int operand); /* NULL: not known */
/* A dimension in 0..rank-1; negative ones count from the end; -1: out of range. */
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
    X(tuple, "the types of its operands")                                                                    \
    X(tuple_part, "the type of that part of the tuple")                                                      \
    X(call, "operands and result are those of what is called")
#define TYPE_RULE(name, words)                                                                               \
    enum typed type_of_##name(struct typing *t);                                                             \
    extern const struct type_rule type_##name;
TYPE_RULES(TYPE_RULE)
#undef TYPE_RULE
extern const struct type_rule type_none;

/* Text: checks stated types. */
bool model_check_types(struct lx_model *m, lx_status *st);
/* ONNX: infers types (and values, if known) of all results of the graph and its subgraphs. */
bool onnx_infer_types(struct lx_model *m, const struct lx_model_options *options, lx_status *st);
/* The same for one op of a derived body. */
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

/* The user's number for `name`; false: none. Names of text formats have a "%" or not. */
bool model_extent_given(struct lx_model *m, const struct lx_model_options *o, const char *name, int64_t *out);
/* Puts the name on the list, once; the list is a piece of a command line and stays short. */
void model_extent_ask(struct text *unbound, const char *name);
/* False where anything had to be asked for. */
bool model_extents_told(const struct lx_model *m, const struct text *unbound, lx_status *st);
/* TTIR and HLO, once everything is read: every `?` becomes a number. */
bool model_extents_bind(struct lx_model *m, const struct lx_model_options *o, lx_status *st);

/* ---- Arithmetic on values that are known ahead, as the ops would do it ---- */

/* From NOT on of one operand. */
enum fold_op { ADD, SUB, MUL, DIV, MOD, MIN, MAX, EQ, LT, GT, LE, GE, AND, OR, NOT, NEG, ABS, FLOOR, CEIL };

/* Division truncates; Mod has the sign of the divisor unless `fmod` is set. False: it is left to the op. */
bool fold_whole(enum model_element e, enum fold_op op, int64_t a, int64_t b, bool fmod, int64_t *y);
bool fold_fraction(enum fold_op op, double a, double b, double *y);
/* A number rounded or wrapped to an element of that type. */
int64_t fold_kept_int(enum model_element e, int64_t n);
double fold_kept_real(enum model_element e, double x);
/* Conversions: toward 0, into the range of the type; NaN gives 0. */
int64_t fold_to_int(enum model_element e, double x);
double fold_to_real(enum model_element to, enum model_element from, int64_t n);
