/* Splits by index coefficient, on plain arrays. Private to the stage. */
#ifndef LX_DIVIDE_ENCODE_H
#define LX_DIVIDE_ENCODE_H

#include "divide/divide.h"

/* One variable: its range, its coefficients in the write and the first read index (0: not in it), its split. */
struct coeff_var {
    int64_t range, write, read, split;
};

void coeff_encode(const struct coeff_var *vars, int count, struct lx_coeff_splits *out);
/* Fills `split`; what is not stored, and ranges of 1, get 1. Returns how many of the stored splits found their
 * variable. */
int coeff_decode(const struct lx_coeff_splits *from, struct coeff_var *vars, int count);
/* The variable that `from` has in front: -1: none, LX_MAX_VARS: one that the op does not have. */
int coeff_front(const struct lx_layouts *l, int32_t op, const struct lx_coeff_splits *from);

#endif
