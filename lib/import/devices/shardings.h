/* What files say of how devices share a tensor out. */
#ifndef LX_IMPORT_SHARDINGS_H
#define LX_IMPORT_SHARDINGS_H

#include "import/devices/device_groups.h"

enum { SHARDING_ROOM = 400 };

/* The sharding that attributes state; NULL: none. */
const char *model_sharding_text(const struct model_attrs *attrs);
/* The devices along which a sharding has parts, per dimension; how many dimensions, 0: all devices have all of it, -1: it says
 * something else. */
int model_sharding(const struct lx_model *m, const char *text, struct device_group parts[MESH_MAX_AXES + 1]);
/* Why a grid does not keep a sharding that says something else. */
const char *model_sharding_lost(const char *text);
/* The sharding of one part of a tuple, in `room`; all parts have one that is no list. NULL: there is none. */
const char *model_leaf_sharding(const char *text, int leaf, char *room, size_t size);

#endif
