/* Devices as files list them, one after the other. */
#ifndef LX_IMPORT_DEVICE_LISTS_H
#define LX_IMPORT_DEVICE_LISTS_H

#include "import/devices/meshes.h"

enum { LISTED_DEVICES = 4096 };

struct device_list {
    int64_t count, group; /* all of them; of a group */
    int64_t id[LISTED_DEVICES];
};

/* Numbers between two places of a text; how many, `most` at most. */
int model_numbers_in(const char *from, const char *to, int64_t *out, int most);
/* Does the op name devices at all? Without numbers all are meant. */
bool model_names_devices(const struct model_op *op, const char *key);
/* The devices that an attribute lists, as the file numbers them; false: in no form that we know. */
bool model_device_list(const struct model_op *op, const char *key, struct device_list *out);
/* Those of a sharding, in the order of its `all` parts; `open` and `close` are the brackets around how many there are in each
 * dimension. */
bool model_parts_list(const char *open, const char *close, int64_t all, struct device_list *out);
/* Is every number below their count there once? */
bool model_each_once(const struct device_list *l);
/* By where they stand in the grid, instead of by number. */
void model_place_devices(const struct lx_model *m, struct device_list *l);

#endif
