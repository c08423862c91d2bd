/* Which devices of a model work together, as axes of a grid. Devices are numbered along the grid, the last axis fastest; a
 * group is then `size` devices that are `stride` apart. */
#ifndef LX_IMPORT_DEVICE_GROUPS_H
#define LX_IMPORT_DEVICE_GROUPS_H

#include "import/devices/meshes.h"

struct device_group {
    int64_t stride, size;
    int64_t devices; /* of all groups together, where they are listed; 0: not said */
};

/* Those of the mesh, the partitions or the replicas. */
int64_t model_all_devices(const struct lx_model *m);
/* Is it something that several devices do together? */
bool model_is_collective(const char *kind);
/* Is there anything of the kind, so that the program is that of one device? */
bool model_is_by_device(const struct lx_model *m);
/* The devices that an op brings together, all where it names none; false: its groups differ in size, name a device twice or
 * leave one out, or are no steps of one length. */
bool model_device_group(const struct lx_model *m, const struct model_op *op, struct device_group *out);
/* The grid: the mesh of the file, or the coarsest whose axes make up all groups and parts; the number of its axes, 0: none,
 * -1: there is no such grid. */
int model_device_grid(const struct lx_model *m, int64_t extent[MESH_MAX_AXES]);
/* The axes of a grid that a group is along; false: it is along none. */
bool model_group_axes(const int64_t *extent, int axes, struct device_group g, int *first, int *count);
/* What a permutation of devices does: hands on to the device `*by` further along an axis, round its end or, `*open`, not. False:
 * something else. */
bool model_device_steps(const struct lx_model *m, const struct model_op *op, const int64_t *extent, int axes,
                        int *axis, int64_t *by, bool *open);
#endif
