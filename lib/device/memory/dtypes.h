/* Stored elements and what they mean as fp32. Private to the stage. */
#ifndef LX_DEVICE_MEMORY_DTYPES_H
#define LX_DEVICE_MEMORY_DTYPES_H

#include "graph/graph.h"

/* How a type is stored, and how exact it is. */
struct number_type {
    int bits; /* in device memory */
    int item; /* bytes of an element in host order (4-bit elements are kept one per byte) */
    bool integer;
    double unit;     /* distance to the next number, relative to its power of two; of integers 1, absolute */
    float high, low; /* integers: the range; others 0 */
    void (*decode)(const void *from, int64_t at, int64_t count, float *to); /* `at`: in elements */
    void (*encode)(const float *from, int64_t count, void *to, int64_t at); /* rounds to nearest, even */
};

extern const struct number_type number_types[LX_DTYPE_COUNT];

/* Elements as items in host order; the same bits but for 4-bit elements. */
void items_from_memory(const struct number_type *t, const void *from, int64_t at, int64_t count, void *items);
void items_to_memory(const struct number_type *t, const void *items, int64_t count, void *to, int64_t at);
/* Items to and from fp32. */
void items_decode(const struct number_type *t, const void *items, int64_t count, float *to);
void items_encode(const struct number_type *t, const float *from, int64_t count, void *items);

#endif
