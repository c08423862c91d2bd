/* Rules of the work-division documents that no pattern reaches: windows, repeats, top-k, tables, extents known at run
 * time, tiles for the span limit. The case files state them on plain numbers, so they are judged here. */
#ifndef LX_TESTS_CASES_ACCESS_RULES_H
#define LX_TESTS_CASES_ACCESS_RULES_H

#include "base/status.h"
#include "divide/space.h"
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
/* Two-dimensional sticks of 8-bit weights, shared tables, partly filled sticks of entries: whole. */
struct factor_set factors_whole(void);

/* Gather: entries are cut by whole sticks of their indices (32-bit). Scatter: only where the last stick is
 * full. */
int64_t indirect_split(int64_t entries, int64_t cores, int64_t index_stick_elements, bool scatter);

/* An extent known at run time only, up to `most`: its splits divide this. `least` 0: not given. */
bool symbolic_granularity(int64_t most, int64_t least, int64_t *out, lx_status *st);
/* May a dimension be known at run time only? Not along sticks, and not in a matmul. */
bool symbolic_supported(bool is_stick, bool is_matmul, lx_status *st);

/* Slices of device dimension of `size` positions and stride `dim_stride` under a split of a variable with
 * coefficient `coefficient`; 0: they are no equal parts of it. */
int64_t slices_of_dim(int64_t size, int64_t dim_stride, int64_t coefficient, int64_t range, int64_t split);
/* A variable that walks `size[0] x size[1] x ...` (outermost first) cut into `split`: parts per dimension.
 * False: the slices are no boxes. */
bool decompose_split(int rank, const int64_t *size, int64_t split, int64_t *parts);

enum { MAX_AUTO_TILES = 64 };

/* The smallest number of tiles (at most `most` altogether) under which every span fits, one count per axis.
 * Only output axes are tiled, never within a stick. False: none; `st` says what was tried. */
bool span_tiles(const struct space *s, int64_t most, int64_t *tiles, lx_status *st);
/* The space of one tile: extents divided, device sizes as they were, since a tile is read in place. */
bool tile_space(const struct space *s, const int64_t *tiles, struct space *out, lx_status *st);

#endif
