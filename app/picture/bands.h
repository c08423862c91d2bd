/* The bands of export/pool_bands.h in pictures: from picture addresses to pools, and to cells. */
#ifndef LX_APP_PICTURE_BANDS_H
#define LX_APP_PICTURE_BANDS_H

#include "unstable.h"
#include "export/pool_bands.h"
#include "picture/axis.h"

/* The pool at a picture address; -1: a heading. `*address`: the address in it. */
int32_t bands_pool(const struct bands *b, int64_t place, int64_t *address);
/* The pool whose heading lies at a picture address; -1: none. */
int32_t bands_heading(const struct bands *b, int64_t place);
/* An axis of [from, to) in at most `cells` cells: headings take one row of `each` cells, bands the rest in proportion,
 * and a row at least. Events, in picture addresses, are sorted and cut at where they are few enough; NULL: to scale.
 * False when memory is out, or when there are not enough cells. */
bool bands_axis(const struct bands *b, int64_t from, int64_t to, int cells, int each, int64_t grain,
                int64_t *events, int count, struct axis *out);

#endif
