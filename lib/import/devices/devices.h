/* Which devices of a model work together, as axes of a grid. Devices are numbered along the grid, the last
 * axis fastest; a group is then `size` devices that are `stride` apart. */
#ifndef LX_IMPORT_DEVICES_H
#define LX_IMPORT_DEVICES_H

#include "import/model_parts.h"

enum { MESH_MAX_AXES = 8 };

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
/* The devices that an op brings together, all where it names none; false: its groups differ in size, name
 * a device twice or leave one out, or are no steps of one length. */
bool model_device_group(const struct lx_model *m, const struct model_op *op, struct device_group *out);
/* The grid: the mesh of the file, or the coarsest whose axes make up all groups and parts; the number of
 * its axes, 0: none, -1: there is no such grid. */
int model_device_grid(const struct lx_model *m, int64_t extent[MESH_MAX_AXES]);
/* The axes of a grid that a group is along; false: it is along none. */
bool model_group_axes(const int64_t *extent, int axes, struct device_group g, int *first, int *count);
/* What a permutation of devices does: hands on to the device `*by` further along an axis, round its end
 * or, `*open`, not. False: something else. */
bool model_device_steps(const struct lx_model *m, const struct model_op *op, const int64_t *extent, int axes,
                        int *axis, int64_t *by, bool *open);

/* ---- Devices that share the work of a model ---- */

/* The mesh of TTIR, row-major; the number of its axes, 0: none is stated. */
int model_mesh(const struct lx_model *m, int64_t *extent);
/* Where device `device` is along an axis of it. */
int64_t model_mesh_place(const struct lx_model *m, int axis, int64_t device);
/* All devices: of the mesh, of `num_partitions`, or of the largest group that is named. */
int64_t model_device_count(const struct lx_model *m);
/* How many devices an op of several brings together; at least 1. */
int64_t model_group_size(const struct lx_model *m, const struct model_op *op);

/* ---- Devices as files list them, one after the other ---- */

enum { LISTED_DEVICES = 4096 };

struct device_list {
    int64_t count, group; /* all of them; of a group */
    int64_t id[LISTED_DEVICES];
};

/* The devices that an attribute lists, as the file numbers them; false: in no form that is known, which still
 * may tell the size of a group (0: it names none). */
bool model_device_list(const struct model_op *op, const char *key, struct device_list *out);
/* Those of a sharding, in the order of its `all` parts; `open` and `close` are the brackets around how
 * many there are in each dimension. */
bool model_parts_list(const char *open, const char *close, int64_t all, struct device_list *out);
/* Is every number below their count there once? */
bool model_each_once(const struct device_list *l);
/* By where they stand in the grid, instead of by number. */
void model_place_devices(const struct lx_model *m, struct device_list *l);

/* ---- What files say of how devices share a tensor out ---- */

enum { SHARDING_ROOM = 400 };

/* The sharding that attributes state; NULL: none. */
const char *model_sharding_text(const struct model_attrs *attrs);
/* The devices along which a sharding has parts, per dimension; how many dimensions, 0: all devices have
 * all of it, -1: it says something else. */
int model_sharding(const struct lx_model *m, const char *text, struct device_group parts[MESH_MAX_AXES + 1]);
/* Why a grid does not keep a sharding that says something else. */
const char *model_sharding_lost(const char *text);
/* The sharding of one part of a tuple, in `room`; all parts have one that is no list. NULL: there is none. */
const char *model_leaf_sharding(const char *text, int leaf, char *room, size_t size);

/* ---- The order of a model's devices in its grid ---- */

/* Finds the places at which devices stand so that groups and shardings are along at most `axes` axes; as
 * numbered where that does. */
void model_order_devices(struct lx_model *m, int axes);

/* Does it ask which of the devices runs it? */
bool model_asks_for_number(const struct lx_model *m);

#endif
