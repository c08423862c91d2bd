/* Inside the reader of TTIR: what its files share. ttir_read.c has functions, ttir_modules.c what they
 * stand in, ttir_ops.c ops, ttir_attrs.c attributes and constants, ttir_places.c locations and their
 * aliases, ttir_rooms.c operands of older files. */
#ifndef LX_IMPORT_TTIR_H
#define LX_IMPORT_TTIR_H

#include "import/read/source.h"

/* #loc12 = loc("name"), or another alias that it stands for. */
struct ttir_alias {
    const char *text;   /* NULL: has none of its own */
    const char *stands; /* the alias that is asked instead, or NULL */
};

typedef VEC(const struct model_type *) ttir_types;

struct ttir {
    struct source s;
    struct names alias_names;
    VEC(struct ttir_alias) aliases;
    struct names values; /* of the function that is being read */
    VEC(struct model_op) ops;
    VEC(int32_t) list;
    VEC(struct model_attr) attrs;
    int32_t body;       /* number of the function */
    ttir_types results; /* that it states */
};

/* "@name" or "@\"any name\"", `what` in the error. */
const char *ttir_symbol(struct source *s, const char *what);
/* tensor<4x8xbf16>; NULL: failed. */
const struct model_type *ttir_type(struct source *s);
/* Two statements of one type; false: a failure that shows both. */
bool ttir_same_types(struct source *s, const struct model_type *a, const struct model_type *b,
                     const char *what, int number);
/* (a, b) or a bare type; each type is pushed to the list that `types` has. */
bool ttir_type_list(struct source *s, ttir_types *types);

/* "{key = value, ...}", the cursor at the bracket: added to t->attrs. A key that is there already keeps
 * its value. */
bool ttir_attrs(struct ttir *t);
/* What has been gathered, as a list of the model; t->attrs is empty again. */
void ttir_attrs_kept(struct ttir *t, struct model_attrs *out);

/* "loc(...)", if one is next. *text is its own text; else "#name" stands there for an alias; NULL:
 * neither. */
bool ttir_location(struct ttir *t, const char **text);
/* "#name = ...". */
bool ttir_alias(struct ttir *t);
/* Names that are aliases become what these stand for. */
void ttir_resolve_locations(struct ttir *t);

/* ttir_rooms.c: operands that are only room for a result are left out. */
void ttir_drop_rooms(struct lx_model *m);

/* ttir_modules.c: all that stands in the file. */
bool ttir_modules(struct ttir *t);
/* ttir_read.c: "@name(...) -> TYPES {...}", behind func.func. */
bool ttir_function(struct ttir *t);

/* The ops of a function up to its closing bracket, which is taken. */
bool ttir_ops(struct ttir *t, struct model_body *body);

#endif
