/* A program of one device that works with others, made one of the whole team. Private to the stage. */
#ifndef LX_TEAM_GLOBAL_PROGRAM_H
#define LX_TEAM_GLOBAL_PROGRAM_H

#include "graph/graph.h"

/* Does the graph say of what devices do together along which axes of its grid they do it? */
bool team_is_device_program(const struct lx_graph *g);
/* The graph of all devices, with the cuts that make each of them do what its own graph has. NULL: `st` says why there is none. */
const struct lx_graph *team_global_program(const struct lx_graph *g, lx_status *st);

#endif
