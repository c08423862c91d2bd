/* What a flat index means on a tensor: one coordinate per dimension, as terms of loop variables.
 *
 * "4096*p0 + p1" on a (2, 256, 4096) tensor. Spans are made of such terms: of einsums, where each dimension
 * has its own variable, straight from the layout; of indices that come flattened (reshapes, windows,
 * repeats) by access_coordinates. */
#ifndef LX_LAYOUT_FLAT_INDEX_H
#define LX_LAYOUT_FLAT_INDEX_H

#include "base/status.h"
#include "layout/layout.h"
#include "layout/op_index.h"

#include <stdint.h>

/* A summand of a flat index: coefficient * (v mod wrap); wrap 0: v itself. `range` counts the values of v. */
struct index_term {
    int var;
    int64_t coefficient, range, wrap;
};

/* A summand of a coordinate: ((scale * (v mod wrap) + lead) mod mod) / divisor, rounded down; wrap, mod 0:
 * none. `lead` is where a view begins within the divisor. */
struct coordinate_term {
    int var;
    int64_t scale, wrap, mod, divisor, lead;
};

enum { MAX_COORDINATE_TERMS = 16 };

struct coordinate {
    int term_count;
    struct coordinate_term terms[MAX_COORDINATE_TERMS];
    int64_t constant;
};

/* Takes `index` (`count` terms and a constant) apart over dimensions of the given sizes and strides, of which
 * any order is allowed. False: a term walks backwards, or a dimension would get too many terms. */
bool access_coordinates(int rank, const int64_t *size, const int64_t *stride, const struct index_term *index,
                        int count, int64_t constant, struct coordinate *out, lx_status *st);
/* The values one term takes on a range of `range` values from 0 go from 0 to this. */
static inline int64_t coordinate_term_last(const struct coordinate_term *t, int64_t range)
{
    int64_t last = range - 1;
    if (t->wrap > 0 && last >= t->wrap) last = t->wrap - 1;
    last = last * t->scale + t->lead;
    if (t->mod > 0 && last >= t->mod) last = t->mod - 1;
    return last / t->divisor;
}
/* "2*p1+p3//64+3"; `names` one per variable. Cut if `out` is too small. */
void coordinate_write(const struct coordinate *c, const char *const *names, char *out, size_t size);

/* Can the device step through a stick this way: v, v mod stick, nothing, or one of these plus a constant?
 * `needs_restickify` is set where there is such a constant. */
bool stick_coordinate_legal(const struct coordinate *c, int64_t stick_elements, bool *needs_restickify);

/* `out` has LX_MAX_DEVICE_RANK entries, of which the layout's rank are filled; variables are those of `x`.
 * False: the view begins outside of its tensor. */
bool operand_coordinates(const struct lx_layouts *l, int32_t op, const struct op_index *x, int operand,
                         struct coordinate *out, lx_status *st);

#endif
