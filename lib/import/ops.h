/* The op set (ops.def) as a table. */
#ifndef LX_IMPORT_OPS_H
#define LX_IMPORT_OPS_H

#include "import/model_parts.h"

struct import;
struct layer;
struct typing;

/* What a mapping demands. TENSORS: operands and one result are tensors with elements. LOOSE: operands
 * beyond the least may be left out, results may be several or none. ANY_TYPE: one result; tuples and empty
 * tensors pass. */
enum op_form { OP_TENSORS, OP_LOOSE, OP_ANY_TYPE };

/* TTIR mixes types freely, so that its rules are looser; floats of all widths are one type in text
 * dialects. */
enum op_elements {
    ELEMENTS_ANY,
    ELEMENTS_LIKE,    /* the result as the first operand */
    ELEMENTS_SAME,    /* operands and result are one type; TTIR: the result as an operand */
    ELEMENTS_PRODUCT, /* ONNX: operands are one type */
    ELEMENTS_JOINED,  /* the result as the first operand; ONNX: operands are one type */
    ELEMENTS_TRUTH,   /* operands of one type, the result is boolean; TTIR: any */
    ELEMENTS_LOGIC,   /* ONNX: booleans; HLO: all of one type; TTIR: any */
    ELEMENTS_CHOICE,  /* a boolean, then two of the result's type; TTIR: any */
    ELEMENTS_INDEX,   /* the result as the first operand; integers from the second on */
    ELEMENTS_UPDATE,  /* the result as the first two operands; integers from the third on */
};

enum typed { TYPED, TYPE_OPEN, TYPE_WRONG }; /* open: the rule does not know, or does not judge */

struct type_rule {
    enum typed (*of)(struct typing *t);
    const char *words; /* in errors */
};

typedef bool map_op(struct import *im, const struct model_op *op, const char *ours);
typedef bool derive_op(struct layer *l); /* false: the op is left alone */

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
    bool macro;       /* the layer is one op to people: --no-expand keeps it */
    bool onnx_layer;  /* of the ONNX name only */
};

/* NULL: the dialect has no such op. */
const struct op_row *op_find(enum model_format dialect, const char *kind);

#endif
