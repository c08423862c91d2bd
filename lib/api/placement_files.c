/* A placement inside the library: a problem for the checker, a pattern (a bare list of buffers) for
 * everything else; and back, from a text of any format.
 *
 * A single, free, unpinned pool with only a limit becomes the capacity of a plain list, as in a file without
 * pools, so it is planned, hashed and written as such a file. */
#include "api/api_handles.h"
#include "files/formats.h"
#include "graph/builder.h"

/* Is its pool only a capacity? */
static bool placement_is_plain(const lx_placement *p)
{
    if (p->plain) return true;
    if (p->pools.count != 1 || p->pools.at[0].reserved.count) return false;
    for (size_t i = 0; i < p->buffers.count; i++)
        if (p->buffers.at[i].b.fixed >= 0) return false;
    return (p->objective == LX_HEIGHT) == (p->pools.at[0].capacity == LX_NO_LIMIT);
}

/* The capacity of such a list; -1: the device's (for height: none). */
static int64_t placement_capacity(const lx_placement *p)
{
    return p->plain ? p->capacity : p->pools.at[0].capacity;
}

static void placement_list_buffer(const lx_placement *p, const struct placement_buffer *from,
                                  struct arena *memory, struct lx_buffer *to)
{
    size_t n = from->allowed.count;
    *to = from->b;
    to->lives = from->lives.count ? from->lives.at : NULL;
    to->life_count = (int32_t)from->lives.count;
    to->uses = from->uses.at;
    to->use_count = (int32_t)from->uses.count;
    to->parents = from->parents.at;
    to->parent_count = (int32_t)from->parents.count;
    if (n == 0) return;
    int32_t *pools = arena_array(memory, n, sizeof *pools);
    int64_t *costs = arena_array(memory, n, sizeof *costs);
    bool any = false;
    for (size_t k = 0; k < n; k++) {
        pools[k] = from->allowed.at[k].pool;
        costs[k] = from->allowed.at[k].cost;
        any |= costs[k] != 0;
    }
    to->pools = n == 1 && placement_is_plain(p) ? NULL : pools; /* the only pool */
    to->on_costs = any ? costs : NULL;
    to->pool_count = to->pools || any ? (int32_t)n : 0;
}

bool placement_problem(const lx_placement *p, struct arena *memory, struct lx_problem *out, lx_status *st)
{
    struct lx_buffer *buffers = arena_array(memory, p->buffers.count, sizeof *buffers);
    *out = (struct lx_problem){.objective = p->objective,
                               .alignment = p->alignment,
                               .count = (int32_t)p->buffers.count,
                               .buffers = buffers,
                               .bonds = {.apart = p->apart.at,
                                         .exclusive = p->exclusive.at,
                                         .staging = p->staging.at,
                                         .same_place = p->same_place.at,
                                         .together = p->together.at,
                                         .linked_costs = p->linked_costs.at,
                                         .reuse = p->reuse.at,
                                         .apart_count = (int32_t)p->apart.count,
                                         .exclusive_count = (int32_t)p->exclusive.count,
                                         .staging_count = (int32_t)p->staging.count,
                                         .same_place_count = (int32_t)p->same_place.count,
                                         .together_count = (int32_t)p->together.count,
                                         .linked_cost_count = (int32_t)p->linked_costs.count,
                                         .reuse_count = (int32_t)p->reuse.count}};
    if (p->pools.count == 0)
        return status_set(st, LX_E_MODEL, "there is no pool; lx_placement_pool adds one");
    for (size_t i = 0; i < p->buffers.count; i++)
        placement_list_buffer(p, &p->buffers.at[i], memory, &buffers[i]);
    if (placement_is_plain(p)) {
        int64_t capacity = placement_capacity(p);
        out->capacity = capacity >= 0 ? capacity : lx_device_usable(lx_device_at(0));
        return true;
    }
    struct lx_pool *pools = arena_array(memory, p->pools.count, sizeof *pools);
    for (size_t k = 0; k < p->pools.count; k++) {
        const struct placement_pool *from = &p->pools.at[k];
        pools[k] =
            (struct lx_pool){from->name, from->capacity, from->reserved.at, (int32_t)from->reserved.count};
        out->capacity += max_i64(from->capacity, 0);
    }
    out->pools = pools;
    out->pool_count = (int32_t)p->pools.count;
    return true;
}

/* --- Deep copies of placements and patterns. --- */

static struct lx_group placement_copy_group(struct arena *memory, struct lx_group from)
{
    return (struct lx_group){arena_copy_array(memory, from.at, (size_t)from.count, sizeof *from.at),
                             from.count};
}

static struct lx_group *placement_copy_groups(struct arena *memory, const struct lx_group *from,
                                              int32_t count)
{
    struct lx_group *to = arena_array(memory, (size_t)count, sizeof *to);
    for (int32_t i = 0; i < count; i++) to[i] = placement_copy_group(memory, from[i]);
    return to;
}

