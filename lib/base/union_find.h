/* Disjoint sets of the numbers 0 .. count - 1. The least number of a set is its root, whatever the order of joins. */
#ifndef LX_BASE_UNION_FIND_H
#define LX_BASE_UNION_FIND_H

#include <stdint.h>

/* Every number is a set of its own. */
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

#endif
