/* Sorts by weight, cuts, and sorts the rest back where the order of things is wanted. O(n log n); ties go to
 * the lower number, so that a table never changes by itself. */
#include "text/largest.h"
#include "base/memory.h"

#include <stdlib.h>

struct ranked {
    int64_t weight;
    int32_t number;
};

static int largest_by_number(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int largest_by_weight(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return largest_by_number(a, b);
}

int32_t *largest_of(const void *things, int32_t n, weigh *weight, int32_t most, bool in_order, int32_t *count)
{
    struct ranked *order = mem_alloc(((size_t)n + 1) * sizeof *order);
    int32_t *chosen = mem_alloc(((size_t)n + 1) * sizeof *chosen);
    *count = most > 0 && n > most ? most : n;
    for (int32_t i = 0; order && i < n; i++) order[i] = (struct ranked){weight(things, i), i};
    if (order && *count < n) {
        qsort(order, (size_t)n, sizeof *order, largest_by_weight);
        if (in_order) qsort(order, (size_t)*count, sizeof *order, largest_by_number);
    }
    for (int32_t i = 0; order && chosen && i < *count; i++) chosen[i] = order[i].number;
    if (!order) {
        mem_free(chosen);
        chosen = NULL;
    }
    mem_free(order);
    return chosen;
}
