/* Rows and columns for people: cells are gathered, then written with columns as wide as they need to be. */
#ifndef LX_APP_TEXT_GATHERED_H
#define LX_APP_TEXT_GATHERED_H

#include "base/arena.h"
#include "base/text.h"
#include "base/vec.h"
#include "text/column.h"

struct heading {
    const char *heading;
    bool is_number; /* stands at the right of its column */
};

struct gathered_cell {
    const char *text;
    enum paint paint;
};

struct gathered {
    const struct heading *columns;
    int column_count;
    struct arena memory;
    VEC(struct gathered_cell) cells; /* row by row */
    bool failed;
};

void gathered_cell(struct gathered *t, enum paint p, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A name from a file: made printable and cut to NAME_COLUMNS. */
void gathered_name(struct gathered *t, const char *name);
/* Text from a file that is made printable but not cut; for last columns. */
void gathered_words(struct gathered *t, enum paint p, const char *words);
/* Appends the table, two blanks before each row, and frees it. */
void gathered_write(struct gathered *t, struct text *out);

#endif
