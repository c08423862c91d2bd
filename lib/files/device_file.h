/* Device files: a device with all its numbers and their origins. A measured device is a file, not a row of a
 * table. patterns/devices.md has the schema. */
#pragma once

#include "graph/target.h"

enum { DEVICE_FORMAT = 1 };

bool lx_device_read(const char *path, struct lx_device *out, lx_status *st);
bool lx_device_of_text(const char *file, const char *text, size_t length, struct lx_device *out,
                       lx_status *st);
/* malloc'ed. */
char *lx_device_to_json(const struct lx_device *d, size_t *length);
