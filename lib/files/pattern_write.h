/* Private to the writer of patterns: its files. */
#ifndef LX_GRAPH_PATTERN_WRITE_H
#define LX_GRAPH_PATTERN_WRITE_H

#include "base/text.h"
#include "graph/graph.h"

/* pattern_write.c: `, "key": [...]`. */
void write_number(struct text *t, double v);
void write_ints(struct text *t, const char *key, const int64_t *values, int count);
/* pattern_write_list.c: all of a list of buffers behind the device. */
void write_list(const struct lx_graph *g, struct text *t);

#endif
