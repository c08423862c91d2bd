/* The bytes taken by many address ranges, as sorted disjoint ranges. A gap search needs only which bytes are
 * taken, not by which buffer. In a scratchpad of some thousand sticks (address units) a map of one bit per
 * stick is marked and read back: each range costs a few words, where sorting costs a logarithm each. Few
 * ranges, and those of unlimited memories or odd alignments, are sorted instead; they may then overlap. Gaps
 * of whole sticks are the same either way. */
#pragma once

#include "placement/problem.h"
#include "base/base.h"

/* Address ranges sorted by start, then end. Heuristics on large graphs spend most time sorting ranges, so the
 * sort is in place and inlined: quicksort, insertion sort for short runs, heap sort for runs that split
 * badly, O(n log n) at worst. */

struct byte_range {
    int64_t from, to;
};

void range_sort(struct byte_range *at, size_t count);
/* Sorts the ranges and joins overlapping ones, with `touching` also adjacent ones; returns how many
 * remain. */
size_t range_join(struct byte_range *at, size_t count, bool touching);

struct taken_bits {
    uint64_t *bits;
    size_t words; /* 0: no map */
    int shift;    /* stick of an address: address >> shift */
};

/* For addresses below `capacity`, the first pool's. The caller frees `bits`. */
void taken_bits_init(struct taken_bits *m, const struct lx_problem *p, int64_t capacity);
/* The same for addresses counted in sticks, `units` in all. */
void taken_bits_of_units(struct taken_bits *m, int64_t units);

/* Replaces the ranges by the taken ones in order of address, each ending at a stick or at its own end;
 * returns how many. The ranges are of the problem's buffers, or between the gaps these leave. `m` NULL: sorts
 * them. */
size_t taken_join(struct taken_bits *m, struct byte_range *at, size_t count);
