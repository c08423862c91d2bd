/* A placement as the library has it inside: a problem for the checker, a pattern (a bare list of buffers) for everything
 * else; and back, from a pattern of any format.
 *
 * A single pool that is free, unpinned and a limit only becomes the capacity of a plain list, as in a file without pools: it
 * is then planned, hashed and written as that file would be. */
#include "api/api_handles.h"
#include "base/checked.h"
#include "graph/builder.h"
#include "files/formats.h"

#include <string.h>

static bool any_pinned(const lx_placement *p)
{
    for (size_t i = 0; i < p->buffers.count; i++)
        if (p->buffers.at[i].b.fixed >= 0) return true;
    return false;
}

/* Is its pool a capacity, and nothing more? */
static bool placement_list_is_plain_list(const lx_placement *p)
{
    if (p->plain) return true;
    if (p->pools.count != 1 || p->pools.at[0].reserved.count || any_pinned(p)) return false;
    return (p->objective == LX_HEIGHT) == (p->pools.at[0].capacity == LX_NO_LIMIT);
}

/* The capacity of such a list; -1: the device's (of a height: nobody's). */
static int64_t plain_capacity(const lx_placement *p)
{
    return p->plain ? p->capacity : p->pools.at[0].capacity;
}

static bool list_buffer(const lx_placement *p, const struct placement_buffer *from, struct arena *memory,
                        struct lx_buffer *to)
{
    size_t n = from->allowed.count;
    *to = from->b;
    to->lives = from->lives.count ? from->lives.at : NULL;
    to->life_count = (int32_t)from->lives.count;
    to->uses = from->uses.at;
    to->use_count = (int32_t)from->uses.count;
    to->parents = from->parents.at;
    to->parent_count = (int32_t)from->parents.count;
    if (n == 0) return true;
    int32_t *pools = arena_array(memory, n, sizeof *pools);
    int64_t *costs = arena_array(memory, n, sizeof *costs);
    bool any = false;
    for (size_t k = 0; pools && costs && k < n; k++) {
        pools[k] = from->allowed.at[k].pool;
        costs[k] = from->allowed.at[k].cost;
        any |= costs[k] != 0;
    }
    to->pools = n == 1 && placement_list_is_plain_list(p) ? NULL : pools; /* the only one there is */
    to->on_costs = any ? costs : NULL;
    to->pool_count = to->pools || any ? (int32_t)n : 0;
    return pools && costs;
}

static bool list_pools(const lx_placement *p, struct arena *memory, struct lx_problem *out)
{
    struct lx_pool *pools = arena_array(memory, p->pools.count, sizeof *pools);
    out->capacity = 0;
    for (size_t k = 0; k < p->pools.count; k++) {
        const struct placement_pool *from = &p->pools.at[k];
        pools[k] = (struct lx_pool){from->name, from->capacity, NULL, (int32_t)from->reserved.count};
        pools[k].reserved = from->reserved.at;
        out->capacity += max_i64(from->capacity, 0);
    }
    out->pools = pools;
    out->pool_count = (int32_t)p->pools.count;
    return true;
}

/* The lists are the placement's own. */
static struct lx_bonds bonds_of(const lx_placement *p)
{
    return (struct lx_bonds){.apart = p->apart.at,
                             .exclusive = p->exclusive.at,
                             .staging = p->staging.at,
                             .same_place = p->same_place.at,
                             .together = p->together.at,
                             .charges = p->charges.at,
                             .reuse = p->reuse.at,
                             .apart_count = (int32_t)p->apart.count,
                             .exclusive_count = (int32_t)p->exclusive.count,
                             .staging_count = (int32_t)p->staging.count,
                             .same_place_count = (int32_t)p->same_place.count,
                             .together_count = (int32_t)p->together.count,
                             .charge_count = (int32_t)p->charges.count,
                             .reuse_count = (int32_t)p->reuse.count};
}

bool placement_problem(const lx_placement *p, struct arena *memory, struct lx_problem *out, lx_status *st)
{
    struct lx_buffer *buffers = arena_array(memory, p->buffers.count, sizeof *buffers);
    *out = (struct lx_problem){.objective = p->objective,
                               .alignment = p->alignment,
                               .count = (int32_t)p->buffers.count,
                               .buffers = buffers,
                               .bonds = bonds_of(p)};
    if (p->pools.count == 0)
        return status_set(st, LX_E_MODEL, "there is no pool; lx_placement_pool adds one");
    for (size_t i = 0; i < p->buffers.count; i++) list_buffer(p, &p->buffers.at[i], memory, &buffers[i]);
    if (!placement_list_is_plain_list(p)) {
        list_pools(p, memory, out);
        return true;
    }
    int64_t capacity = plain_capacity(p);
    out->capacity = capacity >= 0 ? capacity : lx_device_usable(lx_device_at(0));
    return true;
}

