/* The whole pattern in fp64, from the inside. Private to the stage. */
#ifndef LX_DEVICE_REFERENCE_REFERENCE_H
#define LX_DEVICE_REFERENCE_REFERENCE_H

#include "device/device.h"
#include "device/reference/values.h"
#include "kernels/kernels.h"

/* What a graph output is in the end. */
struct reference_output {
    double *numbers; /* in host order; NULL: known by its bytes, or made from bits that rounding changes */
    int64_t count;
};

struct lx_reference {
    struct program program;
    uint64_t seed;
    struct reference_output *outputs; /* per tensor of the pattern; empty for all but graph outputs */
    struct arena memory;
};

/* How far items of a graph output are from it: largest difference and largest number, both absolute. False: nothing
 * can be said. */
bool reference_distance(const struct lx_reference *r, const char *tensor, enum lx_dtype dtype,
                        const void *items, double *error, double *largest);

/* lx_reference_make on the threads of a pool. */
struct lx_reference *reference_make(const struct lx_graph *pattern, uint64_t seed, struct pool *pool,
                                    lx_status *st);

#endif
