/* Layouts and divisions as tables for people. */
#ifndef LX_APP_STAGES_SHOW_DIVIDE_H
#define LX_APP_STAGES_SHOW_DIVIDE_H

#include "unstable.h"
#include "base/text.h"

/* Per tensor its device layout; then the restickifies that were added, and the padded rows. */
void show_layouts(const struct lx_layouts *l, struct text *out);
/* Per op: iteration space, splits, cores used, extents of one core, span of each tensor, and why. */
void show_divisions(const struct lx_divisions *d, struct text *out);
/* How else each op could be divided, the quickest ways. */
void show_alternatives(const struct lx_divisions *d, struct text *out);

#endif
