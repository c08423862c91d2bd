/* A model as in its file, made by the readers of TTIR, HLO and ONNX, before mapping.
 *
 * A body is a list of ops with arguments and results: a function, a computation, a graph, a subgraph. Values
 * are numbered over the whole model: each is an argument, a result of an op, or a constant of its own. Ops
 * are in topological order. Types may be tuples (HLO). Everything lives in the model's arena; nothing refers
 * to the text of the file. Typical sizes: 10 to 100,000 ops. */
#pragma once

#include "base/base.h"
#include "base/words/words.h"
#include "import/model_import.h"

enum {
    MODEL_MAX_RANK = 64,
    MODEL_MAX_DEPTH = 64, /* of brackets, bodies, tuples */
    MODEL_MAX_OPS = 1 << 19,
    MODEL_MAX_NAME = 4096,
    MODEL_MAX_KNOWN = 4096, /* constants keep the numbers of up to so many elements */
};

enum model_format { MODEL_TTIR, MODEL_HLO, MODEL_ONNX, MODEL_FORMAT_COUNT };

enum model_number { MODEL_NO_NUMBER, MODEL_FLOAT, MODEL_SIGNED, MODEL_UNSIGNED, MODEL_COMPLEX };

#define MODEL_ELEMENT(id, ...) MODEL_##id,
enum model_element {
#include "import/element_types.def"
    MODEL_TUPLE, /* the type has parts */
    MODEL_ELEMENT_COUNT
};
#undef MODEL_ELEMENT

/* Bits of a float that are not finite numbers. IEEE: the largest exponent is infinity, with a fraction NaN.
 * FN: all bits set except the sign are NaN; FNU: the same without a sign bit. FNUZ: the sign bit alone is
 * NaN. */
enum model_odd_bits { ODD_NONE, ODD_IEEE, ODD_FN, ODD_FNU, ODD_FNUZ };

struct model_element_row {
    const char *word[MODEL_FORMAT_COUNT];
    int onnx, bits;
    enum model_number number;
    int exponent, fraction, bias;
    enum model_odd_bits odd;
};

const struct model_element_row *model_element_row(enum model_element e);
/* For messages: the word in MLIR or HLO. */
const char *model_element_word(enum model_format format, enum model_element e);
/* MODEL_ELEMENT_COUNT: unknown. */
enum model_element model_element_find(enum model_format format, const char *word);
enum model_element model_element_of_onnx(int64_t number);

struct model_type {
    enum model_element element;
    int count;                             /* the rank; number of parts of a tuple */
    const int64_t *extent;                 /* -1: unknown */
    const int32_t *order;                  /* dimensions from minor to major; NULL: row-major */
    const struct model_type *const *parts; /* of a tuple */
    int64_t elements, bytes;               /* -1: an extent is unknown; of a tuple: the sum */
    int leaves;                            /* tensors in it */
};

enum model_data_form {
    DATA_SPLAT,    /* one number for all elements */
    DATA_LIST,     /* each element, row-major */
    DATA_BYTES,    /* the same, as bytes of the file */
    DATA_ELIDED,   /* left out of the file */
    DATA_EXTERNAL, /* in another file */
    DATA_ABSENT,   /* only a shape */
};

/* A constant. Its numbers are known up to MODEL_MAX_KNOWN elements (a splat always): `ints` of integers and
 * booleans, else `reals`, two for a complex number. A splat has one. */
struct model_data {
    enum model_data_form form;
    bool missing; /* external, and that file is missing or too short */
    const struct model_type *type;
    const int64_t *ints;
    const double *reals;
};

enum model_attr_form {
    ATTR_INT,
    ATTR_REAL,
    ATTR_BOOL, /* in `number` */
    ATTR_WORD, /* a word or a string */
    ATTR_INTS,
    ATTR_REALS,
    ATTR_WORDS,
    ATTR_DATA,
    ATTR_BODY,
    ATTR_TEXT, /* anything else, verbatim with brackets */
};

struct model_attr {
    const char *key;
    enum model_attr_form form;
    int count; /* of a list */
    int64_t number;
    double real;
    const char *text;
    const int64_t *ints;
    const double *reals;
    const char *const *words;
    const struct model_data *data;
    int32_t body;
};

struct model_attrs {
    const struct model_attr *at;
    int count;
};

enum model_value_from { FROM_ARGUMENT, FROM_OP, FROM_FILE };

struct model_value {
    const char *name;
    const struct model_type *type;     /* NULL: not known yet (ONNX) */
    const struct model_type *declared; /* as declared in the file; ONNX computes `type`. May be NULL */
    bool declared_exact;               /* by numbers only */
    enum model_value_from from;
    int32_t body, op;              /* the op within its body that makes it */
    const struct model_data *data; /* of constants and folded values */
    struct model_attrs attrs;      /* of an argument */
    const char *location;          /* NULL: none */
    int line, column;
};

