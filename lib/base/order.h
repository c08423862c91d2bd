/* Comparators for qsort in one line: `ORDER(by_life, struct life, ORDER_UP(start) ORDER_UP(end)
 * ORDER_UP(buffer));` defines by_life, which compares by start, then by end, then by buffer. Total orders
 * give the same results with any qsort. */
#pragma once

#include <stddef.h>
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

static inline int order_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Binary search: `int32_t i; BISECT(i, 0, count, ticks[i] < tick);` leaves in `i` the first number in [low,
 * high) with `before` false, or `high`. `before` is an expression of `i` that is true up to some number and
 * false from there on. */
#define BISECT(i, low, high, before)                                                                         \
    do {                                                                                                     \
        int32_t bisect_low = (low), bisect_high = (high);                                                    \
        while (bisect_low < bisect_high) {                                                                   \
            (i) = bisect_low + (bisect_high - bisect_low) / 2;                                               \
            if (before)                                                                                      \
                bisect_low = (i) + 1;                                                                        \
            else                                                                                             \
                bisect_high = (i);                                                                           \
        }                                                                                                    \
        (i) = bisect_low;                                                                                    \
    } while (0)

/* Binary heaps in arrays. BEFORE(context, a, b) is a function or macro: does element `a` come out before `b`?
 *
 *     at[count++] = element;
 *     HEAP_RISE(type, at, count - 1, BEFORE, context);
 *
 *     top = at[0];
 *     at[0] = at[--count];
 *     HEAP_SINK(type, at, count, 0, BEFORE, context); */
/* Moves the element at `from`, changed or new, towards the top. */
#define HEAP_RISE(type, at, from, BEFORE, context)                                                           \
    do {                                                                                                     \
        size_t heap_at = (size_t)(from);                                                                     \
        type heap_moving = (at)[heap_at];                                                                    \
        for (; heap_at > 0 && BEFORE(context, heap_moving, (at)[(heap_at - 1) / 2]);                         \
             heap_at = (heap_at - 1) / 2)                                                                    \
            (at)[heap_at] = (at)[(heap_at - 1) / 2];                                                         \
        (at)[heap_at] = heap_moving;                                                                         \
    } while (0)

/* Moves the element at `from` away from the top. */
#define HEAP_SINK(type, at, count, from, BEFORE, context)                                                    \
    do {                                                                                                     \
        size_t heap_at = (size_t)(from), heap_count = (size_t)(count);                                       \
        type heap_moving = (at)[heap_at];                                                                    \
        for (size_t heap_child; (heap_child = 2 * heap_at + 1) < heap_count; heap_at = heap_child) {         \
            if (heap_child + 1 < heap_count && BEFORE(context, (at)[heap_child + 1], (at)[heap_child]))      \
                heap_child++;                                                                                \
            if (!BEFORE(context, (at)[heap_child], heap_moving)) break;                                      \
            (at)[heap_at] = (at)[heap_child];                                                                \
        }                                                                                                    \
        (at)[heap_at] = heap_moving;                                                                         \
    } while (0)

/* Disjoint sets of the numbers 0 .. count - 1. A set's root is its least number, for any order of joins. */
/* Makes every number its own set. */
static inline void sets_begin(int32_t *up, int32_t count)
{
    for (int32_t i = 0; i < count; i++) up[i] = i;
}

static inline int32_t sets_root(int32_t *up, int32_t i)
{
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

static inline void sets_join(int32_t *up, int32_t a, int32_t b)
{
    a = sets_root(up, a);
    b = sets_root(up, b);
    if (a < b)
        up[b] = a;
    else
        up[a] = b;
}
