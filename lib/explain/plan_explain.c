/* Finds what keeps a buffer off chip, and who is in its way. */
#include "explain/plan_explain.h"
#include "base/fail.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* A buffer answers to its own name and to that of its tensor. */
static enum lx_obstacle obstacle_of(const struct lx_plan *p, int32_t i)
{
    if (p->answer.address[i] >= 0) return LX_NO_OBSTACLE;
    if (p->problem.buffers[i].size > p->problem.capacity) return LX_TOO_LARGE;
    return lx_may_be_placed(&p->problem, &p->problem.buffers[i]) ? LX_NO_ROOM
           : p->problem.buffers[i].reason                        ? LX_BARRED
                                                                 : LX_TOO_LARGE;
}

struct neighbour {
    int64_t cost;
    int32_t buffer;
};

static int plan_explain_by_cost(const void *a, const void *b)
{
    const struct neighbour *x = a, *y = b;
    if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static bool find_others(const struct lx_plan *p, struct lx_explained *e)
{
    const struct lx_buffer *b = &p->problem.buffers[e->buffer];
    struct neighbour *found = mem_alloc(((size_t)p->problem.count + 1) * sizeof *found);
    e->others = mem_alloc(((size_t)p->problem.count + 1) * sizeof *e->others);
    bool ok = found && e->others;
    for (int32_t k = 0; ok && k < p->problem.count; k++) {
        const struct lx_buffer *o = &p->problem.buffers[k];
        int32_t pool = p->answer.pool ? p->answer.pool[k] : 0;
        if (p->answer.address[k] < 0 || !lx_lives_meet(o, b) || !lx_allows_pool(b, pool)) continue;
        found[e->other_count++] = (struct neighbour){o->spill_cost, k};
    }
    if (ok && e->other_count) qsort(found, (size_t)e->other_count, sizeof *found, plan_explain_by_cost);
    for (int32_t k = 0; ok && k < e->other_count; k++) e->others[k] = found[k].buffer;
    mem_free(found);
    return ok;
}

bool lx_plan_explain(const struct lx_plan *p, const char *name, struct lx_explanation *out, lx_status *st)
{
    *out = (struct lx_explanation){.all = mem_zeroed((size_t)p->problem.count + 1, sizeof *out->all)};
    bool ok = out->all != NULL;
    for (int32_t i = 0; ok && i < p->problem.count; i++) {
        if (!(strcmp(p->problem.buffers[i].name, name) == 0 ||
              (p->stays && strcmp(p->layouts->graph->tensors[p->stays[i].tensor].name, name) == 0)))
            continue;
        struct lx_explained *e = &out->all[out->count++];
        *e = (struct lx_explained){.buffer = i, .obstacle = obstacle_of(p, i)};
        out->off_chip += e->obstacle != LX_NO_OBSTACLE;
        ok = e->obstacle != LX_NO_ROOM || find_others(p, e);
    }
    if (ok) return true;
    lx_explanation_free(out);
    return status_no_memory(st);
}

void lx_explanation_free(struct lx_explanation *e)
{
    for (int32_t i = 0; i < e->count; i++) mem_free(e->all[i].others);
    mem_free(e->all);
    *e = (struct lx_explanation){0};
}

const struct lx_division *lx_plan_divided_alone(const struct lx_plan *p, int32_t op)
{
    const struct lx_divisions *d = p->own_divisions;
    int32_t place = p->order ? p->order[op] : op;
    return d && p->lends && place < d->count ? &d->at[place] : NULL;
}
