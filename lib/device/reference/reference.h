/* The whole pattern in fp64, from the inside. Private to the stage. */
#pragma once

#include "device/device.h"
#include "device/reference/values.h"
#include "kernels/kernels.h"

/* The final value of a graph output. */
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

/* The distance of a graph output's items from it: the largest difference and the largest number, both
 * absolute. False: unknown. */
bool reference_distance(const struct lx_reference *r, const char *tensor, enum lx_dtype dtype,
                        const void *items, double *error, double *largest);

/* The outputs of a pattern, evaluated on the threads of a pool. `report` NULL: nobody watches. */
typedef void reference_report(void *context, int64_t done, int64_t ops);
struct lx_reference *reference_make(const struct lx_graph *pattern, uint64_t seed, struct pool *pool,
                                    reference_report *report, void *context, lx_status *st);

/* --- Input data: the same for the same seed, name and shape, on every machine. --- */

/* Items in host order of a tensor before the first op: numbers for inputs and weights, zeros for others.
 *
 * Numbers lie in [-1, 1], weights of a contraction are divided by the square root of the summed length so
 * that sums stay near 1, and operands that an op wants positive (a logarithm, a divisor) lie in [1/2, 3/2].
 * Integers are small. Bytes are any. */
void data_fill(const struct lx_graph *g, int32_t tensor, uint64_t seed, struct pool *pool, void *items,
               int64_t count);
/* Writes the run's argument that is this tensor of the pattern, if there is one. */
void data_argument(const struct lx_device_options *how, int32_t tensor, enum lx_dtype type, void *items);
