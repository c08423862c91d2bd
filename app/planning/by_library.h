/* What the program has the library do through <lxplan/lxplan.h>, as any other program would. */
#ifndef LX_APP_PLANNING_BY_LIBRARY_H
#define LX_APP_PLANNING_BY_LIBRARY_H

#include "lxplan.h"
#include "planning/planning.h"

/* A graph as a file of that format, malloc'ed. NULL: `call->st`, at the graph's file. */
char *graph_text(struct call *call, const lx_graph *g, const char *format, size_t *length);

#endif