static struct lx_bonds placement_copy_bonds(struct arena *memory, const struct lx_bonds *from)
{
    struct lx_bonds to = *from;
    struct lx_linked_cost *linked_costs =
        arena_array(memory, (size_t)from->linked_cost_count, sizeof *linked_costs);
    to.apart = arena_copy_array(memory, from->apart, (size_t)from->apart_count, sizeof *to.apart);
    to.exclusive =
        arena_copy_array(memory, from->exclusive, (size_t)from->exclusive_count, sizeof *to.exclusive);
    to.staging = arena_copy_array(memory, from->staging, (size_t)from->staging_count, sizeof *to.staging);
    to.reuse = arena_copy_array(memory, from->reuse, (size_t)from->reuse_count, sizeof *to.reuse);
    to.same_place = placement_copy_groups(memory, from->same_place, from->same_place_count);
    to.together = placement_copy_groups(memory, from->together, from->together_count);
    for (int32_t i = 0; i < from->linked_cost_count; i++) {
        const struct lx_linked_cost *c = &from->linked_costs[i];
        linked_costs[i] = (struct lx_linked_cost){
            c->cost, placement_copy_group(memory, c->all_on), placement_copy_group(memory, c->all_off),
            placement_copy_group(memory, c->any_on), placement_copy_group(memory, c->any_off)};
    }
    to.linked_costs = linked_costs;
    return to;
}

/* A pattern that outlives the placement. */
const struct lx_graph *placement_graph(const lx_placement *p, lx_status *st)
{
    SCOPED(arena_free) struct arena memory = {0};
    struct lx_problem from;
    struct graph_builder b = {0};
    builder_begin(&b, "", p->name);
    bool ok = placement_problem(p, &memory, &from, st);
    if (ok) {
        struct lx_pool *pools =
            arena_copy_array(b.memory, from.pools, (size_t)from.pool_count, sizeof *pools);
        struct lx_list *list = builder_list(&b);
        list->objective = p->objective;
        list->alignment = p->alignment;
        list->capacity = from.pool_count ? -1 : placement_capacity(p);
        b.graph->summary = arena_string(b.memory, p->summary);
        for (int32_t k = 0; k < from.pool_count; k++) {
            pools[k].name = arena_string(b.memory, from.pools[k].name);
            pools[k].reserved =
                arena_copy_array(b.memory, from.pools[k].reserved, (size_t)from.pools[k].reserved_count,
                                 sizeof *pools[k].reserved);
        }
        list->pools = from.pool_count ? pools : NULL;
        list->pool_count = from.pool_count;
        list->bonds = placement_copy_bonds(b.memory, &from.bonds);
        for (int32_t i = 0; ok && i < from.count; i++) ok = builder_buffer(&b, &from.buffers[i], st);
        for (size_t i = 0; i < p->ids.count; i++) VEC_PUSH(&b.buffer_ids, p->ids.at[i]);
    }
    if (ok) return builder_finish(&b, st);
    builder_abandon(&b);
    return NULL;
}

/* --- From a pattern. --- */

#define PUSH_ALL(to, from, n)                                                                                \
    do {                                                                                                     \
        for (int32_t i_ = 0; i_ < (n); i_++) VEC_PUSH(to, (from)[i_]);                                       \
    } while (0)

static void placement_take_buffer(lx_placement *p, const struct lx_buffer *from)
{
    struct placement_buffer b = {.b = *from};
    b.b.name = arena_string(&p->memory, from->name);
    b.b.reason = from->reason ? arena_string(&p->memory, from->reason) : NULL;
    PUSH_ALL(&b.lives, from->lives, from->life_count);
    PUSH_ALL(&b.uses, from->uses, from->use_count);
    PUSH_ALL(&b.parents, from->parents, from->parent_count);
    for (int32_t k = 0; k < from->pool_count; k++)
        VEC_PUSH(&b.allowed, (struct placement_allowed){from->pools ? from->pools[k] : k,
                                                        from->on_costs ? from->on_costs[k] : 0});
    names_add(&p->buffer_names, b.b.name, (int32_t)p->buffers.count);
    VEC_PUSH(&p->buffers, b);
}

/* A list without pools gets one for its capacity. */
static void placement_take_pools(lx_placement *p, const struct lx_graph *g)
{
    p->plain = g->list->pool_count == 0;
    p->capacity = g->list->capacity;
    for (int32_t k = 0; k < g->list->pool_count; k++) {
        struct placement_pool pool = {.name = arena_string(&p->memory, g->list->pools[k].name),
                                      .capacity = g->list->pools[k].capacity};
        PUSH_ALL(&pool.reserved, g->list->pools[k].reserved, g->list->pools[k].reserved_count);
        names_add(&p->pool_names, pool.name, k);
        VEC_PUSH(&p->pools, pool);
    }
    if (!p->plain) return;
    struct placement_pool lone = {.name = "LX"};
    lone.capacity = p->objective == LX_HEIGHT ? LX_NO_LIMIT
                    : g->list->capacity >= 0  ? g->list->capacity
                                              : lx_device_usable(&g->device);
    VEC_PUSH(&p->pools, lone);
    names_add(&p->pool_names, "LX", 0);
}

