/* What the files of the ONNX reader share. onnx_read.c has the model and its graphs, onnx_nodes.c nodes,
 * their attributes and their order, onnx_tensors.c tensors and types. */
#ifndef LX_IMPORT_ONNX_H
#define LX_IMPORT_ONNX_H

#include "import/model_parts.h"

/* ---- The wire format of protobuf, as far as ONNX files use it ---- */

/* Fields of numbers, of 4 or 8 bytes, and of counted bytes. A message is walked field by field; fields that
 * nobody asks for are passed over. A file that has failed is at its end for everybody, and hands out empty
 * strings. */
enum wire_kind { WIRE_NUMBER = 0, WIRE_8 = 1, WIRE_BYTES = 2, WIRE_4 = 5 };

struct wire {
    const unsigned char *at, *end;
    const unsigned char *base; /* of the file, for errors */
    struct lx_model *m;
    lx_status *st;
    bool *failed; /* of the whole file */
};

struct wire_field {
    int number;
    enum wire_kind kind;
    uint64_t value;   /* also of 4 and 8 bytes */
    struct wire body; /* of counted bytes */
};

/* The next field; false at the end, or when something is wrong. */
bool wire_next(struct wire *w, struct wire_field *f);
/* The next field of counted bytes under that number. */
bool wire_next_of(struct wire *w, int number, struct wire_field *f);
/* The next number of a repeated field, which may be packed. */
bool wire_number(struct wire_field *f, enum wire_kind packed, uint64_t *out);
/* The bytes as a string. A byte of 0 ends it. */
const char *wire_string(const struct wire_field *f);
/* At the byte where `w` is. Always false. */
bool wire_fail(const struct wire *w, enum lx_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- The model ---- */

typedef VEC(int32_t) onnx_values;

/* Names that can be seen: of this graph, then of those around it. */
struct onnx_scope {
    struct names names;
    struct onnx_scope *outer;
    onnx_values outside; /* values of graphs further out that were named within */
};

struct onnx_function {
    const char *kind; /* "domain:Name", as nodes have it */
    struct wire text;
    bool under_way; /* it takes the place of a call */
};

struct onnx {
    struct wire w;
    bool failed;
    const struct lx_model_options *options;
    VEC(struct onnx_function) functions;
    struct names function_names;
    onnx_values captured; /* values further out that subgraphs of the node under way name */
    struct text *unbound; /* extents without a number, each once */
    int depth, calls;
};

/* Ops with what they wait for: operands, and what their subgraphs name. */
struct onnx_node {
    struct model_op op;
    struct wire at; /* of the file */
    int32_t *waits;
    size_t wait_count;
};

typedef VEC(struct onnx_node) onnx_nodes;

/* The nodes of a graph, or of a function in the place of a call. */
struct onnx_building {
    struct onnx *o;
    struct onnx_scope *scope;
    onnx_nodes *nodes;
    int32_t body;
    int field;                   /* of nodes: 1 in a graph, 7 in a function */
    const char *prefix;          /* of names in a function: that of the call, "" outside */
    const struct model_op *call; /* of the function under way, or NULL */
};

/* A tensor: its type and, up to MODEL_MAX_KNOWN elements, its numbers. *name may be left as it is. */
const struct model_data *onnx_tensor(struct wire w, const char **name);
/* A value with its type: NULL where there is none. Extents without a number are -1 unless the user gave one;
 * those of a name that `known` does not have are put on the list of unbound ones. */
struct onnx_info {
    const char *name;
    const struct model_type *type;
    bool exact; /* all extents are numbers in the file */
};
struct onnx_info onnx_value_info(struct onnx *o, struct wire w, const struct names *known);

/* A graph within `outer` (NULL: none); its number. */
int32_t onnx_graph(struct onnx *o, struct wire w, struct onnx_scope *outer);
/* Nodes: first their results get values, then they are made. */
void onnx_declare_results(struct onnx_building *b, struct wire w);
void onnx_make_nodes(struct onnx_building *b, struct wire w);
/* Puts the nodes in an order in which makers stand before readers; true: it was another one. */
bool onnx_sort(struct onnx_building *b, const char *graph);
/* The number of a name that can be seen; -1: nobody has it. */
int32_t onnx_look_up(struct onnx_scope *s, const char *name);
/* A new value under `name`, in the model as `v` has it. */
int32_t onnx_add_value(struct onnx_building *b, const char *name, struct model_value v);
void onnx_bind(struct onnx_building *b, const char *name, int32_t value);
/* "domain:Kind", of ONNX itself just the kind. */
const char *onnx_kind(struct lx_model *m, const char *domain, const char *kind);
/* The version of the op set that a kind belongs to. */
int64_t onnx_opset(const struct lx_model *m, const char *kind);

#endif
