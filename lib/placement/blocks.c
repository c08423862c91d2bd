/* Union-find over buffers: the least number of a set stands for it, so that the result does not depend on the order
 * of the groups. */
#include "placement/blocks.h"
#include "base/memory.h"

#include <stdlib.h>

int32_t root_of(int32_t *at, int32_t i)
{
    while (at[i] != i) {
        at[i] = at[at[i]];
        i = at[i];
    }
    return i;
}

void join(int32_t *at, int32_t a, int32_t b)
{
    a = root_of(at, a);
    b = root_of(at, b);
    if (a < b)
        at[b] = a;
    else
        at[a] = b;
}

int32_t *groups_joined(int32_t n, const struct lx_group *groups, int32_t count)
{
    int32_t *at = mem_alloc(((size_t)n + 1) * sizeof *at);
    for (int32_t i = 0; i < n; i++) at[i] = i;
    for (int32_t g = 0; g < count; g++)
        for (int32_t k = 1; k < groups[g].count; k++) join(at, groups[g].at[0], groups[g].at[k]);
    for (int32_t i = 0; i < n; i++) at[i] = root_of(at, i);
    return at;
}

int32_t *blocks_of(const struct lx_problem *p)
{
    return groups_joined(p->count, p->bonds.same_place, p->bonds.same_place_count);
}
