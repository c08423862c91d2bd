/* How one tensor lies over a team of devices: plain functions on ranges, no graph.
 *
 * A tensor is cut into contiguous blocks along one dimension (or is whole on every device). What a device
 * holds of it are three parts that together are one block of the global index space:
 *
 *     left halo | own | right halo        offset[cut] is the global index of the first of them
 *
 * Halos are copies of what other devices own. Any part may be empty, the own one too.
 *
 * A view is a slice of the global index space, element i of it is offset + stride * i. A target is the range
 * of a view's own indices that a device computes; a core is the range of these for which the device owns all
 * that it reads. Targets and cores are in the view's index space, which views of one shape share, so that
 * loops over them fuse.
 *
 * All functions are exact for every stride >= 1, for empty ranges and for extents of 1, and an empty result
 * has size 0, never less. Ranges lie within +-2^61; products are computed in 128 bits. */
#ifndef LX_TEAM_DISTRIBUTION_H
#define LX_TEAM_DISTRIBUTION_H

#include "graph/graph.h"

enum { LX_TEAM_DEVICES = LX_GRID_DEVICES };

struct lx_team_box {
    int rank;
    int64_t offset[LX_MAX_RANK], size[LX_MAX_RANK];
};

struct lx_team_view {
    int rank;
    int64_t offset[LX_MAX_RANK], size[LX_MAX_RANK], stride[LX_MAX_RANK];
};

enum lx_team_part { LX_TEAM_LEFT, LX_TEAM_OWN, LX_TEAM_RIGHT, LX_TEAM_PARTS };

struct lx_team_array {
    int rank;
    int shard;                   /* the dimension; -1: whole on every device, all of it own */
    int64_t shape[LX_MAX_RANK];  /* global */
    int64_t offset[LX_MAX_RANK]; /* global, of the first part */
    int64_t size[LX_MAX_RANK];   /* local, the parts joined */
    int64_t part[LX_TEAM_PARTS]; /* extents along the cut */
};

/* Boxes: an empty one has a size of 0 in some dimension (a box of rank 0 is one element). */
bool lx_team_box_empty(const struct lx_team_box *b);
int64_t lx_team_box_elements(const struct lx_team_box *b);
struct lx_team_box lx_team_box_of(int rank, const int64_t *shape);
struct lx_team_box lx_team_box_meet(const struct lx_team_box *a, const struct lx_team_box *b);
/* The smallest box around both; an empty one adds nothing. */
struct lx_team_box lx_team_box_hull(const struct lx_team_box *a, const struct lx_team_box *b);
bool lx_team_box_within(const struct lx_team_box *inner, const struct lx_team_box *outer);
bool lx_team_box_equal(const struct lx_team_box *a, const struct lx_team_box *b);

/* Which elements of a slice lie in [from, from + length): the first `skip` do not, then `size` do. `local`
 * is where the first of these lies, counted from `from` (at most `length`). */
struct lx_team_overlap {
    int64_t skip, size, local;
};
struct lx_team_overlap lx_team_overlap_of(int64_t from, int64_t length, int64_t offset, int64_t size,
                                          int64_t stride);

/* Equal blocks, the extra elements to the last devices; other dimensions whole. `cut` -1: everything. */
struct lx_team_box lx_team_default_partition(int devices, int device, int rank, const int64_t *shape,
                                             int cut);
/* A tensor of which the device owns a box, without halos; and one in its default partition. */
struct lx_team_array lx_team_array_of_box(int rank, const int64_t *shape, int cut,
                                          const struct lx_team_box *own);
struct lx_team_array lx_team_array_make(int devices, int device, int rank, const int64_t *shape, int cut);
/* The parts as boxes of the global index space; returns how many there are: 1 for a scalar, else 3. */
int lx_team_parts_of(const struct lx_team_array *a, struct lx_team_box out[LX_TEAM_PARTS]);

/* What of a slice is held locally, halos included. `target` is in the slice's indices (the skip); `local`
 * is where the first element lies in the local data. */
struct lx_team_target {
    struct lx_team_box target;
    int64_t local[LX_MAX_RANK];
};
struct lx_team_target lx_team_local_target_of_slice(const struct lx_team_array *a,
                                                    const struct lx_team_view *slice);

/* The hull of `box` (NULL: none) and of what the target needs of the view's base; with `inner`, their
 * intersection. Global offsets. A target that misses the view needs nothing and widens nothing. */
struct lx_team_box lx_team_local_bounding_box(const struct lx_team_view *view,
                                              const struct lx_team_box *target, const struct lx_team_box *box,
                                              bool inner);
/* The elements of the target (and of `core`, if not NULL) whose base elements the device owns. In the view's
 * index space, as target and core are. */
struct lx_team_box lx_team_local_core(const struct lx_team_array *a, const struct lx_team_view *view,
                                      const struct lx_team_box *target, const struct lx_team_box *core);

/* The same tensor with halos that make the local data the box. The own part becomes a view of the old own
 * part that begins at `own_view`. Box NULL: the default partition is kept and halos go; of a tensor of one
 * element every device gets a copy. */
struct lx_team_array lx_team_repartition(const struct lx_team_array *a, const struct lx_team_box *box,
                                         int64_t own_view[LX_MAX_RANK]);

/* A slice of a distributed tensor, part by part; `target` (NULL: all of it) restricts it. Part i begins at
 * part[i].offset within part i of the base and steps by the view's stride. `offset` is the index, in the
 * slice, of the first local element. */
struct lx_team_subview {
    int64_t shape[LX_MAX_RANK], offset[LX_MAX_RANK];
    struct lx_team_box part[LX_TEAM_PARTS];
};
struct lx_team_subview lx_team_subview_of(const struct lx_team_array *a, const struct lx_team_view *view,
                                          const struct lx_team_box *target);

/* The loops of an element-wise op along the cut: operands are known by the extents of their parts (which add
 * up to the same total), NULL for one that is broadcast. The core comes first, then every other interval
 * between two cut points, in order, each once; none is empty. */
struct lx_team_range {
    int64_t begin, end;
};
enum { LX_TEAM_LOOPS = 2 + LX_TEAM_PARTS * (LX_MAX_INPUTS + 1) };
int lx_team_elementwise_loops(const int64_t *const *parts, int operands, const struct lx_team_range *core,
                              struct lx_team_range out[LX_TEAM_LOOPS]);

/* A reduction works on the own part; `combine` says that the devices' results must be combined, because the
 * cut is among the reduced dimensions (a bit each). */
struct lx_team_box lx_team_reduction_of(const struct lx_team_array *a, unsigned reduced, bool *combine);

/* Insertion of a source into a slice of a destination: the source is repartitioned to the destination's
 * local target, then its parts are written in order. Local offsets count from the start of the local data. */
struct lx_team_insertion {
    struct lx_team_array source;
    struct {
        int64_t source, destination, size; /* along the cut of the destination; steps by the slice's stride */
    } piece[LX_TEAM_PARTS];
};
struct lx_team_insertion lx_team_insert_slice(const struct lx_team_array *destination,
                                              const struct lx_team_view *slice,
                                              const struct lx_team_array *source);

#endif
