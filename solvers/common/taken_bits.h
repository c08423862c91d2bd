/* The bytes that many ranges of addresses take together, as ranges in order. Who looks for a gap need not
 * know who takes what, only which bytes are taken. In a scratchpad of some thousand sticks these are
 * marked in a map of one bit per stick and read off again: each range costs a few words, however many
 * there are, where sorting them costs a logarithm each. Few ranges, and those of memories without limit
 * or of odd alignments, are sorted: they may then overlap. Gaps of whole sticks are the same either way. */
#ifndef LX_SOLVERS_TAKEN_BITS_H
#define LX_SOLVERS_TAKEN_BITS_H

#include "placement/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ranges of addresses in order of where they begin, those that begin together in order of where they end.
 * Placing a buffer sorts what is in its way, so that heuristics on large graphs do little else: it is
 * done in place and without calls, by quicksort down to short stretches that insertion puts in order;
 * stretches that split badly are sorted by a heap, so that none takes longer than O(n log n). */

struct byte_range {
    int64_t from, to;
};

void range_sort(struct byte_range *at, size_t count);
/* Sorts the ranges and joins those that overlap, with `touching` also those that only touch; returns how many
 * there are then. */
size_t range_join(struct byte_range *at, size_t count, bool touching);

struct taken_bits {
    uint64_t *bits;
    size_t words; /* 0: there is no map */
    int shift;    /* of an address: its stick */
};

/* Addresses below `capacity`, of the first pool. The caller frees `bits`. */
void taken_bits_init(struct taken_bits *m, const struct lx_problem *p, int64_t capacity);
/* The same of addresses that are counted in sticks, so many of them. */
void taken_bits_of_units(struct taken_bits *m, int64_t units);

/* The ranges, of the problem's buffers or between gaps that these leave, become those that are taken, by
 * address; each ends on a stick or where it did. How many there are then. `m` may be NULL: they are
 * sorted. */
size_t taken_join(struct taken_bits *m, struct byte_range *at, size_t count);

#endif
