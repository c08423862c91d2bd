/* Lists of buffers as text: what a plain list has as it always stood, and of the second version only what is
 * there. */
#include "files/pattern_list.h"
#include "files/pattern.h"

#include <inttypes.h>

static void write_names(struct text *t, const struct lx_graph *g, const int32_t *at, int32_t count)
{
    text_add(t, "[");
    for (int32_t i = 0; i < count; i++) {
        if (i) text_add(t, ", ");
        text_json_string(t, g->list->buffers[at[i]].name);
    }
    text_add(t, "]");
}

static void write_pool_name(struct text *t, const struct lx_graph *g, int32_t pool)
{
    if (g->list->pool_count)
        text_json_string(t, g->list->pools[pool].name);
    else
        text_format(t, "%d", (int)pool);
}

static void write_field(struct text *t, const char *key, int64_t value)
{
    text_add(t, key);
    text_int(t, value);
}

static void pattern_write_list_write_buffer(const struct lx_graph *g, int32_t i, struct text *t)
{
    const struct lx_buffer *b = &g->list->buffers[i];
    text_add(t, "    {\"name\": ");
    text_json_string(t, b->name);
    if (g->list->buffer_ids) write_field(t, ", \"id\": ", g->list->buffer_ids[i]);
    write_field(t, ", \"size\": ", b->size);
    if (b->use_count) text_json_ints(t, "uses", b->uses, b->use_count);
    for (int32_t k = 0; k < b->life_count; k++)
        text_format(t, "%s[%" PRId64 ", %" PRId64 "]%s", k ? ", " : ", \"live\": [", b->lives[k].start,
                    b->lives[k].end, k + 1 == b->life_count ? "]" : "");
    if (!b->life_count && (!b->use_count || b->start != b->uses[0]))
        write_field(t, ", \"start\": ", b->start);
    if (!b->life_count && (!b->use_count || b->end != b->uses[b->use_count - 1] + 1))
        write_field(t, ", \"end\": ", b->end);
    if (b->first_use_is_read) text_add(t, ", \"first_use_is_read\": true");
    if (b->parent_count) {
        text_add(t, ", \"in_place_parents\": ");
        write_names(t, g, b->parents, b->parent_count);
    }
    if (b->fixed >= 0 && g->list->pool_count) {
        text_add(t, ", \"pin\": [");
        write_pool_name(t, g, b->fixed_pool);
        text_format(t, ", %" PRId64 "]", b->fixed);
    } else if (b->fixed >= 0)
        text_format(t, ", \"fixed\": %" PRId64, b->fixed);
    if (b->alone) text_add(t, ", \"alone\": true");
    for (int32_t k = 0; b->pools && k < b->pool_count; k++) {
        text_add(t, k ? ", " : ", \"pools\": [");
        write_pool_name(t, g, b->pools[k]);
        if (k + 1 == b->pool_count) text_add(t, "]");
    }
    if (b->on_costs) text_json_ints(t, "costs", b->on_costs, b->pool_count);
    if (b->alignment) text_format(t, ", \"alignment\": %" PRId64, b->alignment);
    int32_t owner = -1;
    for (int32_t k = 0; k < g->list->bonds.staging_count && owner < 0; k++)
        if (g->list->bonds.staging[k].a == i) owner = g->list->bonds.staging[k].b;
    if (owner >= 0) {
        text_add(t, ", \"instead_of\": ");
        text_json_string(t, g->list->buffers[owner].name);
    } else if (b->must)
        text_add(t, ", \"off\": null");
    else
        write_field(t, ", \"cost\": ", b->spill_cost);
    if (b->reason) {
        text_add(t, ", \"reason\": ");
        text_json_string(t, b->reason);
    }
    text_add(t, "}");
}

/* A list of lists of names: of groups, or, without them, of pairs. */
static void write_groups(const struct lx_graph *g, const char *key, const struct lx_group *groups,
                         const struct lx_pair *pairs, int32_t count, struct text *t)
{
    if (count) text_format(t, ",\n  \"%s\": [", key);
    for (int32_t i = 0; i < count; i++) {
        if (i) text_add(t, ", ");
        if (groups)
            write_names(t, g, groups[i].at, groups[i].count);
        else
            write_names(t, g, (int32_t[]){pairs[i].a, pairs[i].b}, 2);
    }
    if (count) text_add(t, "]");
}

