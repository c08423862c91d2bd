/* Ops as rows of a table on the screen. */
#include "tui/views/graph_rows.h"
#include "export/nest_words.h"
#include "tui/core/explorer.h"
#include "tui/draw/stack_bar.h"

#include <math.h>
#include <string.h>

enum { TICK_COLUMNS = 5 };

bool op_matches(const struct lx_graph *g, int32_t op, const char *text)
{
    bool has = has_text(g->ops[op].name, text) || has_text(g->ops[op].kind->name, text);
    for (int i = 0; i < g->ops[op].output_count; i++)
        has = has || has_text(g->tensors[g->ops[op].outputs[i]].name, text);
    return has;
}

void add_shape(const struct lx_tensor *t, struct text *out)
{
    if (t->rank < 0) {
        text_format(out, "%s B", grouped(t->bytes).at);
        return;
    }
    for (int i = 0; i < t->rank; i++) text_format(out, "%s%lld", i ? "x" : "", (long long)t->shape[i]);
    if (t->rank == 0) text_add(out, "scalar");
    text_format(out, " %s", lx_dtype_word(t->dtype));
}

static void graph_rows_add_splits(const struct lx_division *d, struct text *out)
{
    if (!d || d->kind != LX_DIVIDED) return;
    const char *blank = "";
    for (int i = 0; i < d->split_count; i++) {
        if (d->splits[i].split == 1) continue;
        text_format(out, "%s%c/%lld", blank, d->splits[i].letter, (long long)d->splits[i].split);
        blank = " ";
    }
    if (!*blank) text_add(out, "1 core");
}

/* One op of the plan that is shown. */
struct graph_row {
    const struct outcome *outcome;
    const struct lx_graph *graph;
    const struct lx_op *op;
    const struct lx_op_wait *wait;
    int32_t number, last;          /* last: of what is folded; else the op itself */
    const struct lx_repeat *layer; /* that is folded here; NULL: none */
    bool here;                     /* it is selected */
};

/* "scores..mixed" of a nest that is folded, "x32 of 94 ops" of layers. */
static void name_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct graph_row *row = row_of_table;
    (void)column;
    v->paint = row->here ? PAINT_HEADING : PAINT_PLAIN;
    v->words = row->op->name;
    if (row->last == row->number) return;
    v->words = NULL;
    if (row->layer) {
        value_format(v, "x%d of %s", (int)row->layer->times, counted(row->layer->ops, "op").at);
        return;
    }
    value_add(v, row->op->name);
    value_add(v, "..");
    value_add(v, row->graph->ops[row->last].name);
}

static void graph_rows_traffic_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct graph_row *row = row_of_table;
    int64_t bytes = 0;
    (void)column;
    for (int32_t o = row->number; o <= row->last; o++) bytes += outcome_traffic(row->outcome, o);
    value_whole(v, bytes);
    v->paint = bytes ? PAINT_PLAIN : PAINT_GOOD;
    if (!bytes) v->words = "on chip";
}

static void ring_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct graph_row *row = row_of_table;
    const struct lx_op_traffic *all = row->outcome->plan->traffic;
    int64_t bytes = 0;
    (void)column;
    for (int32_t o = row->number; all && o <= row->last; o++) bytes += all[o].ring + all[o].reduce_ring;
    value_dim(v, bytes);
    if (!v->whole) v->words = "-";
}

static void graph_rows_cores_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct graph_row *row = row_of_table;
    const struct lx_division *d = outcome_division(row->outcome, row->number);
    (void)column;
    if (row->layer) {
        v->words = "";
        return;
    }
    value_whole(v, d ? d->cores_used : 0);
    v->paint = d && d->cores_used < d->cores ? PAINT_WARN : PAINT_PLAIN;
}

/* clang-format off */
VALUE_OF(kind_value,   struct graph_row, v->words = row->layer ? "layer" : row->last > row->number ? "nest" : row->op->kind->name; v->paint = PAINT_DIM;)
VALUE_OF(shape_value,  struct graph_row, add_shape(&row->graph->tensors[row->op->output], &v->made); v->words = v->made.at;)
VALUE_OF(splits_value, struct graph_row, if (!row->layer) graph_rows_add_splits(outcome_division(row->outcome, row->number), &v->made); v->words = v->made.at ? v->made.at : "";)
VALUE_OF(time_value,   struct graph_row, v->number = row->wait->device_us; value_format(v, "%s", in_micros(v->number).at);)
VALUE_OF(bound_value,  struct graph_row, v->words = lx_wait_us(row->wait) > 0 ? lx_wait_word(lx_wait_longest(row->wait)) : "-";)

