/* Divisions that are asked for by name: "scores=s/8,t/4", one after the other with blanks between them. Private to
 * the stage. */
#ifndef LX_PLAN_HINT_OPTIONS_H
#define LX_PLAN_HINT_OPTIONS_H

#include "plan/options.h"

/* Adds "s/8,t/4" for an op; what was asked for it before is replaced. */
bool hint_option_set(struct lx_settings *o, const char *op, const char *text, lx_status *st);
/* The graph with all of them; a reference, or NULL with `st`. */
const struct lx_graph *hint_options_graph(const struct lx_settings *o, const struct lx_graph *g,
                                          lx_status *st);

#endif
