/* Distribution of one tensor over a team of devices: plain functions on ranges, without a graph.
 *
 * A tensor is sharded into contiguous blocks along one dimension (or replicated). A device holds three
 * parts, which together are one block of the global index space:
 *
 *     left halo | own | right halo     offset[shard] is the global index of the first element
 *
 * Halos are copies of other devices' elements. Any part may be empty, also the own one.
 *
 * A view is a slice of the global index space; its element i is offset + stride * i. A target is the range
 * of a view's indices that a device computes. A core is the part of a target whose inputs the device owns.
 * Targets and cores are in the view's index space; views of equal shape share it, so loops over them fuse.
 *
 * All functions are exact for every stride >= 1, for empty ranges and for extents of 1. An empty result has
 * size 0, never less. Ranges lie within +-2^61; products are computed in 128 bits. */
#pragma once

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
    int shard;                   /* the sharded dimension; -1: replicated, all own */
    int64_t shape[LX_MAX_RANK];  /* global */
    int64_t offset[LX_MAX_RANK]; /* global, of the first part */
    int64_t size[LX_MAX_RANK];   /* local, the parts joined */
    int64_t part[LX_TEAM_PARTS]; /* extents along the sharded dimension */
};

/* Boxes. An empty box has size 0 in some dimension; a box of rank 0 is one element. */
bool lx_team_box_empty(const struct lx_team_box *b);
int64_t lx_team_box_elements(const struct lx_team_box *b);
struct lx_team_box lx_team_box_of(int rank, const int64_t *shape);
struct lx_team_box lx_team_box_meet(const struct lx_team_box *a, const struct lx_team_box *b);
/* The smallest box around both; empty boxes add nothing. */
struct lx_team_box lx_team_box_hull(const struct lx_team_box *a, const struct lx_team_box *b);
bool lx_team_box_within(const struct lx_team_box *inner, const struct lx_team_box *outer);
bool lx_team_box_equal(const struct lx_team_box *a, const struct lx_team_box *b);

/* The elements of a slice within [from, from + length): `size` elements after the first `skip`. `local` is
 * the position of the first one, relative to `from` (at most `length`). */
struct lx_team_overlap {
    int64_t skip, size, local;
};
struct lx_team_overlap lx_team_overlap_of(int64_t from, int64_t length, int64_t offset, int64_t size,
                                          int64_t stride);

/* Equal blocks along `cut`, extra elements to the last devices; other dimensions whole. `cut` -1: the whole
 * tensor. */
struct lx_team_box lx_team_default_partition(int devices, int device, int rank, const int64_t *shape,
                                             int cut);
/* A tensor without halos: the device owns box `own`, or its box of the default partition. */
struct lx_team_array lx_team_array_of_box(int rank, const int64_t *shape, int cut,
                                          const struct lx_team_box *own);
struct lx_team_array lx_team_array_make(int devices, int device, int rank, const int64_t *shape, int cut);
/* Writes the parts as boxes of the global index space. Returns their number: 1 for a scalar, otherwise 3. */
int lx_team_parts_of(const struct lx_team_array *a, struct lx_team_box out[LX_TEAM_PARTS]);

/* The part of a slice in the local data, halos included. `target` is in the slice's indices; `local` is the
 * position of its first element in the local data. */
struct lx_team_target {
    struct lx_team_box target;
    int64_t local[LX_MAX_RANK];
};
struct lx_team_target lx_team_local_target_of_slice(const struct lx_team_array *a,
                                                    const struct lx_team_view *slice);

/* The hull of `box` (NULL: none) and the target's elements in the view's base; with `inner` their
 * intersection. Offsets are global. A target that misses the view needs nothing and widens nothing. */
struct lx_team_box lx_team_local_bounding_box(const struct lx_team_view *view,
                                              const struct lx_team_box *target, const struct lx_team_box *box,
                                              bool inner);
/* The elements of the target (and of `core`, if not NULL) whose base elements the device owns, in the view's
 * index space. */
struct lx_team_box lx_team_local_core(const struct lx_team_array *a, const struct lx_team_view *view,
                                      const struct lx_team_box *target, const struct lx_team_box *core);

/* The same tensor with halos such that the local data is `box`. The new own part begins at `own_view` in the
 * old one. `box` NULL: the default partition without halos. A tensor of one element is copied to every
 * device. */
struct lx_team_array lx_team_repartition(const struct lx_team_array *a, const struct lx_team_box *box,
                                         int64_t own_view[LX_MAX_RANK]);

/* A slice of a distributed tensor by parts, restricted to `target` (NULL: all). Part i begins at
 * part[i].offset within part i of the base, with the view's stride. `offset` is the slice index of the first
 * local element. */
struct lx_team_subview {
    int64_t shape[LX_MAX_RANK], offset[LX_MAX_RANK];
    struct lx_team_box part[LX_TEAM_PARTS];
};
struct lx_team_subview lx_team_subview_of(const struct lx_team_array *a, const struct lx_team_view *view,
                                          const struct lx_team_box *target);

/* The loops of an element-wise op along the sharded dimension. Operands are given by the extents of their
 * parts (with equal totals), a broadcast one by NULL. The core comes first, then the other intervals between
 * cut points, in order; none is empty. */
struct lx_team_range {
    int64_t begin, end;
};
enum { LX_TEAM_LOOPS = 2 + LX_TEAM_PARTS * (LX_MAX_INPUTS + 1) };
int lx_team_elementwise_loops(const int64_t *const *parts, int operands, const struct lx_team_range *core,
                              struct lx_team_range out[LX_TEAM_LOOPS]);

/* A reduction works on the own part. `combine` is set if the devices' results must be combined: the sharded
 * dimension is in `reduced` (one bit per dimension). */
struct lx_team_box lx_team_reduction_of(const struct lx_team_array *a, unsigned reduced, bool *combine);

/* Insertion of a source into a slice of a destination. The source is repartitioned to the destination's
 * local target, then its parts are written in order. Local offsets are relative to the local data. */
struct lx_team_insertion {
    struct lx_team_array source;
    struct {
        /* along the destination's sharded dimension, with the slice's stride */
        int64_t source, destination, size;
    } piece[LX_TEAM_PARTS];
};
struct lx_team_insertion lx_team_insert_slice(const struct lx_team_array *destination,
                                              const struct lx_team_view *slice,
                                              const struct lx_team_array *source);
