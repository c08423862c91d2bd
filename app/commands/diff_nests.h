/* The nests of two plans that lxplan diff compares. */
#ifndef LX_APP_COMMANDS_DIFF_NESTS_H
#define LX_APP_COMMANDS_DIFF_NESTS_H

#include "unstable.h"
#include "base/text.h"

/* A table of the runs of ops whose nests differ, with bytes that add up; nothing where none do. */
void add_nest_changes(const struct lx_plan *p, const struct lx_plan *q, const struct lx_nest_diff *d,
                      struct text *out);
/* `"nests": [...],` and a new line; nothing where neither plan has any. */
void add_nest_changes_json(const struct lx_plan *p, const struct lx_plan *q, const struct lx_nest_diff *d,
                           struct text *out);

#endif
