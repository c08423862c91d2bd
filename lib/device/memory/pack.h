/* Elements between device memory and dense arrays. Private to the stage. */
#ifndef LX_DEVICE_MEMORY_PACK_H
#define LX_DEVICE_MEMORY_PACK_H

#include "device/memory/dtypes.h"
#include "device/memory/stick_box.h"

/* `at`: the begin of the region's box. `strides`: elements per step of each host dimension in the dense
 * array, which may be in any order; elements that are not there read as 0 and are not written. */
void pack_gather(const struct lx_layout *l, const struct region *r, const void *at, float *to,
                 const int64_t *strides);
void pack_scatter(const struct lx_layout *l, const struct region *r, const float *from,
                  const int64_t *strides, void *at);
/* As wide numbers, the elements taken as of type `as`. */
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
/* How many of its elements are not those of `items`, bit for bit. */
int64_t pack_items_differing(const struct lx_layout *l, const struct region *r, const int64_t *first,
                             const void *at, const void *items);

#endif
