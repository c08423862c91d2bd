/* Shared by the files of the reader of MLIR: ttir_read.c has modules, functions and locations, ttir_ops.c
 * types and ops of TTIR, ttir_attrs.c attributes and constants. StableHLO becomes HLO: stable_ops.c has its
 * ops and regions, stable_attrs.c their attributes. */
#pragma once

#include "import/read/source.h"

typedef VEC(const struct model_type *) ttir_types;

struct ttir {
    struct reader r;
    struct names aliases;
    VEC(const char *) stands;         /* by alias: a text, "#name" of another alias, or NULL */
    ttir_types results;               /* stated by the function */
    VEC(const char *) more;           /* names of the op's further results, if each has its own */
    bool stable;                      /* the ops are StableHLO */
    const struct stable_scope *scope; /* around the region that is read; NULL: a function */
};

/* "@name" or "@\"any name\"", `what` in the error. */
const char *ttir_symbol(struct source *s, const char *what);
/* The element type at the cursor; MODEL_ELEMENT_COUNT: none with a size. */
enum model_element ttir_element(struct source *s);
/* tensor<4x8xbf16> */
const struct model_type *ttir_type(struct source *s);
/* (a, b) or a bare type; skips attributes. */
void ttir_type_list(struct ttir *t, ttir_types *types);
/* "{key = value, ...}", added to the reader's attributes. A key present keeps its value. */
void ttir_attrs(struct ttir *t);
/* The value of an attribute. */
void ttir_attr_value(struct source *s, struct model_attr *a);
void ttir_push_attr(struct ttir *t, struct model_attr a);
/* "loc(...)", if next: its text, "#name" of an alias, or NULL. */
const char *ttir_location(struct ttir *t);
/* The name of result `k` of several. */
const char *ttir_result_name(struct ttir *t, const char *name, int64_t k);
/* Reads one op. */
void ttir_op(struct ttir *t);
/* Reads the ops of a function and its closing bracket. */
void ttir_ops(struct ttir *t, struct model_body *body);

/* Is an op of StableHLO next? */
bool stable_is_next(struct source *s);
/* Reads the op behind "%name:many =" and adds it as ops of HLO. */
void stable_op(struct ttir *t, const char *name, int64_t many, struct model_op op);
/* Turns the attributes that were read into those that HLO has for the op; `kind` is StableHLO's. */
struct model_attrs stable_attrs(struct ttir *t, const char *kind, const struct model_op *op);
/* Makes attributes of module and arguments HLO's. */
void stable_end(struct lx_model *m);
