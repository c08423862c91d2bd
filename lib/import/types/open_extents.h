/* Extents that a file leaves open: names without a number in ONNX, `?` in MLIR and HLO. The user gives those of arguments;
 * those of results follow by the rules of their kinds. What nobody can tell is asked for, all at once. */
#ifndef LX_IMPORT_OPEN_EXTENTS_H
#define LX_IMPORT_OPEN_EXTENTS_H

#include "base/text.h"
#include "import/model_parts.h"

/* What the user said `name` is; false: nothing. A name of text formats has its "%" or not. */
bool model_extent_given(struct lx_model *m, const struct lx_model_options *o, const char *name, int64_t *out);
/* Puts the name on the list, once; the list is a piece of a command line and stays short. */
void model_extent_ask(struct text *unbound, const char *name);
/* False where anything had to be asked for. */
bool model_extents_told(const struct lx_model *m, const struct text *unbound, lx_status *st);
/* TTIR and HLO, once everything is read: every `?` becomes a number. */
bool model_extents_bind(struct lx_model *m, const struct lx_model_options *o, lx_status *st);

#endif
