/* A model as its file has it, made by the readers of TTIR, HLO and ONNX, before anything is mapped.
 *
 * A body is a list of ops with arguments and results: a function, a computation, a graph, a subgraph. Values
 * are numbered over the whole model: each is an argument, a result of an op, or a constant of its own. Ops
 * stand makers before readers. Types may be tuples (HLO). Everything lives in the model's arena; nothing
 * refers to the text of the file. Typical sizes: 10 to 100,000 ops. */
#ifndef LX_IMPORT_MODEL_PARTS_H
#define LX_IMPORT_MODEL_PARTS_H

#include "base/arena.h"
#include "base/words/words.h"
#include "base/status.h"
#include "base/vec.h"
#include "import/model_import.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    MODEL_MAX_RANK = 64,
    MODEL_MAX_DEPTH = 64, /* of brackets, bodies, tuples */
    MODEL_MAX_OPS = 1 << 19,
    MODEL_MAX_NAME = 4096,
    MODEL_MAX_KNOWN = 4096, /* elements of a constant whose numbers are kept */
};

enum model_format { MODEL_TTIR, MODEL_HLO, MODEL_ONNX, MODEL_FORMAT_COUNT };

enum model_number { MODEL_NO_NUMBER, MODEL_FLOAT, MODEL_SIGNED, MODEL_UNSIGNED, MODEL_COMPLEX };

#define MODEL_ELEMENT(id, ...) MODEL_##id,
enum model_element {
#include "import/element_types.def"
    MODEL_TUPLE, /* the type has parts instead */
    MODEL_ELEMENT_COUNT
};
#undef MODEL_ELEMENT

/* Bits of a float that are no finite number. IEEE: the largest exponent is infinity, with a fraction NaN. FN:
 * all bits but the sign are NaN; FNU: the same without a sign. FNUZ: the sign alone is NaN. */
enum model_odd_bits { ODD_NONE, ODD_IEEE, ODD_FN, ODD_FNU, ODD_FNUZ };

struct model_element_row {
    const char *word[MODEL_FORMAT_COUNT];
    int onnx, bits;
    enum model_number number;
    int exponent, fraction, bias;
    enum model_odd_bits odd;
};

const struct model_element_row *model_element_row(enum model_element e);
/* For messages: in words of MLIR or HLO. */
const char *model_element_word(enum model_format format, enum model_element e);
/* MODEL_ELEMENT_COUNT: there is none. */
enum model_element model_element_find(enum model_format format, const char *word);
enum model_element model_element_of_onnx(int64_t number);

struct model_type {
    enum model_element element;
    int count;                             /* the rank, or how many parts a tuple has */
    const int64_t *extent;                 /* -1: not known */
    const int32_t *order;                  /* dimensions from minor to major; NULL: row-major */
    const struct model_type *const *parts; /* of a tuple */
    int64_t elements, bytes;               /* -1: an extent is not known; of a tuple: of all parts */
    int leaves;                            /* tensors in it */
};

enum model_data_form {
    DATA_SPLAT,    /* one number for all elements */
    DATA_LIST,     /* each element, row-major */
    DATA_BYTES,    /* the same, out of bytes of the file */
    DATA_ELIDED,   /* the file leaves it out */
    DATA_EXTERNAL, /* in a file of its own */
    DATA_ABSENT,   /* a shape and nothing else */
};

/* A constant. Its numbers are known up to MODEL_MAX_KNOWN elements (a splat always): `ints` of integers and
 * booleans, else `reals`, two for a complex number. A splat has one. */
struct model_data {
    enum model_data_form form;
    bool missing; /* external, and that file is not there, or too short */
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
    ATTR_TEXT, /* anything else, as it stands, brackets and all */
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
    const struct model_type *declared; /* declared in the file; ONNX computes `type`. May be NULL */
    bool declared_exact;               /* in numbers only */
    enum model_value_from from;
    int32_t body, op;              /* the op within its body, where an op makes it */
    const struct model_data *data; /* of constants, and of values computed ahead */
    struct model_attrs attrs;      /* of an argument */
    const char *location;          /* NULL: the file has none */
    int line, column;
};

struct model_op {
    const char *kind;     /* without the dialect; ONNX: "domain:Kind" outside of ai.onnx */
    const char *location; /* the name that its author gave it; NULL: none */
    const int32_t *operands;
    int operand_count; /* operand -1: left out */
    const int32_t *results;
    int result_count; /* result -1: not wanted */
    struct model_attrs attrs;
    const int32_t *bodies; /* that it calls or applies, in the order of the file */
    int body_count;
    bool native;     /* in a derived body: of the file's format after all */
    int32_t instead; /* 1 + a derived body that does the same in smaller ops (layers.h); 0: none */
    int64_t taken;   /* ONNX: 1 + the branch of an If whose shapes it has; 0: none */
    bool by_data;    /* it is not known whether the model takes it, too */
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
    bool derived;    /* not in the file: kinds are those of ONNX, whatever the format (layers.h) */
    int line, column;
};

