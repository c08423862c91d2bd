/* The file formats: one row each, and nobody else has a list of them.
 *
 * A format tells its own text by a look at it (`sniff`), reads it into a graph, and may write graphs or lists
 * of buffers. Commands, folders, help texts and error messages walk the rows. To add a format: its file, with
 * the functions of its row, and the row in formats.c. */
#ifndef LX_FILES_FORMATS_H
#define LX_FILES_FORMATS_H

#include "base/status.h"
#include "graph/buffer.h"

#include <stddef.h>

struct lx_graph;

enum { LX_MAX_ENDINGS = 4 };

struct lx_format {
    const char *name;                    /* a word of its own: --format NAME */
    const char *summary;                 /* for people, as in "MiniMalloc CSV" */
    const char *help;                    /* its contents, for the help of the commands */
    const char *begins;                  /* how its files begin, for those who have a file that does not */
    const char *endings[LX_MAX_ENDINGS]; /* of names of files, with the dot; the rest NULL */
    bool has_addresses;                  /* a list that it writes may say where buffers are (`fixed`) */
    /* Is this text (without a byte order mark) of this format, if perhaps a faulty one? One format at most
     * says yes. */
    bool (*sniff)(const char *text, size_t length);
    const struct lx_graph *(*read)(const char *file, const char *text, size_t length, lx_status *st);
    /* Malloc'ed, or NULL with `st`. A format has one of the first two, or none where it is only read:
     * `write_graph` writes whatever a pattern can be, `write_buffers` lists only. */
    char *(*write_graph)(const struct lx_graph *g, size_t *length);
    char *(*write_buffers)(const struct lx_buffers *list, size_t *length);
    /* Where the buffers of a list are (`pool` NULL: in the first), for plans of what the format reads. */
    char *(*write_answer)(const struct lx_graph *g, const int64_t *address, const int32_t *pool,
                          size_t *length, lx_status *st);
};

/* The rows, our own format first; the last is followed by one without a name. */
const struct lx_format *lx_formats(void);
/* NULL: there is none. */
const struct lx_format *lx_format_find(const char *name);
const struct lx_format *lx_format_of(const char *text, size_t length);
/* Does the name of a file end as those of some format do? */
bool lx_format_ending(const char *path);

#endif