static void write_bonds(const struct lx_graph *g, struct text *t)
{
    const struct lx_bonds *b = &g->list->bonds;
    write_groups(g, "apart", NULL, b->apart, b->apart_count, t);
    write_groups(g, "exclusive", NULL, b->exclusive, b->exclusive_count, t);
    write_groups(g, "same_place", b->same_place, NULL, b->same_place_count, t);
    write_groups(g, "together", b->together, NULL, b->together_count, t);
    for (int32_t i = 0; i < b->charge_count; i++) {
        text_add(t, i ? ",\n" : ",\n  \"charges\": [\n");
        static const char *const keys[] = {"all_on", "all_off", "any_on", "any_off"};
        const struct lx_group *groups[] = {&b->charges[i].all_on, &b->charges[i].all_off,
                                           &b->charges[i].any_on, &b->charges[i].any_off};
        if (b->charges[i].cost == LX_FORBIDDEN)
            text_add(t, "    {\"cost\": null");
        else
            text_format(t, "    {\"cost\": %" PRId64, b->charges[i].cost);
        for (int k = 0; k < 4; k++) {
            if (groups[k]->count == 0) continue;
            text_format(t, ", \"%s\": ", keys[k]);
            write_names(t, g, groups[k]->at, groups[k]->count);
        }
        text_add(t, "}");
        if (i + 1 == b->charge_count) text_add(t, "\n  ]");
    }
    for (int32_t i = 0; i < b->reuse_count; i++) {
        text_add(t, i ? ", [" : ",\n  \"reuse\": [[");
        text_json_string(t, g->list->buffers[b->reuse[i].a].name);
        text_add(t, ", ");
        text_json_string(t, g->list->buffers[b->reuse[i].b].name);
        text_format(t, ", %" PRId64 "]%s", b->reuse[i].cost, i + 1 == b->reuse_count ? "]" : "");
    }
}

void pattern_write_list(const struct lx_graph *g, struct text *t)
{
    if (g->list->capacity >= 0 && !g->list->pool_count)
        text_format(t, ",\n  \"capacity\": %" PRId64, g->list->capacity);
    text_format(t, ",\n  \"alignment\": %" PRId64 ",\n  \"objective\": \"%s\"", g->list->alignment,
                lx_objective_word(g->list->objective));
    for (int32_t k = 0; k < g->list->pool_count; k++) {
        text_add(t, k ? ",\n" : ",\n  \"pools\": [\n");
        text_add(t, "    {\"name\": ");
        text_json_string(t, g->list->pools[k].name);
        if (g->list->pools[k].capacity == LX_NO_LIMIT)
            text_add(t, ", \"capacity\": null");
        else
            text_format(t, ", \"capacity\": %" PRId64, g->list->pools[k].capacity);
        for (int32_t i = 0; i < g->list->pools[k].reserved_count; i++) {
            text_add(t, i ? ", " : ", \"reserved\": [");
            const struct lx_reserved *r = &g->list->pools[k].reserved[i];
            text_format(t, "[%" PRId64 ", %" PRId64, r->from, r->to);
            if (r->start != INT64_MIN) text_format(t, ", %" PRId64 ", %" PRId64, r->start, r->end);
            text_add(t, "]");
            if (i + 1 == g->list->pools[k].reserved_count) text_add(t, "]");
        }
        text_add(t, "}");
        if (k + 1 == g->list->pool_count) text_add(t, "\n  ]");
    }
    text_add(t, ",\n  \"buffers\": [\n");
    for (int32_t i = 0; i < g->list->buffer_count; i++) {
        pattern_write_list_write_buffer(g, i, t);
        text_add(t, i + 1 < g->list->buffer_count ? ",\n" : "\n");
    }
    text_add(t, "  ]");
    write_bonds(g, t);
}
