/* Placements from texts and as texts, through the table of formats. */
#include "api/api_handles.h"
#include "base/checked.h"
#include "base/memory.h"
#include "files/formats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PUSH_ALL(to, from, n)                                                                                \
    do {                                                                                                     \
        for (int32_t i_ = 0; ok && i_ < (n); i_++) ok = VEC_PUSH(to, (from)[i_]);                            \
    } while (0)

/* Arrays of the pattern are copied, strings and groups too. */
static bool take_group(lx_placement *p, const struct lx_group *from, struct lx_group *out)
{
    out->count = from->count;
    return (out->at = arena_copy_array(&p->memory, from->at, (size_t)from->count, sizeof *from->at));
}

static bool take_bonds(lx_placement *p, const struct lx_bonds *from)
{
    bool ok = true;
    struct lx_group group;
    PUSH_ALL(&p->apart, from->apart, from->apart_count);
    PUSH_ALL(&p->exclusive, from->exclusive, from->exclusive_count);
    PUSH_ALL(&p->staging, from->staging, from->staging_count);
    PUSH_ALL(&p->reuse, from->reuse, from->reuse_count);
    for (int32_t i = 0; ok && i < from->same_place_count; i++)
        ok = take_group(p, &from->same_place[i], &group) && VEC_PUSH(&p->same_place, group);
    for (int32_t i = 0; ok && i < from->together_count; i++)
        ok = take_group(p, &from->together[i], &group) && VEC_PUSH(&p->together, group);
    for (int32_t i = 0; ok && i < from->charge_count; i++) {
        struct lx_charge c = from->charges[i];
        ok = take_group(p, &from->charges[i].all_on, &c.all_on) &&
             take_group(p, &from->charges[i].all_off, &c.all_off) &&
             take_group(p, &from->charges[i].any_on, &c.any_on) &&
             take_group(p, &from->charges[i].any_off, &c.any_off) && VEC_PUSH(&p->charges, c);
    }
    return ok;
}

static bool placement_files_take_buffer(lx_placement *p, const struct lx_buffer *from)
{
    struct placement_buffer b = {.b = *from};
    bool ok = true;
    b.b.name = arena_string(&p->memory, from->name);
    b.b.reason = from->reason ? arena_string(&p->memory, from->reason) : NULL;
    PUSH_ALL(&b.lives, from->lives, from->life_count);
    PUSH_ALL(&b.uses, from->uses, from->use_count);
    PUSH_ALL(&b.parents, from->parents, from->parent_count);
    for (int32_t k = 0; ok && k < from->pool_count; k++) {
        struct placement_allowed one = {from->pools ? from->pools[k] : k,
                                        from->on_costs ? from->on_costs[k] : 0};
        ok = VEC_PUSH(&b.allowed, one);
    }
    ok = ok && b.b.name && !from->reason == !b.b.reason &&
         names_add(&p->buffer_names, b.b.name, (int32_t)p->buffers.count) == NAMES_ADDED;
    return VEC_PUSH(&p->buffers, b) && ok; /* also what is half done, so that it is freed */
}

/* Of a list without pools the one that stands for its capacity. */
static bool take_pools(lx_placement *p, const struct lx_graph *g)
{
    struct placement_pool lone = {.name = "LX"};
    bool ok = true;
    p->plain = g->list->pool_count == 0;
    p->capacity = g->list->capacity;
    lone.capacity = p->objective == LX_HEIGHT ? LX_NO_LIMIT
                    : g->list->capacity >= 0  ? g->list->capacity
                                              : lx_device_usable(&g->device);
    if (p->plain) return VEC_PUSH(&p->pools, lone) && names_add(&p->pool_names, "LX", 0) == NAMES_ADDED;
    for (int32_t k = 0; ok && k < g->list->pool_count; k++) {
        struct placement_pool pool = {.name = arena_string(&p->memory, g->list->pools[k].name),
                                      .capacity = g->list->pools[k].capacity};
        PUSH_ALL(&pool.reserved, g->list->pools[k].reserved, g->list->pools[k].reserved_count);
        ok = ok && pool.name && names_add(&p->pool_names, pool.name, k) == NAMES_ADDED;
        ok = VEC_PUSH(&p->pools, pool) && ok;
    }
    return ok;
}

static lx_placement *placement_of(const struct lx_graph *g)
{
    lx_placement *p = mem_zeroed(1, sizeof *p);
    p->objective = g->list->objective;
    p->alignment = g->list->alignment;
    p->name = arena_string(&p->memory, g->name);
    p->summary = arena_string(&p->memory, g->summary);
    take_pools(p, g);
    for (int32_t i = 0; i < g->list->buffer_count; i++) {
        placement_files_take_buffer(p, &g->list->buffers[i]);
        if (g->list->buffer_ids) VEC_PUSH(&p->ids, g->list->buffer_ids[i]);
    }
    take_bonds(p, &g->list->bonds);
    return p;
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
    const struct lx_graph *g = api_read(bytes, size, format, st);
    lx_placement *p = NULL;
    if (g && !g->list)
        status_set(st, LX_E_SCHEMA,
                   "this is a graph, not a list of buffers; lx_graph_parse and lx_plan take it");
    else if (g)
        p = placement_of(g);
    lx_graph_free(g);
    return p;
}

/* What no list of buffers for other tools has a column for; nothing of it is dropped without a word. */
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
    const struct lx_graph *g = placement_graph(p, st);
    lx_text *t = g ? api_write(g, format, st) : NULL;
    lx_graph_free(g);
    return t;
}
