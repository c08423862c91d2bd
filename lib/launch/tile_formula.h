/* Orders of tiles by a formula: tiles run by increasing value of an integer expression, ties row by row.
 *
 *     sum     = product { ("+" | "-") product }
 *     product = factor { ("*" | "/" | "%") factor }
 *     factor  = "-" factor | number | name | "(" sum ")" | "min" "(" sum "," sum ")" | "max" ... | "abs" "(" sum ")"
 *
 * Names: m and n, row and column of the tile; b, its batch; Mt and Nt, rows and columns of the grid; B, batches.
 * "/" and "%" round down. */
#ifndef LX_LAUNCH_TILE_FORMULA_H
#define LX_LAUNCH_TILE_FORMULA_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Can it be read? False: `st` says where and why not. */
bool formula_valid(const char *text, lx_status *st);
/* Puts the row-major numbers of all tiles in its order. False: `st` also where it has no value. */
bool formula_sort(const char *text, int64_t batch, int64_t mt, int64_t nt, int64_t *tiles, lx_status *st);

#endif
