/* Inside the reader of ONNX: what its files share. onnx_read.c has the model and its inputs,
 * onnx_tensors.c tensors and types, onnx_graph.c nodes, scopes, subgraphs and local functions,
 * onnx_order.c their order. */
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
/* A value with its type: NULL where there is none. Extents without a number are -1 unless `o` has one for
 * them; `ask`: what it has none for goes to the list of unbound ones. */
struct onnx_info {
    const char *name;
    const struct model_type *type;
    bool exact; /* all extents are numbers in the file */
};
bool onnx_value_info(struct onnx *o, struct wire w, struct onnx_info *info, bool ask);

/* A graph within `outer` (NULL: none); its number, or -1. */
int32_t onnx_graph(struct onnx *o, struct wire w, struct onnx_scope *outer);
/* onnx_nodes.c: the nodes among the fields of a graph or a function. First their results get values, then
 * they are made; calls of local functions are replaced by what these do. */
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
/* The version of the op set that a kind belongs to. */
int64_t onnx_opset(const struct lx_model *m, const char *kind);

/* ---- Tensors of ONNX whose numbers stand in a file beside the model ---- */

/* What field 13 of a tensor says. */
struct onnx_external {
    const char *location; /* NULL: nothing yet */
    uint64_t offset, length;
    bool has_length;
};

/* One entry, a key and its word. False: failed; a location upwards or from the root is refused. */
bool onnx_external_entry(struct onnx_external *x, struct wire entry);
/* The bytes, `wanted` of them, malloc'ed; NULL: there is no such file, or it is too short. */
unsigned char *onnx_external_bytes(const struct onnx_external *x, const char *model, size_t wanted);
/* Is there a file that could have them? */
bool onnx_external_there(const struct onnx_external *x, const char *model);

#endif
