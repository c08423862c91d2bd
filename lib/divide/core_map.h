/* Cores and slices, on plain arrays. Private to the stage; divide.h has it for divisions. */
#ifndef LX_DIVIDE_CORE_MAP_H
#define LX_DIVIDE_CORE_MAP_H

#include "divide/divide.h"
#include "layout/op_index.h"

/* Slot of dimension `dim` on core `core`: dimensions in order, the first fastest; `contiguous` (or -1) before
 * all others. */
int64_t core_slot(const int64_t *splits, int count, int contiguous, int dim, int64_t core);
/* Cores between two slots of the dimension. */
int64_t core_stride(const int64_t *splits, int count, int contiguous, int dim);
/* The cores of an op fall into whole groups of its slices? */
bool core_count_fits(const int64_t *splits, int count, int64_t cores, lx_status *st);
/* Ownership given as a table, `slots[core * count + dim]`: every slot within its split? */
bool core_slots_valid(const int64_t *slots, const int64_t *splits, int count, int64_t cores, lx_status *st);

/* First to last byte that a core touches of a box of sticks of which it has extent[d] positions along
 * dimension d: at most its span, which counts whole rows of everything behind the first dimension. */
int64_t physical_span(int rank, const int64_t *size, const int64_t *extent, int64_t stick_bytes);

/* lx_division_view for a division that need not be one of a list; `x` is the index map of its op. */
struct lx_core_view core_view_of(const struct lx_layouts *l, const struct op_index *x,
                                 const struct lx_division *d, int operand);

#endif
