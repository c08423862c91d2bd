/* An operand of an op as whole tensor in host order: stored items, or numbers of fp64. Private to the
 * stage. */
#ifndef LX_DEVICE_REFERENCE_WIDE_OPERAND_H
#define LX_DEVICE_REFERENCE_WIDE_OPERAND_H

#include "device/memory/dtypes.h"

struct operand {
    const void *items;
    const struct number_type *type; /* of the items */
    const double *wide;             /* or NULL: the items */
    int64_t base; /* of a box: where its first element is; all places are counted from there */
};

/* Elements at, at + step, ... as fp64: what the device reads, to the bit. */
void operand_row(const struct operand *o, int64_t at, int64_t step, int64_t count, double *to);
/* The same with all bits of 64-bit integers. */
void operand_wide_row(const struct operand *o, int64_t at, int64_t step, int64_t count, wide_number *to);
/* Elements at + offset[0], at + offset[1], ... */
void operand_gather(const struct operand *o, int64_t at, const int64_t *offset, int64_t count, double *to);

#endif
