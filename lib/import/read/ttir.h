/* Shared by the files of the TTIR reader: ttir_read.c has modules, functions and locations, ttir_ops.c
 * types and ops, ttir_attrs.c attributes and constants. */
#ifndef LX_IMPORT_TTIR_H
#define LX_IMPORT_TTIR_H

#include "import/read/source.h"

typedef VEC(const struct model_type *) ttir_types;

struct ttir {
    struct reader r;
    struct names aliases;
    VEC(const char *) stands; /* by alias: a text, "#name" of another alias, or NULL */
    ttir_types results;       /* stated by the function */
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
/* "loc(...)", if next: its text, "#name" of an alias, or NULL. */
const char *ttir_location(struct ttir *t);
/* Reads the ops of a function and its closing bracket. */
void ttir_ops(struct ttir *t, struct model_body *body);

#endif
