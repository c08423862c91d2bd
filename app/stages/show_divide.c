/* The tables of `lxplan plan --stage layout` and `--stage divide`. */
#include "stages/stages.h"
#include "text/table.h"

/* One tensor of a graph with layouts. */
struct tensor_row {
    const struct lx_tensor *is;
    const struct lx_layout *layout; /* rank 0: it is known by its bytes only */
};

static void extents_value(struct value *v, const int64_t *at, int count)
{
    for (int i = 0; i < count; i++) text_format(&v->made, "%s%lld", i ? " x " : "", (long long)at[i]);
    v->words = v->made.at;
}

static void stick_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_layout *y = ((const struct tensor_row *)row_of_table)->layout;
    (void)column;
    if (y->rank > 0 && y->stick_dim >= 0)
        v->number = y->stick_dim;
    else {
        v->words = y->rank > 0 ? "none" : "";
        v->paint = PAINT_DIM;
    }
}

/* clang-format off */
VALUE_OF(role_value,   struct tensor_row, v->words = lx_role_word(row->is->role); v->paint = PAINT_DIM;)
VALUE_OF(type_value,   struct tensor_row, v->words = row->layout->rank ? lx_dtype_word(row->is->dtype) : "";)
VALUE_OF(host_value,   struct tensor_row, if (row->layout->rank) extents_value(v, row->is->shape, row->is->rank);)
VALUE_OF(device_value, struct tensor_row, extents_value(v, row->layout->size, row->layout->rank);)
VALUE_OF(map_value,    struct tensor_row, extents_value(v, row->layout->stride_map, row->layout->rank); v->paint = PAINT_DIM;)
VALUE_OF(bytes_value,  struct tensor_row,
         value_whole(v, row->layout->rank ? lx_layout_bytes(row->layout) : row->is->bytes);)

static const struct column layout_array[] = {
    {.key = "tensor",       .heading = "tensor",               .kind = VALUE_NAME,   VIA(struct tensor_row, is, name)},
    {.key = "role",         .heading = "role",                 .kind = VALUE_WORDS,  .value = role_value},
    {.key = "type",         .heading = "type",                 .kind = VALUE_WORDS,  .value = type_value},
    {.key = "host",         .heading = "host",                 .kind = VALUE_WORDS,  .value = host_value},
    {.key = "device",       .heading = "device",               .kind = VALUE_WORDS,  .value = device_value},
    {.key = "stride_map",   .heading = "host elements per step", .kind = VALUE_WORDS,  .value = map_value},
    {.key = "stick",        .heading = "stick",                .kind = VALUE_NUMBER, .value = stick_value},
    {.key = "device_bytes", .heading = "device bytes",         .kind = VALUE_BYTES,  .value = bytes_value},
};

/* One restickify op. */
struct restickify_row {
    const struct lx_graph *graph;
    const struct lx_restickify *is;
};

VALUE_OF(added_value,    struct restickify_row, v->words = row->graph->ops[row->is->op].name;)
VALUE_OF(before_value,   struct restickify_row, v->words = row->graph->ops[row->is->before].name;)
VALUE_OF(from_value,     struct restickify_row, v->words = row->graph->tensors[row->is->from].name;)
VALUE_OF(to_value,       struct restickify_row, v->words = row->graph->tensors[row->is->to].name;)

static const struct column restickify_array[] = {
    {.key = "op",       .heading = "restickify", .kind = VALUE_NAME,  .value = added_value},
    {.key = "before",   .heading = "before",     .kind = VALUE_NAME,  .value = before_value},
    {.key = "from",     .heading = "from",       .kind = VALUE_NAME,  .value = from_value},
    {.key = "to",       .heading = "to",         .kind = VALUE_NAME,  .value = to_value},
    {.key = "elements", .heading = "elements",   .kind = VALUE_COUNT, VIA(struct restickify_row, is, elements)},
};
/* clang-format on */

const struct columns layout_columns = COLUMNS("layouts", layout_array);
const struct columns restickify_columns = COLUMNS("restickify ops", restickify_array);

void show_layouts(const struct lx_layouts *l, struct text *out)
{
    const struct lx_graph *g = l->graph;
    struct tensor_row *tensors = mem_alloc(((size_t)g->tensor_count + 1) * sizeof *tensors);
    for (int32_t i = 0; i < g->tensor_count; i++)
        tensors[i] = (struct tensor_row){&g->tensors[i], &l->layouts[i]};
    table_add_text(&TABLE(layout_columns, tensors, g->tensor_count), out);
    mem_free(tensors);
    text_format(out, "\n%s added", counted(l->restickify_count, "restickify op").at);
    if (l->dead_ops) text_format(out, ", %s left out", counted(l->dead_ops, "dead op").at);
    text_format(out, "; %s moved, %s\n", counted(l->moved_elements, "device element").at,
                l->moved_elements == l->moved_bound ? "proved minimal" : "not proved minimal");
    int32_t n = l->restickify_count;
    OWNED struct restickify_row *rows = mem_alloc(((size_t)n + 1) * sizeof *rows);
    for (int32_t i = 0; i < n; i++) rows[i] = (struct restickify_row){l->graph, &l->restickifies[i]};
    if (n) table_add_text(&TABLE(restickify_columns, rows, n), out);
    for (int32_t i = 0; i < l->padding_count; i++) {
        const struct lx_padding *p = &l->paddings[i];
        OWNED char *tensor = printable(g->tensors[p->tensor].name, NAME_COLUMNS),
                   *op = printable(g->ops[p->op].name, NAME_COLUMNS);
        text_format(out, "  %s: dimension %d padded from %lld to %lld for %s\n", tensor ? tensor : "?",
                    p->dim, (long long)p->from, (long long)p->to, op ? op : "?");
    }
}

