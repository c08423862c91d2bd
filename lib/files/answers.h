/* Placements in files of their own, which name the buffers of another: CSV with the columns id and offset (with
 * or without a header), and dsa-solution-v1. A buffer that they leave out is off chip. */
#pragma once

#include "graph/graph.h"

/* Is the text such a placement, by its header? */
bool lx_is_answer(const char *text, size_t length);
/* The list `g` with the placement of the text. NULL: `st`. */
const struct lx_graph *lx_graph_with_answer(const struct lx_graph *g, const char *file, const char *text,
                                            size_t length, lx_status *st);
