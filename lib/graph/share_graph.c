/* Graphs are constant and shared: whoever keeps one holds a reference, and other sizes make another graph
 * that shares all but its device. */
#include "base/fail.h"
#include "base/memory.h"
#include "base/users.h"
#include "graph/builder.h"

#include <stdlib.h>

const struct lx_graph *lx_graph_ref(const struct lx_graph *g)
{
    if (g) users_add(g->users);
    return g;
}

void lx_graph_free(const struct lx_graph *g)
{
    if (!g || !users_remove(g->users)) return;
    const struct lx_graph *sharing = g->sharing, *came_from = sharing ? NULL : g->came_from;
    struct arena *memory = g->memory; /* the graph itself lives in it */
    arena_free(memory);
    mem_free(memory);
    lx_graph_free(sharing);
    lx_graph_free(came_from);
}

void graph_release(const void *g)
{
    lx_graph_free(g);
}

/* A graph that shares all its parts has none of its own, and the copy holds the one behind it instead: chains
 * of devices do not grow. */
static struct lx_graph *share_graph_copy_of(const struct lx_graph *g)
{
    struct arena *memory = mem_zeroed(1, sizeof *memory);
    struct lx_graph *copy = arena_alloc(memory, sizeof *copy);
    struct users *users = users_new(memory, copy, graph_release);
    *copy = *g;
    copy->memory = memory;
    copy->users = users;
    copy->sharing = lx_graph_ref(g->sharing && g->ops == g->sharing->ops ? g->sharing : g);
    return copy;
}

const struct lx_graph *lx_graph_with_device(const struct lx_graph *g, const struct lx_device *device)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    copy->device = *device;
    graph_hash(copy, NULL);
    return copy;
}

const struct lx_graph *lx_graph_with_capacity(const struct lx_graph *g, int64_t usable_bytes, lx_status *st)
{
    struct lx_device device = g->device;
    if (lx_graph_pools(g) > 1)
        return status_set_at(st, LX_E_USAGE, g->file, 0, 0,
                             "this list has %d pools with capacities of their own; change them in the file",
                             (int)lx_graph_pools(g)),
               NULL;
    if (!lx_device_set(&device, lx_device_parameter_find("lx_usable_bytes"), (double)usable_bytes, st))
        return NULL;
    struct lx_graph *copy = share_graph_copy_of(g);
    copy->device = device;
    if (g->list) {
        struct lx_list *list = arena_copy_array(copy->memory, g->list, 1, sizeof *list);
        list->capacity = usable_bytes;
        /* With a capacity, what does not fit is spilled. */
        if (list->objective == LX_HEIGHT) list->objective = LX_SPILL;
        if (list->pool_count) {
            struct lx_pool *pool = arena_copy_array(copy->memory, list->pools, 1, sizeof *pool);
            pool->capacity = usable_bytes;
            list->pools = pool;
        }
        copy->list = list;
    }
    graph_hash(copy, NULL);
    return copy;
}

const struct lx_graph *lx_graph_with_hints(const struct lx_graph *g, int32_t op,
                                           const struct lx_split_hint *hints, int count)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    struct lx_op *ops = arena_copy_array(copy->memory, g->ops, (size_t)g->op_count, sizeof *ops);
    ops[op].hints = arena_copy_array(copy->memory, hints, (size_t)count, sizeof *hints);
    ops[op].hint_count = count;
    copy->ops = ops;
    graph_hash(copy, NULL);
    return copy;
}

const struct lx_graph *graph_with_order(const struct lx_graph *g, const int32_t *order)
{
    struct lx_graph *copy = share_graph_copy_of(g);
    struct lx_op *ops = arena_array(copy->memory, (size_t)g->op_count, sizeof *ops);
    for (int32_t t = 0; t < g->op_count; t++) ops[t] = g->ops[order[t]];
    copy->ops = ops;
    return copy;
}
