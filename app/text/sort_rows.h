/* Rows of a table in the order of one of its columns. Each value is asked for once, so that 100,000 rows are sorted
 * in some 20 ms. */
#ifndef LX_APP_TEXT_SORT_ROWS_H
#define LX_APP_TEXT_SORT_ROWS_H

#include "text/column.h"

/* Sorts `count` numbers of rows of an array: by value where the column has one (unknown ones last), else by words; rows of one
 * value stay in the order of their numbers. False: memory is out, nothing was moved. */
bool sort_rows(const struct column *c, const void *rows, size_t row_size, bool descending, int32_t *numbers,
               int32_t count);

#endif
