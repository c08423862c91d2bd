/* The tables of `lxplan plan --stage layout` and `--stage divide`. */
#include "stages/show_divide.h"
#include "text/gathered.h"
#include "text/format.h"

#include <stdlib.h>

/* "4 x 512 x 64" */
static void add_extents(struct text *t, const int64_t *at, int count)
{
    for (int i = 0; i < count; i++) text_format(t, "%s%lld", i ? " x " : "", (long long)at[i]);
}

static void add_cell(struct gathered *t, enum paint p, struct text *words)
{
    if (words->failed) t->failed = true;
    gathered_words(t, p, words->at ? words->at : "");
    text_free(words);
}

static void add_tensor_row(const struct lx_layouts *l, int32_t i, struct gathered *t)
{
    const struct lx_tensor *tensor = &l->graph->tensors[i];
    const struct lx_layout *y = &l->layouts[i];
    struct text host = {0}, device = {0}, map = {0};
    gathered_name(t, tensor->name);
    gathered_cell(t, PAINT_DIM, "%s", lx_role_word(tensor->role));
    if (y->rank == 0) { /* known by its bytes only */
        for (int k = 0; k < 5; k++) gathered_cell(t, PAINT_PLAIN, "%s", "");
        gathered_cell(t, PAINT_PLAIN, "%s", grouped(tensor->bytes).at);
        return;
    }
    gathered_cell(t, PAINT_PLAIN, "%s", lx_dtype_word(tensor->dtype));
    add_extents(&host, tensor->shape, tensor->rank);
    add_extents(&device, y->size, y->rank);
    add_extents(&map, y->stride_map, y->rank);
    add_cell(t, PAINT_PLAIN, &host);
    add_cell(t, PAINT_PLAIN, &device);
    add_cell(t, PAINT_DIM, &map);
    if (y->stick_dim >= 0)
        gathered_cell(t, PAINT_PLAIN, "%d", y->stick_dim);
    else
        gathered_cell(t, PAINT_DIM, "%s", "none");
    gathered_cell(t, PAINT_PLAIN, "%s", grouped(lx_layout_bytes(y)).at);
}

void show_layouts(const struct lx_layouts *l, struct text *out)
{
    static const struct heading columns[] = {{"tensor", false}, {"role", false},
                                             {"type", false},   {"host", false},
                                             {"device", false}, {"host elements a step", false},
                                             {"stick", true},   {"device bytes", true}};
    static const struct heading added[] = {
        {"restickify", false}, {"before", false}, {"from", false}, {"to", false}, {"elements", true}};
    const struct lx_graph *g = l->graph;
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    for (int32_t i = 0; i < g->tensor_count; i++) add_tensor_row(l, i, &t);
    gathered_write(&t, out);
    text_format(out, "\n%s added", counted(l->restickify_count, "restickify op").at);
    if (l->dead_ops) text_format(out, ", %s left out", counted(l->dead_ops, "dead op").at);
    text_format(out, "; %s moved, %s\n", counted(l->moved_elements, "device element").at,
                l->moved_elements == l->moved_bound ? "the least possible" : "perhaps not the least");
    if (l->restickify_count > 0) {
        struct gathered r = {.columns = added, .column_count = sizeof added / sizeof *added};
        for (int32_t i = 0; i < l->restickify_count; i++) {
            const struct lx_restickify *s = &l->restickifies[i];
            gathered_name(&r, g->ops[s->op].name);
            gathered_name(&r, g->ops[s->before].name);
            gathered_name(&r, g->tensors[s->from].name);
            gathered_name(&r, g->tensors[s->to].name);
            gathered_cell(&r, PAINT_PLAIN, "%s", grouped(s->elements).at);
        }
        gathered_write(&r, out);
    }
    for (int32_t i = 0; i < l->padding_count; i++) {
        const struct lx_padding *p = &l->paddings[i];
        char *tensor = printable(g->tensors[p->tensor].name, NAME_COLUMNS),
             *op = printable(g->ops[p->op].name, NAME_COLUMNS);
        text_format(out, "  %s: dimension %d padded from %lld to %lld for %s\n", tensor ? tensor : "?",
                    p->dim, (long long)p->from, (long long)p->to, op ? op : "?");
        free(tensor);
        free(op);
    }
}

/* "m 512, k 4096 (64 sticks)": a bracket where sticks run along the variable. */
static void add_space(struct text *t, const struct lx_division *d)
{
    for (int i = 0; i < d->split_count; i++) {
        const struct lx_split *s = &d->splits[i];
        text_format(t, "%s%c%s %lld", i ? ", " : "", s->letter, s->is_summed ? "+" : "",
                    (long long)s->extent);
        if (s->unit > 1) text_format(t, " (%s)", counted(s->units, "stick").at);
    }
}

