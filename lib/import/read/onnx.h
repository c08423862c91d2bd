/* Shared by the files of the ONNX reader: onnx_read.c has the model and its graphs, onnx_nodes.c nodes,
 * attributes and order, onnx_tensors.c tensors and types. */
#pragma once

#include "import/model_parts.h"

/* ---- The wire format of protobuf, as far as ONNX files use it ---- */

/* Fields are numbers, 4 or 8 bytes, or length-delimited bytes. Readers walk a message field by field and skip
 * unknown fields. After a failure the cursor is at its end and gives empty strings. */
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

/* The next field; false at the end or on an error. */
bool wire_next(struct wire *w, struct wire_field *f);
/* The next length-delimited field with that number. */
bool wire_next_of(struct wire *w, int number, struct wire_field *f);
/* The next number of a repeated field, which may be packed. */
bool wire_number(struct wire_field *f, enum wire_kind packed, uint64_t *out);
/* The bytes as a string, which a zero byte ends. */
const char *wire_string(const struct wire_field *f);
/* Reports an error at `w`. Always false. */
bool wire_fail(const struct wire *w, enum lx_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- The model ---- */

typedef VEC(int32_t) onnx_values;

/* Names in scope: of this graph, then of enclosing ones. */
struct onnx_scope {
    struct names names;
    struct onnx_scope *outer;
    onnx_values outside; /* values of enclosing graphs that were named within */
};

struct onnx_function {
    const char *kind; /* "domain:Name", as nodes have it */
    struct wire text;
    bool under_way; /* it is being inlined */
};

struct onnx {
    struct wire w;
    bool failed;
    const struct lx_model_options *options;
    VEC(struct onnx_function) functions;
    struct names function_names;
    onnx_values captured; /* outer values named by subgraphs of the current node */
    struct text *unbound; /* extents without a value, each once */
    int depth, calls;
};

/* An op with the values it depends on: operands, and values named in its subgraphs. */
struct onnx_node {
    struct model_op op;
    struct wire at; /* in the file */
    int32_t *waits;
    size_t wait_count;
};

typedef VEC(struct onnx_node) onnx_nodes;

/* The nodes of a graph, or of an inlined function, being made. */
struct onnx_building {
    struct onnx *o;
    struct onnx_scope *scope;
    onnx_nodes *nodes;
    int32_t body;
    int field;                   /* number of the nodes' field: 1 in a graph, 7 in a function */
    const char *prefix;          /* of names in a function: the call's name; "" elsewhere */
    const struct model_op *call; /* of the function being inlined, or NULL */
};

/* A tensor: its type and up to MODEL_MAX_KNOWN numbers. *name is unchanged if it has none. */
const struct model_data *onnx_tensor(struct wire w, const char **name);
/* A value with its type; NULL: no type. Extents without a number are -1 unless the user gave one; names that
 * `known` lacks go to the list of unbound ones. */
struct onnx_info {
    const char *name;
    const struct model_type *type;
    bool exact; /* all extents are numbers in the file */
};
struct onnx_info onnx_value_info(struct onnx *o, struct wire w, const struct names *known);

/* Reads a graph within `outer` (NULL: none); returns its number. */
int32_t onnx_graph(struct onnx *o, struct wire w, struct onnx_scope *outer);
/* Nodes: first declares their results, then makes them. */
void onnx_declare_results(struct onnx_building *b, struct wire w);
void onnx_make_nodes(struct onnx_building *b, struct wire w);
/* A topological order of the nodes. */
const int32_t *onnx_sort(struct onnx_building *b, const char *graph);
/* The value of a name in scope; -1: none. */
int32_t onnx_look_up(struct onnx_scope *s, const char *name);
/* Adds value `v` to the model under `name`. */
int32_t onnx_add_value(struct onnx_building *b, const char *name, struct model_value v);
void onnx_bind(struct onnx_building *b, const char *name, int32_t value);
/* "domain:Kind"; just the kind for ONNX itself. */
const char *onnx_kind(struct lx_model *m, const char *domain, const char *kind);
/* The op set version of a kind. */
int64_t onnx_opset(const struct lx_model *m, const char *kind);