static const struct column graph_array[GRAPH_COLUMNS] = {
    [GRAPH_NAME]   = {.key = "op",        .heading = "op",         .kind = VALUE_NAME,   .width = 14, .value = name_value},
    [GRAPH_KIND]   = {.key = "kind",      .heading = "kind",       .kind = VALUE_WORDS,  .width = 8,  .from = 52,  .value = kind_value},
    [GRAPH_SHAPE]  = {.key = "shape",     .heading = "shape",      .kind = VALUE_WORDS,  .width = 18, .from = 120, .value = shape_value},
    [GRAPH_SPLITS] = {.key = "splits",    .heading = "splits",     .kind = VALUE_WORDS,  .width = 12, .from = 100, .value = splits_value},
    [GRAPH_CORES]  = {.key = "cores",     .heading = "cores",      .kind = VALUE_COUNT,  .width = 5,  .from = 58,  .value = graph_rows_cores_value},
    [GRAPH_HBM]    = {.key = "traffic",   .heading = "HBM bytes",  .kind = VALUE_BYTES,  .width = 11, .from = 30,  .value = graph_rows_traffic_value},
    [GRAPH_RING]   = {.key = "ring",      .heading = "ring bytes", .kind = VALUE_BYTES,  .width = 11, .from = 84,  .value = ring_value},
    [GRAPH_TIME]   = {.key = "device_us", .heading = "time",       .kind = VALUE_MICROS, .width = 9,  .from = 42,  .value = time_value},
    [GRAPH_BOUND]  = {.key = "bound_by",  .heading = "bound",      .kind = VALUE_WORDS,  .width = 7,  .from = 48,  .value = bound_value},
};
/* clang-format on */

const struct columns graph_columns = COLUMNS("ops of the graph on the screen", graph_array);

/* The bracket beside an op; beside the first ops a level each, the outermost first: "x16 h". */
static void put_nest(const struct scene *on, struct box at, int32_t op, bool folded)
{
    const struct lx_plan *p = session_plan(on->session);
    int32_t nest = at.columns > 0 ? plan_nest_at(p, op) : -1;
    if (nest < 0) return;
    const struct lx_nest *n = &p->nests[nest];
    const struct glyphs *g = on->glyphs;
    struct style style = nest == session_nest(on->session) ? INK(KEY) : INK(FRAME);
    int level = op - n->first;
    if (folded || n->first == n->last) {
        /* Of a nest that is folded: "[h/8,s/8", or "[x64". */
        struct text words = {0};
        add_nest_brief(session_plan(on->session), n, &words);
        put(on->cells, at.row, at.column, '[', style);
        if ((int)words.length > at.columns - 2)
            put_format(on->cells, at.row, at.column + 1, at.columns - 2, style, "x%lld",
                       (long long)nest_iterations(n));
        else
            put_text(on->cells, at.row, at.column + 1, at.columns - 2, style, words.at ? words.at : "");
        text_free(&words);
        return;
    }
    put(on->cells, at.row, at.column,
        op == n->first  ? g->corner[0]
        : op == n->last ? g->corner[2]
                        : g->vertical,
        style);
    if (level >= n->level_count) return;
    put_format(on->cells, at.row, at.column + 1, at.columns - 2, style, "x%lld %c",
               (long long)n->tiles[level], nest_axis_letter(p, n, level));
}

/* The layers whose row begins with an op. */
static const struct lx_repeat *layer_row(const struct outcome *o, int32_t op, struct graph_fold fold)
{
    const struct lx_repeat *r = fold.layers ? outcome_repeat(o, op) : NULL;
    return r && r->first == op ? r : NULL;
}

int32_t graph_row_last(const struct outcome *o, int32_t op, struct graph_fold fold)
{
    const struct lx_plan *p = o->plan;
    const struct lx_repeat *layer = layer_row(o, op, fold);
    int32_t nest = fold.nests ? plan_nest_at(p, op) : -1;
    if (layer) return op + layer->ops * layer->times - 1;
    return nest >= 0 && p->nests[nest].first == op ? p->nests[nest].last : op;
}

static struct lx_op_wait waits_of_row(const struct outcome *o, int32_t op, int32_t last)
{
    return op == last ? o->waits[op] : lx_waits_sum(&o->waits[op], last - op + 1);
}

