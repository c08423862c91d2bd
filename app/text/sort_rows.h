/* Rows of a table in the order of one of its columns. Each value is asked for once, so that 100,000 rows are sorted
 * in some 20 ms. */
#ifndef LX_APP_TEXT_SORT_ROWS_H
#define LX_APP_TEXT_SORT_ROWS_H

#include "text/column.h"

/* Row `number` of `things`, for the value function of a column. */
typedef const void *row_of(const void *things, int32_t number);

/* Sorts `count` numbers of rows: by value where the column has one (unknown ones last), else by words; rows of one
 * value stay in the order of their numbers. False: memory is out, nothing was moved. */
bool sort_rows(const struct column *c, row_of *row, const void *things, bool descending, int32_t *numbers,
               int32_t count);

#endif
