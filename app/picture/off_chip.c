/* Who is off chip, in the order in which pictures show them. */
#include "picture/picture.h"
#include "base/memory.h"

#include <stdlib.h>

struct ranked {
    bool barred;
    int64_t cost;
    int32_t buffer;
};

static int by_importance(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->barred != y->barred) return x->barred ? 1 : -1;
    if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
    return x->buffer < y->buffer ? -1 : 1;
}

int32_t *off_chip_by_cost(const struct lx_plan *p, int32_t *count)
{
    size_t n = 0, room = (size_t)p->problem.count + 1;
    struct ranked *r = mem_alloc(room * sizeof *r);
    int32_t *out = mem_alloc(room * sizeof *out);
    if (!r || !out) {
        mem_free(r);
        mem_free(out);
        return NULL;
    }
    for (int32_t i = 0; i < p->problem.count; i++)
        if (p->answer.address[i] < 0)
            r[n++] =
                (struct ranked){p->problem.buffers[i].reason != NULL, p->problem.buffers[i].spill_cost, i};
    if (n) qsort(r, n, sizeof *r, by_importance);
    for (size_t i = 0; i < n; i++) out[i] = r[i].buffer;
    mem_free(r);
    *count = (int32_t)n;
    return out;
}
