/* Ranges of addresses in order of where they begin, those that begin together in order of where they end.
 * Placing a buffer sorts what is in its way, so that heuristics on large graphs do little else: it is
 * done in place and without calls, by quicksort down to short stretches that insertion puts in order;
 * stretches that split badly are sorted by a heap, so that none takes longer than O(n log n). */
#ifndef LX_SOLVERS_RANGE_SORT_H
#define LX_SOLVERS_RANGE_SORT_H

#include <stddef.h>
#include <stdint.h>

struct byte_range {
    int64_t from, to;
};

void range_sort(struct byte_range *at, size_t count);

#endif
