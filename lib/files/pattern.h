/* Reads patterns from JSON: whole files, and the copies in plans. */
#ifndef LX_FILES_PATTERN_H
#define LX_FILES_PATTERN_H

#include "base/json/json.h"
#include "base/text.h"
#include "graph/builder.h"

/* Checks that `root` has `"lxplan": N`, N from oldest to newest, and `"kind": wanted`. */
bool pattern_check_header(const struct json *j, const struct json_value *root, const char *wanted,
                          int64_t oldest, int64_t newest, int64_t *version, lx_status *st);
const struct lx_graph *pattern_read_json(const struct json *j, const struct json_value *root, lx_status *st);
void pattern_write(const struct lx_graph *g, struct text *t);

/* Skips the byte order mark that some editors write. */
void skip_byte_order_mark(const char **text, size_t *length);

/* A field of comma-separated values, quoted where needed, also where a spreadsheet might see a formula. */
void csv_field(struct text *t, const char *s);

/* Declare a formats.c row's functions: there, and in their own file. Texts come without a byte order mark. */
#define FORMAT_READS(format)                                                                                 \
    bool format##_sniff(const char *text, size_t length);                                                    \
    const struct lx_graph *format##_read(const char *file, const char *text, size_t length, lx_status *st)
#define FORMAT_WRITES_BUFFERS(format) char *format##_write(const struct lx_buffers *list, size_t *length)
#define FORMAT_WRITES_ANSWERS(format)                                                                        \
    char *format##_write(const struct lx_graph *g, const int64_t *address, const int32_t *pool,              \
                         size_t *length, lx_status *st)

#endif
