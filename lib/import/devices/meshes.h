/* Devices that share the work of a model: how many, and which of them work together. */
#ifndef LX_IMPORT_MESHES_H
#define LX_IMPORT_MESHES_H

#include "import/model_parts.h"

enum { MESH_MAX_AXES = 8 };

/* The mesh of TTIR, row-major; the number of its axes, 0: none is stated. */
int model_mesh(const struct lx_model *m, int64_t *extent);
/* Where device `device` is along an axis of it. */
int64_t model_mesh_place(const struct lx_model *m, int axis, int64_t device);
/* All devices: of the mesh, of `num_partitions`, or of the largest group that is named. */
int64_t model_device_count(const struct lx_model *m);
/* How many devices an op of several brings together; at least 1. */
int64_t model_group_size(const struct lx_model *m, const struct model_op *op);

#endif
