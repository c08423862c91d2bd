/* Comparators for qsort in one line: `ORDER(by_life, struct life, ORDER_UP(start) ORDER_UP(end) ORDER_UP(buffer));` defines
 * by_life, which compares by start, then by end, then by buffer. Keys that make the order total keep results the same
 * wherever qsort is another one. */
#ifndef LX_BASE_ORDER_H
#define LX_BASE_ORDER_H

#include <stdint.h>

#define ORDER_UP(field)                                                                                      \
    if (x->field != y->field) return x->field < y->field ? -1 : 1;
#define ORDER_DOWN(field)                                                                                    \
    if (x->field != y->field) return x->field > y->field ? -1 : 1;

#define ORDER(name, type, keys)                                                                              \
    static int name(const void *a, const void *b)                                                            \
    {                                                                                                        \
        const type *x = a, *y = b;                                                                           \
        keys return 0;                                                                                       \
    }                                                                                                        \
    static int name(const void *a, const void *b)

static inline int order_i32(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static inline int order_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

#endif
