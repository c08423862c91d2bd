/* The plain evaluation, from the inside. Private to the stage. */
#ifndef LX_DEVICE_REFERENCE_REFERENCE_H
#define LX_DEVICE_REFERENCE_REFERENCE_H

#include "device/device.h"
#include "kernels/kernels.h"
#include "device/reference/meaning.h"
#include "device/reference/values.h"

/* A value: items in host order, and how far a correct device may be from it. */
struct reference_value {
    void *items; /* NULL: no op wants it */
    int64_t count;
    enum lx_dtype dtype;
    bool bytes;                    /* must agree bit for bit */
    double largest, smallest, rms; /* absolute, of what is finite */
    double tolerance;              /* absolute */
};

struct lx_reference {
    struct program program;
    uint64_t seed;
    struct reference_value *values;
    struct pool *pool;
    struct arena memory;
};

/* How values of an op's output may differ by, given those of its inputs; see tolerance.c. */
double tolerance_of(const struct lx_op *op, const struct reference_value *const *inputs, double kept,
                    const struct reference_value *out);

/* Compares items with a value. `wrong` counts elements beyond the tolerance, `error` is the largest
 * difference. */
void reference_compare(const struct reference_value *v, const void *items, int64_t *wrong, double *error);

#endif