/* "m 512, k 4096 (64 sticks)": a bracket where sticks run along the variable. */
static void show_divide_add_space(struct text *t, const struct lx_division *d)
{
    for (int i = 0; i < d->split_count; i++) {
        const struct lx_split *s = &d->splits[i];
        text_format(t, "%s%c%s %lld", i ? ", " : "", s->letter, s->is_summed ? "+" : "",
                    (long long)s->extent);
        if (s->unit > 1) text_format(t, " (%s)", counted(s->units, "stick").at);
    }
}

/* "m/4 n/8" of a division, or of another way to divide its op. */
static void show_divide_add_splits(struct text *t, const struct lx_division *d,
                                   const struct lx_alternative *other)
{
    const char *blank = "";
    for (int i = 0; i < d->split_count; i++) {
        int64_t split = other ? other->splits[i] : d->splits[i].split;
        if (split == 1) continue;
        text_format(t, "%s%c/%lld", blank, d->splits[i].letter, (long long)split);
        blank = " ";
    }
    if (!*blank) text_add(t, "-");
}

static void show_divide_add_spans(struct text *t, const struct lx_divisions *all, const struct lx_division *d)
{
    for (int i = 0; i < d->operand_count; i++) {
        text_add(t, i ? ", " : "");
        add_printable(t, all->layouts->graph->tensors[d->operands[i].tensor].name, 0);
        text_format(t, " %s", grouped(d->operands[i].bytes).at);
    }
}

/* One op and how it is divided; where it is not, only `why` says something. */
struct division_row {
    const struct lx_divisions *all;
    const struct lx_division *d;
    const struct lx_op *op;
};

static bool is_divided(const struct division_row *row)
{
    return row->d->kind == LX_DIVIDED;
}

static void show_divide_why_value(const void *row_of_table, const struct column *column, struct value *v)
{
    static const char *const undivided[] = {
        [LX_UNDIVIDED_EXTERN] = "runs off the device", [LX_UNDIVIDED_OPAQUE] = "no index map: one core"};
    const struct division_row *row = row_of_table;
    (void)column;
    v->paint = PAINT_DIM;
    if (is_divided(row)) {
        /* The rule and the limit of each variable that is split, or kept from it. */
        const char *semicolon = "";
        for (int i = 0; i < row->d->split_count; i++) {
            const struct lx_split *s = &row->d->splits[i];
            if (s->split == 1 && s->rule != LX_SPLIT_BLOCKED) continue;
            text_format(&v->made, "%s%c: %s", semicolon, s->letter, lx_split_rule_word(s->rule));
            if (s->rule == LX_SPLIT_SPAN)
                text_format(&v->made, " of %s, %s B unsplit",
                            row->all->layouts->graph->tensors[row->d->operands[s->bound_by].tensor].name,
                            grouped(s->bound).at);
            else if (s->rule == LX_SPLIT_OUTPUT || s->rule == LX_SPLIT_REDUCTION)
                text_format(&v->made, ", %s left", counted(s->bound, "core").at);
            if (s->constraint) text_format(&v->made, " (%s)", s->constraint);
            semicolon = "; ";
        }
        if (!*semicolon) text_add(&v->made, "nothing to split");
    }
    v->words = is_divided(row) ? v->made.at : undivided[row->d->kind];
}

/* clang-format off */
VALUE_OF(us_value, struct division_row,
    if (is_divided(row)) {
        v->number = row->d->predicted_us;
        value_format(v, "%.1f", v->number);
    } else
        v->words = "";)
VALUE_OF(show_divide_cores_value, struct division_row,
    if (is_divided(row))
        value_whole(v, row->d->cores_used);
    else
        v->words = "";
    if (row->d->cores_used == row->d->cores) v->paint = PAINT_GOOD;)
VALUE_OF(kind_value,   struct division_row, v->words = row->op->kind->name; v->paint = PAINT_DIM;)
VALUE_OF(space_value,  struct division_row, if (is_divided(row)) show_divide_add_space(&v->made, row->d); v->words = v->made.at;)
VALUE_OF(splits_value, struct division_row, if (is_divided(row)) show_divide_add_splits(&v->made, row->d, NULL); v->words = v->made.at;)
VALUE_OF(part_value,   struct division_row,
    for (int i = 0; is_divided(row) && i < row->d->split_count; i++)
        text_format(&v->made, "%s%lld", i ? " x " : "", (long long)row->d->splits[i].per_core);
    v->words = v->made.at;)
