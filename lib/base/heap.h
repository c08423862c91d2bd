/* Binary heaps in arrays. BEFORE(context, a, b) is a function or macro: does element `a` come out before `b`?
 *
 *     at[count++] = element;
 *     HEAP_RISE(type, at, count - 1, BEFORE, context);
 *
 *     top = at[0];
 *     at[0] = at[--count];
 *     HEAP_SINK(type, at, count, 0, BEFORE, context); */
#ifndef LX_BASE_HEAP_H
#define LX_BASE_HEAP_H

#include <stddef.h>

/* The element at `from` has changed, or is new, and moves towards the top. */
#define HEAP_RISE(type, at, from, BEFORE, context)                                                           \
    do {                                                                                                     \
        size_t heap_at = (size_t)(from);                                                                     \
        type heap_moving = (at)[heap_at];                                                                    \
        for (; heap_at > 0 && BEFORE(context, heap_moving, (at)[(heap_at - 1) / 2]);                         \
             heap_at = (heap_at - 1) / 2)                                                                    \
            (at)[heap_at] = (at)[(heap_at - 1) / 2];                                                         \
        (at)[heap_at] = heap_moving;                                                                         \
    } while (0)

/* The element at `from` moves away from the top. */
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

#endif
