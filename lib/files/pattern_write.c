/* Patterns as text, in one canonical form: one tensor, op or buffer per line, keys in a fixed order, nothing
 * that is implied. What a plan carries, what generators print and what is hashed all come from here. */
#include "files/pattern.h"
#include "graph/op_params.h"
#include "graph/op_walks.h"
#include "base/fail.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static void write_device(const struct lx_device *d, struct text *t)
{
    struct lx_device preset;
    lx_device_preset(d->preset, &preset);
    bool same = true;
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++)
        same = same && lx_device_get(d, p) == lx_device_get(&preset, p);
    text_add(t, "  \"device\": ");
    if (same) {
        text_json_string(t, d->preset);
        return;
    }
    text_add(t, "{\"preset\": ");
    text_json_string(t, d->preset);
    for (const struct lx_device_parameter *p = lx_device_parameters(); p->key; p++) {
        double v = lx_device_get(d, p);
        if (v == lx_device_get(&preset, p)) continue;
        text_format(t, ", \"%s\": ", p->key);
        text_json_number(t, v);
    }
    text_add(t, "}");
}

/* A word without characters that JSON escapes. */
static void pattern_write_word(struct text *t, const char *key, const char *word)
{
    text_format(t, ", \"%s\": \"%s\"", key, word);
}

/* With the input that is changed, which is indexed as the result is. */
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
        bool stated = false; /* its size, by an operand */
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
    int rank =
        g->tensors[op->output].rank; /* a view's operands have the same rank, unless it has an einsum */
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

/* A record is complete. */
static void pattern_write_hand_over(const struct lx_graph *g, const struct record_taker *taker,
                                    struct text *t)
{
    if (!taker) return;
    taker->take(taker->context, g, t->at, t->length);
    t->length = 0;
}

static void pattern_write_whole_graph(const struct lx_graph *g, const struct record_taker *taker,
                                      struct text *t)
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
        pattern_write_hand_over(g, taker, t);
    }
    text_add(t, "  ],\n  \"ops\": [\n");
    for (int32_t i = 0; i < g->op_count; i++) {
        pattern_write_op(g, &g->ops[i], t);
        text_add(t, i + 1 < g->op_count ? ",\n" : "\n");
        pattern_write_hand_over(g, taker, t);
    }
    text_add(t, "  ]");
}

void pattern_write_body(const struct lx_graph *g, const struct record_taker *taker, struct text *t)
{
    write_device(&g->device, t);
    if (g->list)
        pattern_write_list(g, t);
    else
        pattern_write_whole_graph(g, taker, t);
    pattern_write_hand_over(g, taker, t);
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
