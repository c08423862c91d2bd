/* The tables behind places.h: partners of each kind, buffers by start, room for queries. */
#include "common/places.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>

/* A pair of some kind, as a table of partners wants it. */
struct link {
    int32_t a, b;
    int64_t cost;
};

typedef struct link (*link_at)(const struct lx_problem *p, int32_t k);

static struct link apart_at(const struct lx_problem *p, int32_t k)
{
    return (struct link){p->bonds.apart[k].a, p->bonds.apart[k].b, 0};
}

static struct link exclusive_at(const struct lx_problem *p, int32_t k)
{
    return (struct link){p->bonds.exclusive[k].a, p->bonds.exclusive[k].b, 0};
}

static struct link places_index_reuse_at(const struct lx_problem *p, int32_t k)
{
    return (struct link){p->bonds.reuse[k].a, p->bonds.reuse[k].b, p->bonds.reuse[k].cost};
}

static void partners_make(struct partners *x, const struct lx_problem *p, link_at at, int32_t count)
{
    size_t n = (size_t)p->count;
    x->first = mem_zeroed(n + 2, sizeof *x->first);
    x->at = mem_alloc((2 * (size_t)count + 1) * sizeof *x->at);
    x->cost = mem_alloc((2 * (size_t)count + 1) * sizeof *x->cost);
    for (int32_t k = 0; k < count; k++) {
        struct link l = at(p, k);
        x->first[l.a + 2]++;
        x->first[l.b + 2]++;
    }
    for (size_t i = 2; i < n + 2; i++) x->first[i] += x->first[i - 1];
    for (int32_t k = 0; k < count; k++) {
        struct link l = at(p, k);
        x->cost[x->first[l.a + 1]] = x->cost[x->first[l.b + 1]] = l.cost;
        x->at[x->first[l.a + 1]++] = l.b;
        x->at[x->first[l.b + 1]++] = l.a;
    }
}

/* Per parent its children. */
static void children_make(struct partners *x, const struct lx_problem *p)
{
    size_t n = (size_t)p->count, edges = 0;
    x->first = mem_zeroed(n + 2, sizeof *x->first);
    for (size_t i = 0; i < n; i++) edges += (size_t)p->buffers[i].parent_count;
    x->at = mem_alloc((edges + 1) * sizeof *x->at);
    for (size_t i = 0; i < n; i++)
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++) x->first[p->buffers[i].parents[k] + 2]++;
    for (size_t i = 2; i < n + 2; i++) x->first[i] += x->first[i - 1];
    for (size_t i = 0; i < n; i++)
        for (int32_t k = 0; k < p->buffers[i].parent_count; k++)
            x->at[x->first[p->buffers[i].parents[k] + 1]++] = (int32_t)i;
}

static void partners_free(struct partners *x)
{
    mem_free(x->first);
    mem_free(x->at);
    mem_free(x->cost);
}

struct birth {
    int64_t start;
    int32_t buffer;
};

ORDER(places_index_compare_births, struct birth, ORDER_UP(start) ORDER_UP(buffer));

static size_t most_reserved(const struct lx_problem *p)
{
    int32_t most = 0;
    for (int32_t k = 0; k < p->pool_count; k++)
        if (p->pools[k].reserved_count > most) most = p->pools[k].reserved_count;
    return (size_t)most;
}

/* A buffer may be found as a contemporary, as one apart and as one alone. */
void places_init(struct places *x, const struct lx_problem *p, int64_t *address, int32_t *pool, bool tightest)
{
    size_t n = (size_t)p->count, room = 2 * n + 2 * (size_t)p->bonds.apart_count + 1;
    *x = (struct places){.p = p, .address = address, .pool = pool, .tightest = tightest};
    for (x->width = 1; x->width < p->count;) x->width *= 2;
    x->order = mem_alloc((n + 1) * sizeof *x->order);
    x->leaf = mem_alloc((n + 1) * sizeof *x->leaf);
    x->latest = mem_alloc(2 * (size_t)x->width * sizeof *x->latest);
    x->found = mem_alloc(room * sizeof *x->found);
    x->taken = mem_alloc((room + most_reserved(p)) * sizeof *x->taken);
    x->mark = mem_zeroed(n + 1, sizeof *x->mark);
    x->alone = mem_alloc((n + 1) * sizeof *x->alone);
    x->top = mem_zeroed((size_t)lx_pool_count(p), sizeof *x->top);
    partners_make(&x->apart, p, apart_at, p->bonds.apart_count);
    partners_make(&x->exclusive, p, exclusive_at, p->bonds.exclusive_count);
    partners_make(&x->reuse, p, places_index_reuse_at, p->bonds.reuse_count);
    children_make(&x->children, p);
    size_t m = (size_t)x->p->count;
    struct birth *births = mem_alloc((m + 1) * sizeof *births);
    for (int32_t i = 0; i < x->p->count; i++) births[i] = (struct birth){x->p->buffers[i].start, i};
    qsort(births, m, sizeof *births, places_index_compare_births);
    for (int32_t k = 0; k < x->p->count; k++) {
        x->order[k] = births[k].buffer;
        x->leaf[births[k].buffer] = k;
    }
    mem_free(births);
    taken_bits_init(&x->map, p, p->capacity);
    for (int32_t i = 0; i < 2 * x->width; i++) x->latest[i] = INT64_MIN;
    for (int32_t i = 0; i < p->count; i++) {
        address[i] = LX_OFF_CHIP;
        if (pool) pool[i] = 0;
        if (p->buffers[i].alone) x->alone[x->alone_count++] = i;
    }
    /* The pools' reserved bytes count for the height from the start. */
    for (int32_t k = 0; k < x->p->pool_count; k++)
        for (int32_t i = 0; i < x->p->pools[k].reserved_count; i++)
            x->top[k] = max_i64(x->top[k], x->p->pools[k].reserved[i].to);
}

void places_free(struct places *x)
{
    partners_free(&x->apart);
    partners_free(&x->exclusive);
    partners_free(&x->reuse);
    partners_free(&x->children);
    mem_free(x->order);
    mem_free(x->leaf);
    mem_free(x->latest);
    mem_free(x->found);
    mem_free(x->taken);
    taken_bits_free(&x->map);
    mem_free(x->mark);
    mem_free(x->alone);
    mem_free(x->top);
}
