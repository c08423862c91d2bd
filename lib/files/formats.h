/* The file formats: the only list, one row each.
 *
 * A format recognises its text (`sniff`), reads it into a graph, and may write graphs or lists of buffers.
 * Commands, folders, help texts and error messages walk the rows. To add a format: its file, with the
 * functions of its row, and the row in formats.c. */
#pragma once

#include "base/status.h"
#include "graph/buffer.h"

#include <stddef.h>

struct lx_graph;

enum { LX_MAX_ENDINGS = 4 };

struct lx_format {
    const char *name;                    /* a single word: --format NAME */
    const char *summary;                 /* for people, as in "MiniMalloc CSV" */
    const char *help;                    /* its contents, for the help of the commands */
    const char *begins;                  /* how its files begin, for error messages */
    const char *endings[LX_MAX_ENDINGS]; /* file name endings with the dot; the rest NULL */
    bool has_addresses;                  /* lists that it writes may carry addresses (`fixed`) */
    /* Is this text (without a byte order mark) in this format, perhaps with errors? At most one format
     * returns true. */
    bool (*sniff)(const char *text, size_t length);
    const struct lx_graph *(*read)(const char *file, const char *text, size_t length, lx_status *st);
    /* Malloc'ed, or NULL with `st`. A format has one of the first two, or none if read-only: `write_graph`
     * writes any pattern, `write_buffers` only lists. */
    char *(*write_graph)(const struct lx_graph *g, size_t *length);
    char *(*write_buffers)(const struct lx_buffers *list, size_t *length);
    /* Writes the addresses of a list (`pool` NULL: the first) as an answer in the format's form. */
    char *(*write_answer)(const struct lx_graph *g, const int64_t *address, const int32_t *pool,
                          size_t *length, lx_status *st);
};

/* The rows, our own format first; ends with a row without a name. */
const struct lx_format *lx_formats(void);
/* NULL: unknown. */
const struct lx_format *lx_format_find(const char *name);
const struct lx_format *lx_format_of(const char *text, size_t length);
/* Does the file name end like a format's? */
bool lx_format_ending(const char *path);
