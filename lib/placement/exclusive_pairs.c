/* The pairs that are never alive at once, sorted for lookups. */
#include "placement/judge.h"
#include "base/memory.h"

#include <stdlib.h>

static int exclusive_pairs_compare_pairs(const void *x, const void *y)
{
    const struct lx_pair *a = x, *b = y;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return (a->b > b->b) - (a->b < b->b);
}

static struct lx_pair exclusive_pairs_ordered(int32_t a, int32_t b)
{
    return a < b ? (struct lx_pair){a, b} : (struct lx_pair){b, a};
}

void exclusive_sorted(const struct lx_problem *p, struct exclusive_pairs *e)
{
    *e = (struct exclusive_pairs){0};
    if (p->bonds.exclusive_count == 0) return;
    e->at = mem_alloc((size_t)p->bonds.exclusive_count * sizeof *e->at);
    for (int32_t i = 0; i < p->bonds.exclusive_count; i++)
        e->at[e->count++] = exclusive_pairs_ordered(p->bonds.exclusive[i].a, p->bonds.exclusive[i].b);
    qsort(e->at, (size_t)e->count, sizeof *e->at, exclusive_pairs_compare_pairs);
}

bool exclusive_has(const struct exclusive_pairs *e, int32_t a, int32_t b)
{
    struct lx_pair key = exclusive_pairs_ordered(a, b);
    return e->count > 0 && bsearch(&key, e->at, (size_t)e->count, sizeof key, exclusive_pairs_compare_pairs);
}
