/* Arithmetic that fp32 does not have: in fp64, and in whole numbers of two's complement. Private to the stage.
 *
 * Rows are of wide numbers in both cases; each result is rounded to fp64, or brought into the range of its type, at once. */
#ifndef LX_DEVICE_EXECUTE_WIDE_ARITH_H
#define LX_DEVICE_EXECUTE_WIDE_ARITH_H

#include "device/memory/dtypes.h"

/* `t`: the type of the result. */
typedef wide_number wide_function(wide_number a, wide_number b, wide_number c, const struct number_type *t);

struct wide_fold {
    wide_number neutral;
    wide_function *join; /* of what there is and one more */
};

struct wide_arith {
    wide_function *element; /* of a contraction: what is summed; NULL: it only folds */
    const struct wide_fold *fold;
    int picks;    /* the place of the largest (1) or the least (-1) instead of a fold */
    bool divides; /* in the end: times 1 / the number of terms */
};

/* NULL: the device has none for these numbers. */
const struct wide_arith *wide_arith_of(const struct lx_op *op, enum numbers numbers);
/* What an op that chooses makes of what is there (a) and what comes (b). */
wide_function *wide_combine_of(const struct lx_op *op, enum numbers numbers);

#endif
