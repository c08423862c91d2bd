/* The devices of a model that work together, as axes of a grid. Devices are numbered along the grid, the last
 * axis fastest; a group is `size` devices, `stride` apart. */
#pragma once

#include "import/model_parts.h"

enum { MESH_MAX_AXES = 8 };

struct device_group {
    int64_t stride, size;
    int64_t devices; /* of all groups, if listed; else 0 */
};

/* The number of devices: of the mesh, partitions or replicas. */
int64_t model_all_devices(const struct lx_model *m);
/* Is it an op of several devices? */
bool model_is_collective(const char *kind);
/* Does this kind of op return the device's number? */
bool model_asks_for_number(const char *kind);
bool model_has_op(const struct lx_model *m, bool (*is)(const char *kind));
/* The devices of an op's group, all if it names none; false: groups differ in size, repeat or omit a device,
 * or are not equally spaced. */
bool model_device_group(const struct lx_model *m, const struct model_op *op, struct device_group *out);
/* The grid: the file's mesh, or the coarsest with axes for all groups and shards. Returns the number of its
 * axes; -1: there is no grid. */
int model_device_grid(const struct lx_model *m, int64_t extent[MESH_MAX_AXES]);
/* The grid axes that a group follows; false: none. */
bool model_group_axes(const int64_t *extent, int axes, struct device_group g, int *first, int *count);
/* A permutation sends to the device `*by` further along an axis, wrapping around unless `*open`. False: it is
 * of another form. */
bool model_device_steps(const struct lx_model *m, const struct model_op *op, const int64_t *extent, int axes,
                        int *axis, int64_t *by, bool *open);

/* ---- Devices that share the work of a model ---- */

/* The mesh of TTIR, row-major; returns the number of axes, 0: none is stated. */
int model_mesh(const struct lx_model *m, int64_t *extent);
/* The place of a device along an axis of the mesh. */
int64_t model_mesh_place(const struct lx_model *m, int axis, int64_t device);
/* The number of devices: of the mesh, `num_partitions`, or the largest group named. */
int64_t model_device_count(const struct lx_model *m);
/* The number of devices in an op's group, at least 1. */
int64_t model_group_size(const struct lx_model *m, const struct model_op *op);

/* ---- Devices as files list them ---- */

enum { LISTED_DEVICES = 4096 };

struct device_list {
    int64_t count, group; /* in all; per group */
    int64_t id[LISTED_DEVICES];
};

/* Reads the devices that an attribute lists, by the file's numbers; false: unknown form, but `group` may
 * still be set (0: none named). */
bool model_device_list(const struct model_op *op, const char *key, struct device_list *out);
/* The devices of a sharding, in the order of its `all` shards; `open` and `close` bracket the number of
 * shards in each dimension. */
bool model_parts_list(const char *open, const char *close, int64_t all, struct device_list *out);
/* Does every number below the count occur exactly once? */
bool model_each_once(const struct device_list *l);
/* Replaces device numbers by positions in the grid. */
void model_place_devices(const struct lx_model *m, struct device_list *l);

/* ---- Shardings of tensors ---- */

enum { SHARDING_ROOM = 400 };

/* The sharding in the attributes; NULL: none. */
const char *model_sharding_text(const struct model_attrs *attrs);
/* The devices along each dimension that a sharding splits. Returns the number of dimensions; 0: replicated,
 * -1: another form. */
int model_sharding(const struct lx_model *m, const char *text, struct device_group parts[MESH_MAX_AXES + 1]);
/* Why a grid does not keep a sharding of another form. */
const char *model_sharding_lost(const char *text);
/* The sharding of leaf `leaf` of a tuple, copied to `room`; a sharding without a list holds for all leaves.
 * NULL: none. */
const char *model_leaf_sharding(const char *text, int leaf, char *room, size_t size);

/* Finds grid positions of the devices so that groups and shardings follow at most `axes` axes; keeps the
 * file's numbers if they do. */
void model_order_devices(struct lx_model *m, int axes);
