/* Maps a flat index, as "4096*p0 + p1" on (2, 256, 4096), to one coordinate per dimension in terms of loop
 * variables. Spans of reshapes, windows and repeats are computed from these. */
#pragma once

#include "base/base.h"
#include "layout/layout.h"
#include "layout/op_index.h"

/* A summand of a flat index: coefficient * (v mod wrap), or coefficient * v if wrap is 0. v takes `range`
 * values. */
struct index_term {
    int var;
    int64_t coefficient, range, wrap;
};

/* A summand of a coordinate: floor(((scale * (v mod wrap) + lead) mod mod) / divisor). A wrap or mod of 0
 * means no modulus. `lead` is where a view begins within the divisor. */
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

/* Splits `index` into one coordinate per dimension, in any dimension order. Fails if a term walks backwards,
 * the index is negative, or a dimension gets too many terms. */
bool access_coordinates(int rank, const int64_t *size, const int64_t *stride, const struct index_term *index,
                        int count, int64_t constant, struct coordinate *out, lx_status *st);
/* The largest value of term `t` for a variable of `range` values; the smallest is 0. */
static inline int64_t coordinate_term_last(const struct coordinate_term *t, int64_t range)
{
    int64_t last = range - 1;
    if (t->wrap > 0 && last >= t->wrap) last = t->wrap - 1;
    last = last * t->scale + t->lead;
    if (t->mod > 0 && last >= t->mod) last = t->mod - 1;
    return last / t->divisor;
}
/* Writes "2*p1+p3//64+3". `names` has one name per variable. Truncates to `size`. */
void coordinate_write(const struct coordinate *c, const char *const *names, char *out, size_t size);

/* Whether the device can step through a stick along `c`: v, v mod stick, or either plus a constant. A
 * constant that is not a whole number of sticks sets `*needs_restickify`. */
bool stick_coordinate_legal(const struct coordinate *c, int64_t stick_elements, bool *needs_restickify);

/* Device coordinates of an operand in variables of `x`; `out` has LX_MAX_DEVICE_RANK entries. Fails if the
 * view begins outside its tensor. */
bool operand_coordinates(const struct lx_layouts *l, int32_t op, const struct op_index *x, int operand,
                         struct coordinate *out, lx_status *st);