const struct lx_graph *api_read(const char *bytes, int64_t size, const char *format, lx_status *st)
{
    const struct lx_format *f = NULL;
    if (!bytes || size < 0) return status_set(st, LX_E_USAGE, "there is no text to read"), NULL;
    if (format && !(f = api_format(format, st))) return NULL;
    return f ? f->read("", bytes, (size_t)size, st) : lx_graph_of_text("", bytes, (size_t)size, st);
}

lx_placement *lx_placement_parse(const char *bytes, int64_t size, const char *format, lx_error *e)
{
    API_CALL(e, NULL);
    SCOPED(graph_free_at) const struct lx_graph *g = api_read(bytes, size, format, st);
    lx_placement *p = NULL;
    if (g && !g->list)
        status_set(st, LX_E_SCHEMA,
                   "this is a graph, not a list of buffers; lx_graph_parse and lx_plan take it");
    else if (g) {
        p = mem_zeroed(1, sizeof *p);
        p->objective = g->list->objective;
        p->alignment = g->list->alignment;
        p->name = arena_string(&p->memory, g->name);
        p->summary = arena_string(&p->memory, g->summary);
        placement_take_pools(p, g);
        for (int32_t i = 0; i < g->list->buffer_count; i++) placement_take_buffer(p, &g->list->buffers[i]);
        if (g->list->buffer_ids) PUSH_ALL(&p->ids, g->list->buffer_ids, g->list->buffer_count);
        struct lx_bonds own = placement_copy_bonds(&p->memory, &g->list->bonds);
        PUSH_ALL(&p->apart, own.apart, own.apart_count);
        PUSH_ALL(&p->exclusive, own.exclusive, own.exclusive_count);
        PUSH_ALL(&p->staging, own.staging, own.staging_count);
        PUSH_ALL(&p->reuse, own.reuse, own.reuse_count);
        PUSH_ALL(&p->same_place, own.same_place, own.same_place_count);
        PUSH_ALL(&p->together, own.together, own.together_count);
        PUSH_ALL(&p->linked_costs, own.linked_costs, own.linked_cost_count);
    }
    return p;
}

/* Refuses features without a column in other tools' lists: nothing is dropped silently. */
static bool placement_files_can_say(const struct lx_graph *g, const struct lx_format *f, lx_status *st)
{
    struct lx_problem all = {.count = g->list->buffer_count,
                             .buffers = g->list->buffers,
                             .pools = g->list->pools,
                             .pool_count = g->list->pool_count,
                             .bonds = g->list->bonds};
    char what[400];
    size_t n = strlen(lx_needs_words(lx_problem_needs(&all), what, 200));
    bool barred = false, parents = false, pins = false, alignments = false;
    for (int32_t i = 0; i < g->list->buffer_count; i++) {
        const struct lx_buffer *b = &g->list->buffers[i];
        barred |= b->reason != NULL;
        parents |= b->parent_count > 0;
        pins |= b->fixed >= 0 && !f->has_addresses;
        alignments |= b->alignment > g->list->alignment && !f->has_addresses;
    }
    const struct {
        bool is;
        const char *words;
    } more[] = {{barred, "what is barred"},
                {parents, "places that are taken over"},
                {pins, "pins"},
                {alignments, "alignments of single buffers"}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i].is)
            n += (size_t)snprintf(what + n, sizeof what - n, "%s%s", n ? ", " : "", more[i].words);
    if (n == 0) return true;
    return status_set(st, LX_E_UNSUPPORTED, "%s has no columns for %s; the format \"pattern\" has",
                      f->summary, what);
}

lx_text *api_write(const struct lx_graph *g, const char *format, lx_status *st)
{
    const struct lx_format *f = api_format(format ? format : "pattern", st);
    size_t length = 0;
    char *text = NULL;
    if (!f) return NULL;
    if (f->write_graph)
        text = f->write_graph(g, &length);
    else if (f->write_buffers && g->list) {
        const struct lx_list *l = g->list;
        struct lx_buffers list = {l->buffers, l->buffer_count, l->alignment, l->buffer_ids};
        if (placement_files_can_say(g, f, st)) text = f->write_buffers(&list, &length);
    } else
        status_set(st, LX_E_UNSUPPORTED, "%s is a format that is %s", f->summary,
                   f->write_buffers ? "made of buffers only; plan the graph and write the plan"
                                    : "only read");
    return api_text(text, length);
}

lx_text *lx_placement_write(const lx_placement *p, const char *format, lx_error *e)
{
    API_CALL(e, NULL);
    if (!p) return status_set(st, LX_E_USAGE, "there is no placement"), NULL;
    SCOPED(graph_free_at) const struct lx_graph *g = placement_graph(p, st);
    lx_text *t = g ? api_write(g, format, st) : NULL;
    return t;
}
