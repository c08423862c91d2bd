/* Reading patterns out of JSON: whole files, and the copies that plans carry. */
#ifndef LX_GRAPH_PATTERN_H
#define LX_GRAPH_PATTERN_H

#include "base/json.h"
#include "base/text.h"
#include "graph/builder.h"

/* `"lxplan": 1` and `"kind": wanted` stand in `root`. */
bool pattern_check_header(const struct json *j, const cJSON *root, const char *wanted, lx_status *st);
const struct lx_graph *pattern_read_json(const struct json *j, const cJSON *root, lx_status *st);
bool pattern_read_device(const struct json *j, const cJSON *value, struct lx_device *device, lx_status *st);
void pattern_write(const struct lx_graph *g, struct text *t);

/* read.c: some editors write one. */
void skip_byte_order_mark(const char **text, size_t *length);

/* The functions of the rows of formats.c; text comes without a byte order mark. */
bool pattern_sniff(const char *text, size_t length);
const struct lx_graph *pattern_read(const char *file, const char *text, size_t length, lx_status *st);
char *pattern_write_graph(const struct lx_graph *g, size_t *length, lx_status *st);
bool minimalloc_sniff(const char *text, size_t length); /* csv.c */
const struct lx_graph *minimalloc_read(const char *file, const char *text, size_t length, lx_status *st);
char *minimalloc_write(const struct lx_buffers *list, size_t *length, lx_status *st); /* csv_write.c */
bool xla_sniff(const char *text, size_t length);
const struct lx_graph *xla_read(const char *file, const char *text, size_t length, lx_status *st);
char *xla_write(const struct lx_buffers *list, size_t *length, lx_status *st);

#endif
