/* Constraints of accesses that graph patterns do not have yet: windows, repeats, top-k, tables, extents known
 * at run time. Each gives the factors that a variable may be split into, on plain numbers. Private to the
 * stage. */
#ifndef LX_DIVIDE_ACCESS_RULES_H
#define LX_DIVIDE_ACCESS_RULES_H

#include "base/status.h"
#include "divide/factors.h"
#include "layout/flat_index.h"

/* `extent` indices that come in segments (read modulo `segment`, or flattened from rows of it): slices hold
 * whole segments or divide one. */
struct factor_set factors_in_segments(int64_t extent, int64_t segment);
/* Reads that go to memory directly, whole sticks at a time, inside a loop of `trips`: from 3 trips on a slice
 * is a whole number of sticks. */
struct factor_set factors_direct_read(int64_t extent, int64_t stick_elements, int64_t trips);

/* Where windows overlap: variable `inner` walks further than one step of `outer`, `pitch` values of it. */
struct overlap {
    int inner, outer;
    int64_t pitch;
};

/* The overlaps of a flat index; at most `count` of them, returned. */
int find_overlaps(const struct index_term *index, int count, struct overlap *out);
/* What one overlap leaves: an inner variable that is written is cut to at most one pitch per slice; where it is
 * summed the outer variable is cut into single windows. */
void factors_of_overlap(int64_t inner_range, int64_t outer_range, int64_t pitch, bool inner_is_reduction,
                        struct factor_set *inner, struct factor_set *outer);

/* Top-k: the search dimension stays whole; k is cut so that a core keeps at most 4 of them.
 * 0: too few cores. */
int64_t topk_split(int64_t k, int64_t cores);
/* A convolution with stride over 1 keeps both spatial dimensions whole;
 * window dimensions always stay whole. */
bool conv_blocks_spatial(const int64_t *stride, int count);
/* Two-dimensional sticks of 8-bit weights, shared tables, partly filled sticks of entries: whole. */
struct factor_set factors_whole(void);

/* Gather: entries are cut by whole sticks of their indices (32-bit). Scatter: only where the last stick is
 * full. */
int64_t indirect_split(int64_t entries, int64_t cores, int64_t index_stick_elements, bool scatter);

/* An extent known at run time only, up to `most`: its splits divide this. `least` 0: not given. */
bool symbolic_granularity(int64_t most, int64_t least, int64_t *out, lx_status *st);
/* May a dimension be known at run time only? Not along sticks, and not in a matmul. */
bool symbolic_supported(bool is_stick, bool is_matmul, lx_status *st);

#endif
