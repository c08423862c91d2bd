/* Nests that are asked for: "scores-mixed:h/16,s/64;up-down:f/64", ops by name or number, variables as the einsum of a
 * run's first op has them, outermost level first. Private to the stage. */
#ifndef LX_SEARCH_NEST_OPTIONS_H
#define LX_SEARCH_NEST_OPTIONS_H

#include "base/arena.h"
#include "plan/options.h"

/* Adds one or several, with ';' between them; what was asked for a run before is replaced. */
bool nest_option_set(struct lx_settings *o, const char *text, lx_status *st);
/* The nests of that text in a graph, in order of time, in `memory`. False: `st` says which of them cannot be, and why. */
bool nests_asked(const struct lx_layouts *l, const char *text, struct arena *memory, struct lx_nest **out,
                 int32_t *count, lx_status *st);

#endif
