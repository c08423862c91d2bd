/* Boxes and regions: the place of a tensor's sticks in a memory, and the sticks that an op touches. Private
 * to the stage.
 *
 * A box is a rectangle of device positions (the inside of the stick left out), stored row by row: a whole
 * tensor in HBM, or one core's part in a scratchpad. Where a core holds its parts of several tiles, a
 * dimension is in runs: the positions between them are other cores', and the runs stand one behind the other.
 * A region is a core's access to one operand: for each host dimension the offsets of its elements, relative
 * to the begin of a box, and for each device dimension the touched positions. */
#pragma once

#include "device/memory/dtypes.h"
#include "divide/divide.h"
#include "layout/op_index.h"

struct box {
    int rank; /* device dimensions without the inside of the stick */
    int64_t lo[LX_MAX_DEVICE_RANK], hi[LX_MAX_DEVICE_RANK];
    int64_t run[LX_MAX_DEVICE_RANK],
        step[LX_MAX_DEVICE_RANK]; /* length of a run, and distance to the next; run 0: one run */
};

/* Number of positions along dimension k. */
static inline int64_t box_width(const struct box *b, int k)
{
    int64_t all = b->hi[k] - b->lo[k];
    return b->run[k] ? (all - b->run[k]) / b->step[k] * b->run[k] + b->run[k] : all;
}

/* Index of position p along dimension k of the box; -1: not in the box. */
static inline int64_t box_local(const struct box *b, int k, int64_t p)
{
    int64_t at = p - b->lo[k];
    if (at < 0 || p >= b->hi[k]) return -1;
    if (b->run[k] == 0) return at;
    return at % b->step[k] < b->run[k] ? at / b->step[k] * b->run[k] + at % b->step[k] : -1;
}

struct box box_whole(const struct lx_layout *l);
/* The part of core `core` in the slice that begins at positions `begin`, each dimension being cut into the
 * view's tiles; empty if the view has no such core. */
struct box box_of_slice(const struct lx_layout *l, const struct lx_core_view *v, const int64_t *begin,
                        int64_t core);
bool box_equal(const struct box *a, const struct box *b);
/* Index of the stick at a position; -1: not in the box. */
int64_t box_stick(const struct box *b, const int64_t *position);
int64_t box_sticks(const struct box *b);
/* Sticks per step of each dimension of the box. */
void box_strides(const struct box *b, int64_t *strides);

enum { OUTSIDE = -1 }; /* a missing element: it reads as 0 */

struct region {
    int host_rank, rank;
    int64_t count[LX_MAX_RANK];
    int64_t *element[LX_MAX_RANK]; /* offset in elements from the begin of the box, or OUTSIDE */
    int64_t touched[LX_MAX_DEVICE_RANK];
    int64_t *position[LX_MAX_DEVICE_RANK]; /* ascending */
    bool within;                           /* all touched positions are in the box */
};

/* The values [from, to) of each variable of an op. */
struct slice {
    int64_t from[LX_MAX_VARS], to[LX_MAX_VARS];
};

/* Sets the region of operand `operand` of an op with index map `x`, in a box. Slices up to the end of a
 * dimension include padding. */
void region_make(const struct lx_layout *l, const struct box *b, const struct op_index *x, int operand,
                 const struct slice *s, struct arena *memory, struct region *out);
/* The same without the table of elements: only the sticks. */
void region_touched(const struct lx_layout *l, const struct box *b, const struct op_index *x, int operand,
                    const struct slice *s, struct arena *memory, struct region *out);
/* The whole tensor; `sticks_only`: without the table of elements. */
void region_whole(const struct lx_layout *l, const struct box *b, bool sticks_only, struct arena *memory,
                  struct region *out);
/* The elements of a box with whole positions that are in [from, to) of each host dimension. `first`: host
 * index of its begin. */
void region_of_box(const struct lx_layout *l, const struct box *b, const int64_t *from, const int64_t *to,
                   struct arena *memory, struct region *out, int64_t *first);
int64_t region_sticks(const struct region *r);
int64_t region_items(const struct region *r);

/* Called for every touched stick: its index in the box and its number in the tensor. */
typedef void stick_visit(void *context, int64_t local, int64_t global);
void region_visit(const struct region *r, const struct lx_layout *l, const struct box *b, stick_visit *visit,
                  void *context);
void box_visit(const struct lx_layout *l, const struct box *b, stick_visit *visit, void *context);

/* Elements between device memory and dense arrays. */

/* `at`: the begin of the region's box. `strides`: elements per step of each host dimension in the dense
 * array, which may be in any order; missing elements read as 0 and are not written. */
void pack_gather(const struct lx_layout *l, const struct region *r, const void *at, float *to,
                 const int64_t *strides);
void pack_scatter(const struct lx_layout *l, const struct region *r, const float *from,
                  const int64_t *strides, void *at);
/* The same with wide numbers, elements taken as type `as`. */
void pack_gather_wide(const struct lx_layout *l, const struct number_type *as, const struct region *r,
                      const void *at, wide_number *to, const int64_t *strides);
void pack_scatter_wide(const struct lx_layout *l, const struct number_type *as, const struct region *r,
                       const wide_number *from, const int64_t *strides, void *at);
/* Whole tensors as items in host order. */
void pack_items_in(const struct lx_layout *l, const struct region *r, const void *items, void *at);
void pack_items_out(const struct lx_layout *l, const struct region *r, const void *at, void *items);
/* Into items of a tensor of `shape`, in which the region begins at host index `first`. */
void pack_items_part_out(const struct lx_layout *l, const struct region *r, const int64_t *first,
                         const int64_t *shape, const void *at, void *items);
/* The number of elements that differ from `items`, bit for bit. */
int64_t pack_items_differing(const struct lx_layout *l, const struct region *r, const int64_t *first,
                             const void *at, const void *items);