struct model_op {
    const char *kind;     /* without the dialect; ONNX: "domain:Kind" outside of ai.onnx */
    const char *location; /* its name by the author; NULL: none */
    const int32_t *operands;
    int operand_count; /* operand -1: omitted */
    const int32_t *results;
    int result_count; /* result -1: unwanted */
    struct model_attrs attrs;
    const int32_t *bodies; /* called or applied bodies, in the order of the file */
    int body_count;
    bool native;     /* in a derived body: a kind of the file's format */
    int32_t instead; /* 1 + its derived body (layers.h); 0: none */
    int64_t taken;   /* ONNX: 1 + the branch that gave an If its shapes; 0: none */
    bool by_data;    /* it may not be the branch taken */
    int line, column;
};

struct model_body {
    const char *name;
    const int32_t *arguments, *results; /* values */
    int argument_count, result_count;
    struct model_op *ops;
    int op_count;
    bool declared_public, called;
    bool rearranged; /* the file has its ops in another order */
    bool derived;    /* not in the file: its kinds are ONNX's in any format (layers.h) */
    int line, column;
};

struct lx_model {
    enum model_format format;
    const char *file, *name;
    struct arena memory;
    VEC(struct model_value) values;
    VEC(struct model_body) bodies;
    int32_t entry;
    int function_count;          /* local ONNX functions, inlined */
    struct model_attrs attrs;    /* of the model */
    VEC(int32_t) constants;      /* values outside ops */
    bool *dim_used, *fixed_used; /* user options that name something in the file */
    VEC(int64_t) causal; /* per causal attention in smaller ops: the last key that the first query sees */
    /* Grid position of each device number (devices/devices.h); NULL: as numbered. */
    const int32_t *place;
    int64_t places;
};

/* Detects the format by content; MODEL_FORMAT_COUNT: no model. */
enum model_format model_format_of(const char *text, size_t length);
/* NULL: `st` has the error. `options` may be NULL. */
struct lx_model *lx_model_read(const char *file, const char *text, size_t length,
                               const struct lx_model_options *options, lx_status *st);
void lx_model_free(struct lx_model *m);

/* A reader of one format's text. Fills in a model that was begun. */
typedef bool model_reader(struct lx_model *m, const char *text, size_t length,
                          const struct lx_model_options *options, lx_status *st);
model_reader ttir_read, hlo_read, onnx_read;

/* Makes parts of a model; NULL or -1: a size is beyond a limit (`st`). */
const struct model_type *model_type_make(struct lx_model *m, enum model_element element, int rank,
                                         const int64_t *extent, lx_status *st);
const struct model_type *model_tuple_make(struct lx_model *m, const struct model_type *const *parts,
                                          int count, lx_status *st);
/* Moves a growing list to an array of the model, with its count; empties the list. */
#define MODEL_KEEP(m, v, n) model_keep(m, (void **)&(v)->at, &(v)->count, &(v)->room, sizeof *(v)->at, n)
void *model_keep(struct lx_model *m, void **at, size_t *count, size_t *room, size_t size, int *kept);
int32_t model_add_value(struct lx_model *m, const struct model_value *v, lx_status *st);
/* Tensor `leaf` of a type, counted through tuples within tuples. */
const struct model_type *model_leaf_type(const struct model_type *type, int leaf);
/* "[2,3]" */
void model_shape_words(int rank, const int64_t *extent, char *out, size_t size);
bool model_same_shape(const struct model_type *a, const struct model_type *b);
/* Compares elements and extents; of tuples the first thousand tensors. */
bool model_same_types(const struct model_type *a, const struct model_type *b);

/* Numbers of a constant or list while they are read; keeps the first `most` of `count`. */
struct model_numbers {
    VEC(int64_t) ints;
    VEC(double) reals;
    int64_t count, most;
};

/* Appends a number of element `count`; complex elements take two. */
void numbers_push(struct model_numbers *n, int64_t whole, double real);
/* Appends an element by its bits. */
void numbers_add_bits(struct model_numbers *n, enum model_element element, uint64_t bits);
/* Copies the numbers to the constant if its form and type allow it. False: too few or too many. */
bool numbers_keep(struct lx_model *m, const struct model_numbers *n, struct model_data *d);
void numbers_free(struct model_numbers *n);
/* The float that these bits are. */
double model_float_of_bits(enum model_element element, uint64_t bits);

/* Finds attributes; NULL or `otherwise` if missing or of another form. */
const struct model_attr *model_attr_find(const struct model_attrs *attrs, const char *key);
int64_t model_attr_int(const struct model_attrs *attrs, const char *key, int64_t otherwise);
const char *model_attr_word(const struct model_attrs *attrs, const char *key, const char *otherwise);
/* An absent list has a count of 0; a single number is a list of one. */
const int64_t *model_attr_ints(const struct model_attrs *attrs, const char *key, int *count);
const struct model_type *model_type_of(const struct lx_model *m, int32_t value);
/* A number of a constant; a splat has one. */
int64_t model_data_int(const struct model_data *d, int64_t element);
/* The nearest double. */
double model_data_real(const struct model_data *d, int64_t element);

/* Adds a remedy to an error message without one. Always false. */
bool model_add_remedy(enum model_format format, lx_status *st);