VALUE_OF(spans_value,  struct division_row, if (is_divided(row)) show_divide_add_spans(&v->made, row->all, row->d); v->words = v->made.at;)

static const struct column division_array[] = {
    {.key = "op",           .heading = "op",                         .kind = VALUE_NAME,   VIA(struct division_row, op, name)},
    {.key = "kind",         .heading = "kind",                       .kind = VALUE_WORDS,  .value = kind_value},
    {.key = "space",        .heading = "iteration space",            .kind = VALUE_WORDS,  .value = space_value},
    {.key = "splits",       .heading = "splits",                     .kind = VALUE_WORDS,  .value = splits_value},
    {.key = "cores",        .heading = "cores",                      .kind = VALUE_NUMBER, .value = show_divide_cores_value},
    {.key = "part",         .heading = "per core",              .kind = VALUE_WORDS,  .value = part_value},
    {.key = "predicted_us", .heading = "time",                         .kind = VALUE_MICROS, .value = us_value},
    {.key = "spans",        .heading = "span of each tensor, bytes", .kind = VALUE_WORDS,  .value = spans_value},
    {.key = "why",          .heading = "why",                        .kind = VALUE_WORDS,  .value = show_divide_why_value},
};
/* clang-format on */

const struct columns division_columns = COLUMNS("divisions", division_array);

enum { MOST_ALTERNATIVES = 6 };

/* One op and one way to divide it. */
struct alternative_row {
    const struct lx_division *d;
    const struct lx_op *op;
    const struct lx_alternative *is;
    int neighbours;
};

/* clang-format off */
VALUE_OF(choice_value,    struct alternative_row, show_divide_add_splits(&v->made, row->d, row->is); v->words = v->made.at;)
VALUE_OF(agree_value,     struct alternative_row, value_format(v, "%d of %d", row->is->agreeing, row->neighbours);)
VALUE_OF(present_value,   struct alternative_row, v->number = row->is->present; v->paint = PAINT_GOOD;)

static const struct column alternative_array[] = {
    {.key = "op",           .heading = "op",     .kind = VALUE_NAME,   VIA(struct alternative_row, op, name)},
    {.key = "splits",       .heading = "splits", .kind = VALUE_WORDS,  .value = choice_value},
    {.key = "cores",        .heading = "cores",  .kind = VALUE_NUMBER, VIA(struct alternative_row, is, cores_used)},
    {.key = "predicted_us", .heading = "time",     .kind = VALUE_MICROS, VIA(struct alternative_row, is, device_us)},
    {.key = "agreeing",     .heading = "neighbours alike", .kind = VALUE_WORDS, .value = agree_value},
    {.key = "present",      .heading = "taken",  .kind = VALUE_BOOL,   .value = present_value},
};
/* clang-format on */

const struct columns alternative_columns = COLUMNS("alternatives of divisions", alternative_array);

void show_alternatives(const struct lx_divisions *d, struct text *out)
{
    double all[LX_MAX_OPERANDS];
    for (int i = 0; i < LX_MAX_OPERANDS; i++) all[i] = 1;
    text_format(
        out,
        "\nthe %d fastest splits of each op with all operands in HBM, and how many neighbours split alike\n",
        MOST_ALTERNATIVES);
    OWNED struct lx_alternative *at = mem_zeroed((size_t)d->count * MOST_ALTERNATIVES + 1, sizeof *at);
    OWNED struct alternative_row *rows = mem_zeroed((size_t)d->count * MOST_ALTERNATIVES + 1, sizeof *rows);
    size_t n = 0;
    for (int32_t o = 0; o < d->count; o++) {
        int neighbours, count = lx_division_alternatives(d, o, all, &at[n], MOST_ALTERNATIVES, &neighbours);
        for (int i = 0; i < count; i++, n++)
            rows[n] =
                (struct alternative_row){&d->at[o], &d->layouts->graph->ops[d->at[o].op], &at[n], neighbours};
    }
    table_add_text(&TABLE(alternative_columns, rows, n), out);
}

void show_divisions(const struct lx_divisions *d, struct text *out)
{
    const struct lx_graph *g = d->layouts->graph;
    text_format(out, "%s on %s, a core addresses at most %s of a tensor; predicted %s\n",
                counted(d->count, "op").at, counted(d->cores, "core").at, in_bytes(g->device.span_bytes).at,
                in_time(d->predicted_us * 1e-6).at);
    OWNED struct division_row *rows = mem_alloc(((size_t)d->count + 1) * sizeof *rows);
    for (int32_t i = 0; i < d->count; i++)
        rows[i] = (struct division_row){d, &d->at[i], &d->layouts->graph->ops[d->at[i].op]};
    table_add_text(&TABLE(division_columns, rows, d->count), out);
    text_add(out, "  a + after a variable: it is summed away\n");
}
