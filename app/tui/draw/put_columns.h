/* The columns of a table (text/column.h) as cells of a screen: the same rows of data that the tables of the commands are
 * written from. Views fit them once per drawing and put one row after the other. */
#ifndef LX_APP_TUI_PUT_COLUMNS_H
#define LX_APP_TUI_PUT_COLUMNS_H

#include "text/column.h"
#include "tui/draw/cells.h"

enum { MOST_SCREEN_COLUMNS = 24 };

struct fitted {
    struct columns of;
    struct column_place place[MOST_SCREEN_COLUMNS];
    int end; /* the column behind the last, from the left of the table */
};

/* `of` must have no more than MOST_SCREEN_COLUMNS. */
struct fitted fit_columns(struct columns of, int room);
/* One heading, or all of them dim, in the first row of the box. */
void put_heading(struct cells *g, struct box row, const struct fitted *f, size_t column, struct style style,
                 const char *heading);
void put_headings(struct cells *g, struct box row, const struct fitted *f);
/* The value of one column of a row of data, or of all. */
void put_value(struct cells *g, struct box row, const struct fitted *f, size_t column, const void *data);
void put_values(struct cells *g, struct box row, const struct fitted *f, const void *data);

#endif
