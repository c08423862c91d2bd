/* Where an operand of an op is walked on the device: one coordinate per device dimension of its layout. */
#ifndef LX_LAYOUT_OPERAND_COORDINATES_H
#define LX_LAYOUT_OPERAND_COORDINATES_H

#include "layout/flat_index.h"
#include "layout/layout.h"
#include "layout/op_index.h"

/* `out` has LX_MAX_DEVICE_RANK entries, of which the layout's rank are filled; variables are those of `x`.
 * False: the view begins outside of its tensor. */
bool operand_coordinates(const struct lx_layouts *l, int32_t op, const struct op_index *x, int operand,
                         struct coordinate *out, lx_status *st);

#endif
