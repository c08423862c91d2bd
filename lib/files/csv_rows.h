/* Rows of comma-separated values with quotes as in RFC 4180; fields are cut out of the text, and errors have
 * their place. */
#pragma once

#include "base/base.h"

enum { CSV_FIELDS = 16 };

struct csv_rows {
    const char *file;
    char *at;            /* the rest of the text, from which fields are cut */
    int line, next_line; /* of the current row; of the rest of the text; both 1 at first */
    char *field[CSV_FIELDS];
    int field_column[CSV_FIELDS], fields;
    lx_status *st;
};

/* False at the end of the text or on an error, which sets `*bad`. */
bool csv_next_row(struct csv_rows *c, bool *bad);
/* Reports an error at a field of the row (-1: the row). Always false. */
#define csv_fail(c, of_field, code, ...)                                                                     \
    status_set_at((c)->st, (code), (c)->file, (c)->line, (of_field) < 0 ? 1 : (c)->field_column[of_field],   \
                  __VA_ARGS__)
/* The integer in a field, from `low` to 2^53; `name` of the column. */
bool csv_int(const struct csv_rows *c, int field, const char *name, int64_t low, int64_t *out);
/* Does the first line have this column? */
bool csv_header_has(const char *text, size_t length, const char *column);
/* Is it UTF-8 without zeros? Names go into plan files, which are JSON. */
bool csv_is_text(const char *file, const char *text, size_t length, lx_status *st);
