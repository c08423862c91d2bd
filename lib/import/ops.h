/* The op set (ops.def) as a table. */
#pragma once

#include "import/model_parts.h"

struct import;
struct layer;
struct typing;

/* Operands and results that a mapping accepts. TENSORS: operands and one result are tensors with elements.
 * LOOSE: operands beyond the least may be left out, results may be several or none. ANY_TYPE: one result;
 * tuples and empty tensors pass. */
enum op_form { OP_TENSORS, OP_LOOSE, OP_ANY_TYPE };

/* Rules of element types, in the words of errors. TTIR mixes types freely, so its rules are looser; floats of
 * all widths are one type in text dialects. ONNX: operands of PRODUCT and JOINED are one type. */
#define ELEMENT_RULES(X)                                                                                     \
    X(ANY, "")                                                                                               \
    X(LIKE, "the type of the operand")                                                                       \
    X(SAME, "all of one type")                                                                               \
    X(PRODUCT, "operands of one type")                                                                       \
    X(JOINED, "all of one type")                                                                             \
    X(TRUTH, "operands of one type make a truth")                                                            \
    X(LOGIC, "truths")                                                                                       \
    X(CHOICE, "a truth chooses between operands of the result's type")                                       \
    X(INDEX, "the type of the first operand, the others are integers")                                       \
    X(UPDATE, "the type of the first two operands, the others are integers")
#define ELEMENT_RULE(id, words) ELEMENTS_##id,
enum op_elements { ELEMENT_RULES(ELEMENT_RULE) };
#undef ELEMENT_RULE

enum typed { TYPED, TYPE_OPEN, TYPE_WRONG }; /* open: the rule does not know or judge */

struct type_rule {
    enum typed (*of)(struct typing *t);
    const char *words; /* in errors */
};

typedef bool map_op(struct import *im, const struct model_op *op, const char *ours);
typedef bool derive_op(struct layer *l); /* false: the op is left unchanged */

enum { OP_MANY = 1 << 20 };

struct op_row {
    const char *name[MODEL_FORMAT_COUNT]; /* NULL: none */
    const char *ours;
    map_op *map; /* NULL: none */
    enum op_form form;
    int least, most;              /* operands */
    const struct type_rule *type; /* NULL: none */
    enum op_elements elements;
    derive_op *layer; /* NULL: none */
    bool macro;       /* a single op to users: --no-expand keeps it */
    bool onnx_layer;  /* only for the ONNX name */
};

/* NULL: the dialect has no op of that name. */
const struct op_row *op_find(enum model_format dialect, const char *kind);