struct lx_model {
    enum model_format format;
    const char *file, *name;
    struct arena memory;
    VEC(struct model_value) values;
    VEC(struct model_body) bodies;
    int32_t entry;
    int function_count;          /* local functions of ONNX, which are inlined */
    struct model_attrs attrs;    /* of the whole */
    VEC(int32_t) constants;      /* values that stand in the file apart from ops */
    bool *dim_used, *fixed_used; /* which options of the user name something in the file */
    VEC(int64_t) causal; /* of each causal attention in smaller ops: the last key that the first query sees */
    /* Where the device of each number stands in the grid (devices/devices.h); NULL: as numbered. */
    const int32_t *place;
    int64_t places;
};

/* By content; MODEL_FORMAT_COUNT: no model. */
enum model_format model_format_of(const char *text, size_t length);
/* NULL: `st` has the error. `options` may be NULL. */
struct lx_model *lx_model_read(const char *file, const char *text, size_t length,
                               const struct lx_model_options *options, lx_status *st);
void lx_model_free(struct lx_model *m);

/* The readers, each of a text that its format claims. They fill in a model that was begun. */
typedef bool model_reader(struct lx_model *m, const char *text, size_t length,
                          const struct lx_model_options *options, lx_status *st);
model_reader ttir_read, hlo_read, onnx_read;

/* Making parts of a model; NULL or -1: a size is beyond a limit (`st`). */
const struct model_type *model_type_make(struct lx_model *m, enum model_element element, int rank,
                                         const int64_t *extent, lx_status *st);
const struct model_type *model_tuple_make(struct lx_model *m, const struct model_type *const *parts,
                                          int count, lx_status *st);
/* A growing list as an array of the model, and how many there are; the list is empty again. */
#define MODEL_KEEP(m, v, n) model_keep(m, (void **)&(v)->at, &(v)->count, &(v)->room, sizeof *(v)->at, n)
void *model_keep(struct lx_model *m, void **at, size_t *count, size_t *room, size_t size, int *kept);
int32_t model_add_value(struct lx_model *m, const struct model_value *v, lx_status *st);
/* Tensor `leaf` of a type, counted through tuples within tuples. */
const struct model_type *model_leaf_type(const struct model_type *type, int leaf);
/* "[2,3]" */
void model_shape_words(int rank, const int64_t *extent, char *out, size_t size);
bool model_same_shape(const struct model_type *a, const struct model_type *b);
/* Elements and extents; tuples by the tensors in them, as far as the first thousand. */
bool model_same_types(const struct model_type *a, const struct model_type *b);

/* Numbers of a constant or of a list, as they are read; the first `most` of `count` elements are kept. */
struct model_numbers {
    VEC(int64_t) ints;
    VEC(double) reals;
    int64_t count, most;
};

/* Keeps a number of element `count`; complex elements have two. */
void numbers_push(struct model_numbers *n, int64_t whole, double real);
/* A further element, by its bits. */
void numbers_add_bits(struct model_numbers *n, enum model_element element, uint64_t bits);
/* Copies the numbers to the constant, if its form and its type allow it. False: there are too few or too
 * many. */
bool numbers_keep(struct lx_model *m, const struct model_numbers *n, struct model_data *d);
void numbers_free(struct model_numbers *n);
/* The float that these bits are. */
double model_float_of_bits(enum model_element element, uint64_t bits);

/* Finding: NULL or `otherwise` where there is none, or none of that form. */
const struct model_attr *model_attr_find(const struct model_attrs *attrs, const char *key);
int64_t model_attr_int(const struct model_attrs *attrs, const char *key, int64_t otherwise);
const char *model_attr_word(const struct model_attrs *attrs, const char *key, const char *otherwise);
/* An absent list has a count of 0; a single number is a list of one. */
const int64_t *model_attr_ints(const struct model_attrs *attrs, const char *key, int *count);
const struct model_type *model_type_of(const struct lx_model *m, int32_t value);
/* Numbers of a constant; NULL: not known. A splat has one of them. */
int64_t model_data_int(const struct model_data *d, int64_t element);
/* As a double, the nearest one. */
double model_data_real(const struct model_data *d, int64_t element);

/* Adds a remedy to the message of an error, unless it has one. Always false. */
bool model_add_remedy(enum model_format format, lx_status *st);

#endif