static void add_splits(struct text *t, const struct lx_division *d)
{
    const char *comma = "";
    for (int i = 0; i < d->split_count; i++) {
        if (d->splits[i].split == 1) continue;
        text_format(t, "%s%c/%lld", comma, d->splits[i].letter, (long long)d->splits[i].split);
        comma = " ";
    }
    if (!*comma) text_add(t, "-");
}

static void add_core_extents(struct text *t, const struct lx_division *d)
{
    for (int i = 0; i < d->split_count; i++)
        text_format(t, "%s%lld", i ? " x " : "", (long long)d->splits[i].per_core);
}

static void add_spans(struct text *t, const struct lx_divisions *all, const struct lx_division *d)
{
    for (int i = 0; i < d->operand_count; i++)
        text_format(t, "%s%s %s", i ? ", " : "", all->layouts->graph->tensors[d->operands[i].tensor].name,
                    grouped(d->operands[i].bytes).at);
}

/* Of each variable that is split, or kept from it, the rule and what bound it. */
static void add_why(struct text *t, const struct lx_divisions *all, const struct lx_division *d)
{
    const char *semicolon = "";
    for (int i = 0; i < d->split_count; i++) {
        const struct lx_split *s = &d->splits[i];
        if (s->split == 1 && s->rule != LX_SPLIT_BLOCKED) continue;
        text_format(t, "%s%c: %s", semicolon, s->letter, lx_split_rule_word(s->rule));
        if (s->rule == LX_SPLIT_SPAN)
            text_format(t, " of %s, %s B whole",
                        all->layouts->graph->tensors[d->operands[s->bound_by].tensor].name,
                        grouped(s->bound).at);
        else if (s->rule == LX_SPLIT_OUTPUT || s->rule == LX_SPLIT_REDUCTION)
            text_format(t, ", %s left", counted(s->bound, "core").at);
        if (s->constraint) text_format(t, " (%s)", s->constraint);
        semicolon = "; ";
    }
    if (!*semicolon) text_add(t, "nothing to split");
}

static void add_op_row(const struct lx_divisions *all, int32_t i, struct gathered *t)
{
    static const char *const undivided[] = {
        [LX_UNDIVIDED_EXTERN] = "runs off the device", [LX_UNDIVIDED_OPAQUE] = "no index map: one core"};
    const struct lx_division *d = &all->at[i];
    const struct lx_op *op = &all->layouts->graph->ops[d->op];
    struct text space = {0}, splits = {0}, extents = {0}, spans = {0}, why = {0};
    gathered_name(t, op->name);
    gathered_cell(t, PAINT_DIM, "%s", op->kind->name);
    if (d->kind != LX_DIVIDED) {
        for (int k = 0; k < 6; k++) gathered_cell(t, PAINT_PLAIN, "%s", "");
        gathered_words(t, PAINT_DIM, undivided[d->kind]);
        return;
    }
    add_space(&space, d);
    add_splits(&splits, d);
    add_core_extents(&extents, d);
    add_spans(&spans, all, d);
    add_why(&why, all, d);
    add_cell(t, PAINT_PLAIN, &space);
    add_cell(t, PAINT_PLAIN, &splits);
    gathered_cell(t, d->cores_used == d->cores ? PAINT_GOOD : PAINT_PLAIN, "%lld", (long long)d->cores_used);
    add_cell(t, PAINT_PLAIN, &extents);
    gathered_cell(t, PAINT_PLAIN, "%.1f", d->predicted_us);
    add_cell(t, PAINT_PLAIN, &spans);
    add_cell(t, PAINT_DIM, &why);
}

void show_divisions(const struct lx_divisions *d, struct text *out)
{
    static const struct heading columns[] = {{"op", false},
                                             {"kind", false},
                                             {"iteration space", false},
                                             {"splits", false},
                                             {"cores", true},
                                             {"a core's part", false},
                                             {"us", true},
                                             {"span of each tensor, bytes", false},
                                             {"why", false}};
    const struct lx_graph *g = d->layouts->graph;
    struct gathered t = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
    text_format(out, "%s on %s, a core addresses at most %s of a tensor; predicted %s\n",
                counted(d->count, "op").at, counted(d->cores, "core").at, in_bytes(g->device.span_bytes).at,
                in_time(d->predicted_us * 1e-6).at);
    for (int32_t i = 0; i < d->count; i++) add_op_row(d, i, &t);
    gathered_write(&t, out);
    text_add(out, "  a + after a variable: it is summed away\n");
}
