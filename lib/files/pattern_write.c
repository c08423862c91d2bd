/* Patterns as text, in one canonical form: one tensor, op or buffer per line, keys in a fixed order, no
 * implied keys. Plans carry this text, generators print it, and graphs are hashed by it. */
#include "files/pattern.h"
#include "graph/op_params.h"
#include "graph/op_walks.h"

/* A word without characters that JSON escapes. */
static void pattern_write_word(struct text *t, const char *key, const char *word)
{
    text_format(t, ", \"%s\": \"%s\"", key, word);
}

/* Includes the changed input, which is indexed like the result. */
static void write_einsum(const struct lx_op *op, int changed, struct text *t)
{
    const char *at = op->einsum, *result = strstr(at, "->");
    text_add(t, ", \"einsum\": \"");
    for (int i = 0; i < changed && result; i++) at += strcspn(at, ",-") + 1;
    if (changed >= 0 && result) {
        bool last = at > result;
        text_add_n(t, op->einsum, (size_t)((last ? result : at) - op->einsum));
        text_format(t, last ? ",%s" : "%s,", result + 2);
        if (last) at = result;
    }
    text_add(t, at);
    text_add_n(t, "\"", 1);
}

static void write_windows(const struct lx_op *op, struct text *t)
{
    for (int i = 0; i < op->window_count; i++) {
        text_add(t, i ? ", " : ", \"windows\": [");
        const struct lx_window *w = &op->windows[i];
        const char *letter = op->map->letter;
        text_format(t, "{\"in\": \"%c\", \"out\": \"%c\", \"tap\": \"%c\"", letter[(int)w->in],
                    letter[(int)w->out], letter[(int)w->tap]);
        bool stated = false; /* an operand states its size */
        for (int k = 0; k < op->map->operand_count; k++) stated |= lx_einsum_dim(op->map, k, w->tap) >= 0;
        if (!stated) text_format(t, ", \"size\": %" PRId64, w->size);
        text_format(t, ", \"stride\": %" PRId64 ", \"dilation\": %" PRId64 ", \"pad\": %" PRId64, w->stride,
                    w->dilation, w->pad);
        if (w->hole != 1) text_format(t, ", \"hole\": %" PRId64, w->hole);
        text_add(t, w->count_all ? ", \"count_all\": true}" : "}");
        if (i + 1 == op->window_count) text_add(t, "]");
    }
}

static void pattern_write_op(const struct lx_graph *g, const struct lx_op *op, struct text *t)
{
    text_add(t, "    {\"name\": ");
    text_json_string(t, op->name);
    pattern_write_word(t, "kind", op->kind->name);
    text_add(t, ", \"inputs\": [");
    int changed = op->kind->traits & LX_ALTERS ? op->inplace : -1, all = op->input_count + (changed >= 0);
    for (int i = 0; i < all; i++) {
        if (i) text_add(t, ", ");
        int32_t from = i == changed ? op->output : op->inputs[changed >= 0 && i > changed ? i - 1 : i];
        text_json_string(t, g->tensors[from].name);
    }
    bool several = op->output_count > 1;
    text_add(t, several ? "], \"outputs\": [" : "], \"output\": ");
    for (int i = op->input_count; i < op_operand_count(op); i++) {
        if (i > op->input_count) text_add(t, ", ");
        text_json_string(t, g->tensors[op_operand(op, i)].name);
    }
    if (several) text_add(t, "]");
    if (changed >= 0) text_format(t, ", \"inplace\": %d", changed);
    if (op->einsum) write_einsum(op, changed, t);
    write_windows(op, t);
    op_value_write(g, op, t);
    int rank = g->tensors[op->output].rank; /* a view's operands have one rank, unless it has an einsum */
    if (op->map && op->offset) rank = g->tensors[op->inputs[0]].rank;
    if (op->offset) text_json_ints(t, "offset", op->offset, rank);
    if (op->stride) text_json_ints(t, "stride", op->stride, rank);
    op_views_write(g, op, t);
    op_params_write(op->params, t);
    op_data_write(g, op, t);
    for (int i = 0; i < op->hint_count; i++)
        text_format(t, "%s\"%c\": %" PRId64 "%s", i ? ", " : ", \"hints\": {", op->hints[i].letter,
                    op->hints[i].split, i + 1 < op->hint_count ? "" : "}");
    text_add(t, "}");
}

/* --- Lists of buffers: keys of version 2 only if needed. --- */

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

static void pattern_write_buffer(const struct lx_graph *g, int32_t i, struct text *t)
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

/* Writes lists of names: of groups, or, without groups, of pairs. */
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
    for (int32_t i = 0; i < b->linked_cost_count; i++) {
        text_add(t, i ? ",\n" : ",\n  \"charges\": [\n");
        static const char *const keys[] = {"all_on", "all_off", "any_on", "any_off"};
        const struct lx_group *groups[] = {&b->linked_costs[i].all_on, &b->linked_costs[i].all_off,
                                           &b->linked_costs[i].any_on, &b->linked_costs[i].any_off};
        if (b->linked_costs[i].cost == LX_FORBIDDEN)
            text_add(t, "    {\"cost\": null");
        else
            text_format(t, "    {\"cost\": %" PRId64, b->linked_costs[i].cost);
        for (int k = 0; k < 4; k++) {
            if (groups[k]->count == 0) continue;
            text_format(t, ", \"%s\": ", keys[k]);
            write_names(t, g, groups[k]->at, groups[k]->count);
        }
        text_add(t, "}");
        if (i + 1 == b->linked_cost_count) text_add(t, "\n  ]");
    }
    for (int32_t i = 0; i < b->reuse_count; i++) {
        text_add(t, i ? ", [" : ",\n  \"reuse\": [[");
        text_json_string(t, g->list->buffers[b->reuse[i].a].name);
        text_add(t, ", ");
        text_json_string(t, g->list->buffers[b->reuse[i].b].name);
        text_format(t, ", %" PRId64 "]%s", b->reuse[i].cost, i + 1 == b->reuse_count ? "]" : "");
    }
}

