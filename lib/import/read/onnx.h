/* Inside the reader of ONNX: what its files share. onnx_read.c has the model and its inputs, onnx_tensors.c tensors and
 * types, onnx_graph.c nodes, scopes, subgraphs and local functions, onnx_order.c their order, onnx_shapes.c and
 * onnx_shape_*.c the shape of every result, onnx_fold.c values that are known before the model runs. */
#ifndef LX_IMPORT_ONNX_H
#define LX_IMPORT_ONNX_H

#include "import/read/onnx_wire.h"

/* Names that can be seen: of this graph, then of those around it. */
struct onnx_scope {
    struct names names;
    struct onnx_scope *outer;
    int32_t body;         /* whose values these are */
    VEC(int32_t) outside; /* values of graphs further out that were named within */
};

struct onnx_function {
    const char *kind; /* "domain:Name", as nodes have it */
    struct wire text;
    bool under_way; /* is being put in place of a call */
};

struct onnx {
    struct wire w;
    bool failed;
    const struct lx_model_options *options;
    VEC(struct onnx_function) functions;
    struct names function_names;
    VEC(int32_t) captured; /* values further out that subgraphs of the node under way name */
    struct text *unbound;  /* extents that nobody gave a number, each once */
    int depth, calls;
};

/* Ops with what they wait for: operands, and what their subgraphs name. */
struct onnx_node {
    struct model_op op;
    struct wire at; /* of the file */
    VEC(int32_t) waits;
};
typedef VEC(struct onnx_node) onnx_nodes;

/* A tensor: its type and, up to MODEL_MAX_KNOWN elements, its numbers. *name may be left NULL. */
const struct model_data *onnx_tensor(struct wire w, const char **name);
/* A value with its type: NULL where there is none. Extents without a number are -1 unless `o` has one for them;
 * `ask`: what it has none for goes to the list of unbound ones. */
struct onnx_info {
    const char *name;
    const struct model_type *type;
    bool exact; /* all extents are numbers in the file */
};
bool onnx_value_info(struct onnx *o, struct wire w, struct onnx_info *info, bool ask);

/* A graph within `outer` (NULL: none); its number, or -1. */
int32_t onnx_graph(struct onnx *o, struct wire w, struct onnx_scope *outer);
/* onnx_nodes.c: the nodes among the fields of a graph or a function. First their results get values, then they are made;
 * calls of local functions are replaced by what these do. */
struct onnx_building {
    struct onnx *o;
    struct onnx_scope *scope;
    onnx_nodes *nodes;
    int32_t body;
    int field;                   /* of nodes: 1 in a graph, 7 in a function */
    const char *prefix;          /* of names in a function: that of the call, "" outside */
    const struct model_op *call; /* of the function under way, or NULL */
};
bool onnx_declare_results(struct onnx_building *b, struct wire w);
bool onnx_make_nodes(struct onnx_building *b, struct wire w);
/* What errors call a node: its first result. */
const char *onnx_node_name(const struct lx_model *m, const struct model_op *op);
/* The number of a name that can be seen; -1: nobody has it. */
int32_t onnx_look_up(struct onnx_scope *s, const char *name);
bool onnx_bind(struct onnx *o, struct onnx_scope *s, const char *name, int32_t value);
/* onnx_attrs.c */
bool onnx_attrs(struct onnx_building *b, struct wire node, struct model_attrs *out, struct model_op *op);
/* Puts the nodes in an order in which makers stand before readers; *changed: it was another one. */
bool onnx_sort(struct onnx *o, onnx_nodes *nodes, int32_t body, const char *graph, bool *changed);
/* Types (and values, where they can be known) of all results of the graph and its subgraphs. */
bool onnx_shapes(struct lx_model *m, const struct lx_model_options *options, lx_status *st);

/* The same of one op that is not in the file. */
bool onnx_shape_part(struct lx_model *m, struct model_op *op, lx_status *st);

/* The version of the op set that a kind belongs to. */
int64_t onnx_opset(const struct lx_model *m, const char *kind);

/* One op whose results get their types. */
struct shaper {
    struct lx_model *m;
    struct model_op *op;
    int64_t opset;
    bool one_opset; /* whatever the file says */
    int64_t budget; /* elements that may still be computed ahead */
    int depth;
    const struct lx_model_options *options; /* NULL: none */
    lx_status *st;
};

enum shaped { SHAPED, SHAPE_UNKNOWN, SHAPE_WRONG }; /* wrong: `st` says why */

typedef enum shaped onnx_shape_of(struct shaper *x);

/* onnx_shapes.c: for the rows. */
const struct model_type *shaper_in(const struct shaper *x, int operand); /* NULL: left out, or not known */
bool shaper_has(const struct shaper *x, int operand);
const struct model_data *shaper_data(const struct shaper *x, int operand); /* NULL: not known */
enum shaped shaper_set(struct shaper *x, int result, enum model_element e, int rank, const int64_t *extent);
enum shaped shaper_wrong(struct shaper *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of operands and attributes that are not there. */
enum shaped shaper_schema(struct shaper *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* onnx_signatures.c: operands and attributes of a node of the file, and the element type that it declares of a result. */
bool onnx_check_node(struct shaper *x);
bool onnx_check_declared(struct shaper *x, const struct model_value *v);
int64_t shaper_int(const struct shaper *x, const char *key, int64_t otherwise);
/* Numbers of an attribute, or (from some opset on) of an operand; false: neither is known. *count -1: not given. */
bool shaper_ints(const struct shaper *x, const char *key, int operand, int64_t *out, int most, int *count);
/* Of 0..rank-1, or -1. */
int shaper_axis(int64_t axis, int rank);
/* Numpy's rule, right-aligned; false: they do not fit. */
bool shaper_broadcast(int64_t *extent, int *rank, const struct model_type *with);

/* Tables of the onnx_shape_*.c files; NULL: no row. */
onnx_shape_of *onnx_shape_basic(const char *kind);
onnx_shape_of *onnx_shape_view(const char *kind);
onnx_shape_of *onnx_shape_window(const char *kind);
onnx_shape_of *onnx_shape_macro(const char *kind);
onnx_shape_of *onnx_shape_make(const char *kind);
/* Where a Slice begins and how it steps, dimension by dimension, with the extents that come out; false: not known. */
bool onnx_slice(const struct shaper *x, int64_t *start, int64_t *step, int64_t *extent);
/* The sizes of the parts of a Split, room for MODEL_MAX_KNOWN; false: they are not as they must be. */
bool onnx_split(const struct shaper *x, int *axis, int64_t *sizes);
/* Computes what the op gives, if it is of a kind that is computed ahead and all it needs is known. */
bool onnx_fold(struct shaper *x);

struct onnx_shape_row {
    const char *kind;
    onnx_shape_of *shape;
};
onnx_shape_of *onnx_shape_find(const struct onnx_shape_row *rows, const char *kind);

/* The windows of a Conv or a pool, extents of the result included; -1: not as they must be. */
struct model_window;
int onnx_windows(const struct model_op *op, const struct model_type *x, const int64_t *size, int count,
                 struct model_window *w);

#endif
