/* Elements between host and device, for tests of layouts: one index at a time, and whole tensors. Apart from the
 * device on purpose, which goes by boxes of sticks.
 *
 * Indices go through (host_dim, step): device coordinates of one host dimension add up to its index, and an
 * index beyond the shape is padding. Whole copies go through stride_map alone, as a copy engine does: there a
 * padding position may alias another host element, which is harmless, since it is given that element's value
 * and hands the same value back. */
#ifndef TESTS_HOST_COPY_H
#define TESTS_HOST_COPY_H

#include "layout/layout.h"

#include <string.h>

/* Device elements per step of each device dimension. */
void layout_strides(const struct lx_layout *l, int64_t *strides);

/* Where host element `index` stands. */
void layout_to_device(const struct lx_layout *l, const int64_t *index, int64_t *coordinates);

/* The reverse; false for padding. */
bool layout_to_host(const struct lx_layout *l, const int64_t *coordinates, int64_t *index);

/* Copies elements of `item` bytes: every device position takes the host element at the dot product of its
 * coordinates with stride_map, or zero where `host_count` elements do not reach. */
void layout_copy_in(const struct lx_layout *l, const void *host, int64_t host_count, size_t item,
                    void *device);
void layout_copy_out(const struct lx_layout *l, const void *device, size_t item, void *host,
                     int64_t host_count);

#endif