static void pattern_write_list(const struct lx_graph *g, struct text *t)
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
        pattern_write_buffer(g, i, t);
        text_add(t, i + 1 < g->list->buffer_count ? ",\n" : "\n");
    }
    text_add(t, "  ]");
    write_bonds(g, t);
}

/* Passes on a complete record. */
static void write_hand_over(const struct lx_graph *g, const struct record_taker *taker, struct text *t)
{
    if (!taker) return;
    taker->take(taker->context, g, t->at, t->length);
    t->length = 0;
}

static void write_whole_graph(const struct lx_graph *g, const struct record_taker *taker, struct text *t)
{
    if (g->grid_axes > 0) {
        text_add(t, ",\n  \"grid\": [");
        for (int a = 0; a < g->grid_axes; a++) text_format(t, a ? ", %d" : "%d", g->grid[a]);
        text_add(t, "]");
    }
    text_add(t, ",\n  \"tensors\": [\n");
    for (int32_t i = 0; i < g->tensor_count; i++) {
        text_add(t, "    {\"name\": ");
        text_json_string(t, g->tensors[i].name);
        if (g->tensors[i].rank >= 0) {
            text_json_ints(t, "shape", g->tensors[i].shape, g->tensors[i].rank);
            pattern_write_word(t, "dtype", lx_dtype_word(g->tensors[i].dtype));
        } else
            text_format(t, ", \"bytes\": %" PRId64, g->tensors[i].bytes);
        pattern_write_word(t, "role", lx_role_word(g->tensors[i].role));
        if (g->tensors[i].cut_stated) {
            text_add(t, ", \"cut\": [");
            for (int a = 0; a < g->grid_axes; a++) text_format(t, a ? ", %d" : "%d", g->tensors[i].cut[a]);
            text_add(t, "]");
        }
        if (g->tensors[i].memory)
            pattern_write_word(t, "memory", lx_memory_word((enum lx_memory)(g->tensors[i].memory - 1)));
        if (g->tensors[i].placing)
            pattern_write_word(t, "placing", lx_placing_word((enum lx_placing)(g->tensors[i].placing - 1)));
        text_add(t, "}");
        text_add(t, i + 1 < g->tensor_count ? ",\n" : "\n");
        write_hand_over(g, taker, t);
    }
    text_add(t, "  ],\n  \"ops\": [\n");
    for (int32_t i = 0; i < g->op_count; i++) {
        pattern_write_op(g, &g->ops[i], t);
        text_add(t, i + 1 < g->op_count ? ",\n" : "\n");
        write_hand_over(g, taker, t);
    }
    text_add(t, "  ]");
}

void pattern_write_body(const struct lx_graph *g, const struct record_taker *taker, struct text *t)
{
    text_add(t, "  \"device\": ");
    device_write(&g->device, t);
    if (g->list)
        pattern_write_list(g, t);
    else
        write_whole_graph(g, taker, t);
    write_hand_over(g, taker, t);
}

void pattern_write(const struct lx_graph *g, struct text *t)
{
    text_add(t, "{\n  \"lxplan\": 1,\n  \"kind\": \"pattern\",\n  \"name\": ");
    text_json_string(t, g->name);
    if (g->summary[0]) {
        text_add(t, ",\n  \"summary\": ");
        text_json_string(t, g->summary);
    }
    text_add(t, ",\n");
    pattern_write_body(g, NULL, t);
    if (g->target_hbm_bytes >= 0) text_format(t, ",\n  \"target_hbm_bytes\": %" PRId64, g->target_hbm_bytes);
    for (int i = 0; i < g->pass_count; i++) {
        const struct lx_stated_pass *p = &g->passes[i];
        text_add(t, i ? ", " : ",\n  \"passes\": {");
        text_json_string(t, p->name);
        text_add(t, ": ");
        bool on = strcmp(p->value, "on") == 0;
        if (on || strcmp(p->value, "off") == 0)
            text_add(t, on ? "true" : "false");
        else
            text_json_string(t, p->value);
    }
    if (g->pass_count) text_add(t, "}");
    if (g->expect_stage) {
        text_add(t, ",\n  \"expect\": {\"error\": {\"stage\": ");
        text_json_string(t, g->expect_stage);
        text_add(t, ", \"code\": ");
        text_json_string(t, g->expect_code);
        text_add(t, "}}");
    } else if (g->expect_count) {
        text_add(t, ",\n  \"expect\": {");
        for (int i = 0; i < g->expect_count; i++) {
            if (i) text_add(t, ", ");
            text_json_string(t, g->expects[i].solver);
            text_format(t, ": \"%s\"", g->expects[i].pass ? "pass" : "fail");
        }
        text_add(t, "}");
    }
    if (g->came_from) {
        text_add(t, ",\n  \"came_from\": ");
        pattern_write(g->came_from, t);
    }
    text_add(t, "\n}");
}

char *lx_graph_to_json(const struct lx_graph *g, size_t *length)
{
    struct text t = {0};
    pattern_write(g, &t);
    text_add(&t, "\n");
    *length = t.length;
    return t.at;
}