/* Where there is room for long names: as many as they have. */
static int name_columns(const struct lx_graph *g)
{
    enum { LEAST = 24, MOST = 48 };
    size_t longest = LEAST;
    for (int32_t i = 0; i < g->op_count && longest < MOST; i++) {
        size_t n = strlen(g->ops[i].name);
        if (n > longest) longest = n < MOST ? n : MOST;
    }
    return (int)longest;
}

/* How wide a name is depends on the room. */
void graph_rows_fit(const struct scene *on, int room, struct graph_fold fold, struct graph_rows *out)
{
    const struct outcome *o = &on->session->shown;
    *out = (struct graph_rows){.rails = rails_fit(o, room),
                               .fold = fold,
                               .nests = o->plan->nest_count == 0 || room < 40 ? 0
                                        : room < 76                           ? 2
                                                                              : 9};
    out->columns_at = TICK_COLUMNS + out->nests + out->rails.columns + 2;
    int rest = room - out->columns_at;
    memcpy(out->columns, graph_array, sizeof graph_array);
    out->columns[GRAPH_NAME].width = rest >= 140   ? name_columns(outcome_graph(o))
                                     : rest >= 100 ? 24
                                     : rest >= 70  ? 16
                                     : rest >= 42  ? 13
                                     : rest > 12   ? rest - 12
                                                   : 1;
    out->fitted = fit_columns((struct columns){graph_columns.name, out->columns, GRAPH_COLUMNS}, rest);
    out->bar_at = out->columns_at + out->fitted.end + 1;
    for (int32_t i = 0; i < outcome_graph(o)->op_count; i++) {
        struct lx_op_wait sum = waits_of_row(o, i, graph_row_last(o, i, fold));
        out->longest_us = fmax(out->longest_us, lx_wait_us(&sum));
    }
}

static struct box columns_of_row(const struct graph_rows *r, struct box row)
{
    return (struct box){row.row, row.column + r->columns_at, 1, row.columns - r->columns_at};
}

void put_graph_head(const struct scene *on, const struct graph_rows *r, struct box row)
{
    put_right(on->cells, row.row, row.column, TICK_COLUMNS - 1, INK(DIM), "tick");
    put_text(on->cells, row.row, row.column + TICK_COLUMNS, r->nests, INK(DIM), r->nests > 4 ? "nest" : "");
    put_text(on->cells, row.row, row.column + TICK_COLUMNS + r->nests, r->rails.columns, INK(DIM),
             r->rails.columns >= 7 ? "tensors" : "");
    put_headings(on->cells, columns_of_row(r, row), &r->fitted);
}

void put_graph_row(const struct scene *on, const struct graph_rows *r, struct box row, int32_t i)
{
    const struct outcome *o = &on->session->shown;
    const struct lx_graph *g = outcome_graph(o);
    int32_t last = graph_row_last(o, i, r->fold), selected = on->session->selection.op;
    struct lx_op_wait wait = waits_of_row(o, i, last);
    struct graph_row data = {
        o, g, &g->ops[i], &wait, i, last, layer_row(o, i, r->fold), selected >= i && selected <= last};
    uint8_t tone = tone_of_identity(buffer_identity(o->plan, outcome_buffer(o, data.op->output)));
    struct box columns = columns_of_row(r, row);
    put_right(on->cells, row.row, row.column, TICK_COLUMNS - 1, INK(DIM), grouped(i).at);
    if (!data.layer)
        put_nest(on, (struct box){row.row, row.column + TICK_COLUMNS, 1, r->nests}, i, r->fold.nests);
    put_rails(on, (struct box){row.row, row.column + TICK_COLUMNS + r->nests, 1, r->rails.columns}, r->rails,
              i);
    put(on->cells, row.row, columns.column - 2, data.here ? on->glyphs->mark : on->glyphs->bullet,
        (struct style){.ink = tone});
    put_values(on->cells, columns, &r->fitted, &data);
    put_waits(on, (struct box){row.row, row.column + r->bar_at, 1, row.columns - r->bar_at - 1}, data.wait,
              r->longest_us);
    if (data.here) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    if (on->search[0] && op_matches(g, i, on->search))
        put_paper(on->cells, (struct box){row.row, columns.column, 1, r->fitted.place[GRAPH_NAME].width},
                  INK_ON(MATCH, MATCH));
}
