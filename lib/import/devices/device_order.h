/* The order of a model's devices in its grid. */
#ifndef LX_IMPORT_DEVICE_ORDER_H
#define LX_IMPORT_DEVICE_ORDER_H

#include "import/model_parts.h"

/* Finds the places at which devices stand so that groups and shardings are along at most `axes` axes; as numbered where that
 * does. False: memory is out (`st`). */
void model_order_devices(struct lx_model *m, int axes);

/* Does it ask which of the devices runs it? */
bool model_asks_for_number(const struct lx_model *m);

#endif
