/* Rows and columns for people: cells are gathered, then written with columns as wide as they need to be. */
#ifndef LX_APP_TEXT_TABLE_H
#define LX_APP_TEXT_TABLE_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"
#include "text/colour.h"

struct column {
    const char *heading;
    bool is_number; /* stands at the right of its column */
};

struct cell {
    const char *text;
    enum paint paint;
};

struct table {
    const struct column *columns;
    int column_count;
    struct arena memory;
    VEC(struct cell) cells; /* row by row */
    bool failed;
};

/* The widest that a name gets in a table. */
enum { NAME_COLUMNS = 36 };

void table_cell(struct table *t, enum paint p, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A name from a file: made printable and cut to NAME_COLUMNS. */
void table_name(struct table *t, const char *name);
/* Text from a file that is made printable but not cut; for last columns. */
void table_words(struct table *t, enum paint p, const char *words);
/* Appends the table, two blanks before each row, and frees it. */
void table_write(struct table *t, struct text *out);

#endif
