/* A plan file without what follows from the graph and the rest: the pattern, which who reads it has, and the launches,
 * half of a file, which are made again. Private to the library. */
#ifndef LX_PLAN_PLAN_BRIEF_H
#define LX_PLAN_PLAN_BRIEF_H

#include "plan/plan.h"

/* malloc'ed; NULL: memory is out. */
char *plan_write_brief(const struct lx_plan *p, size_t *length);
/* The plan of `g` that it states. NULL: `st` says what is wrong, also where it is of another graph. */
struct lx_plan *plan_read_brief(const char *file, const char *text, size_t length, const struct lx_graph *g,
                                lx_status *st);

#endif