/* --- As a pattern: everything is copied, which outlives the placement. --- */

static bool copy_groups(struct arena *memory, const struct lx_group *from, int32_t count,
                        const struct lx_group **out)
{
    struct lx_group *to = arena_copy_array(memory, from, (size_t)count, sizeof *to);
    bool ok = to != NULL;
    for (int32_t i = 0; ok && i < count; i++)
        ok = (to[i].at = arena_copy_array(memory, from[i].at, (size_t)from[i].count, sizeof *from[i].at));
    *out = to;
    return ok;
}

static bool copy_charges(struct arena *memory, const struct lx_bonds *from, struct lx_bonds *to)
{
    struct lx_charge *all = arena_array(memory, (size_t)from->charge_count, sizeof *all);
    bool ok = all != NULL;
    for (int32_t i = 0; ok && i < from->charge_count; i++) {
        const struct lx_group *parts[4] = {&from->charges[i].all_on, &from->charges[i].all_off,
                                           &from->charges[i].any_on, &from->charges[i].any_off};
        const struct lx_group *copied[4];
        for (int k = 0; ok && k < 4; k++) ok = copy_groups(memory, parts[k], 1, &copied[k]);
        if (ok)
            all[i] =
                (struct lx_charge){from->charges[i].cost, *copied[0], *copied[1], *copied[2], *copied[3]};
    }
    to->charges = all;
    return ok;
}

static bool copy_bonds(struct arena *memory, const struct lx_bonds *from, struct lx_bonds *to)
{
    *to = *from;
    to->apart = arena_copy_array(memory, from->apart, (size_t)from->apart_count, sizeof *to->apart);
    to->exclusive =
        arena_copy_array(memory, from->exclusive, (size_t)from->exclusive_count, sizeof *to->exclusive);
    to->staging = arena_copy_array(memory, from->staging, (size_t)from->staging_count, sizeof *to->staging);
    to->reuse = arena_copy_array(memory, from->reuse, (size_t)from->reuse_count, sizeof *to->reuse);
    return to->apart && to->exclusive && to->staging && to->reuse &&
           copy_groups(memory, from->same_place, from->same_place_count, &to->same_place) &&
           copy_groups(memory, from->together, from->together_count, &to->together) &&
           copy_charges(memory, from, to);
}

static bool placement_list_copy_pools(struct arena *memory, const struct lx_problem *from, struct lx_list *to)
{
    struct lx_pool *pools = arena_copy_array(memory, from->pools, (size_t)from->pool_count, sizeof *pools);
    bool ok = pools != NULL;
    for (int32_t k = 0; ok && k < from->pool_count; k++) {
        pools[k].name = arena_string(memory, from->pools[k].name);
        pools[k].reserved =
            arena_copy_array(memory, from->pools[k].reserved, (size_t)from->pools[k].reserved_count,
                             sizeof *pools[k].reserved);
        ok = pools[k].name && pools[k].reserved;
    }
    to->pools = from->pool_count ? pools : NULL;
    to->pool_count = from->pool_count;
    return ok;
}

static bool placement_list_fill_graph(struct graph_builder *b, const lx_placement *p,
                                      const struct lx_problem *from, lx_status *st)
{
    struct lx_graph *g = b->graph;
    struct lx_list *list = builder_list(b);
    list->objective = p->objective;
    list->alignment = p->alignment;
    list->capacity = from->pool_count ? -1 : plain_capacity(p);
    g->summary = arena_string(b->memory, p->summary);
    placement_list_copy_pools(b->memory, from, list);
    copy_bonds(b->memory, &from->bonds, &list->bonds);
    for (int32_t i = 0; i < from->count; i++)
        if (!builder_buffer(b, &from->buffers[i], st)) return false;
    for (size_t i = 0; i < p->ids.count; i++) VEC_PUSH(&b->buffer_ids, p->ids.at[i]);
    return true;
}

const struct lx_graph *placement_graph(const lx_placement *p, lx_status *st)
{
    struct arena memory = {0};
    struct lx_problem problem;
    struct graph_builder b = {0};
    builder_begin(&b, "", p->name);
    bool ok = placement_problem(p, &memory, &problem, st) && placement_list_fill_graph(&b, p, &problem, st);
    arena_free(&memory);
    if (ok) return builder_finish(&b, st);
    builder_abandon(&b);
    return NULL;
}
