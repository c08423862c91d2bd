/* The graph: ops in the order in which they run; of the selected one who feeds it and who it feeds, and
 * whether that goes through HBM or stays on chip. */
#include "tui/explorer.h"
#include "tui/put_columns.h"
#include "planning/op_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct graph_view {
    struct list list;
    int32_t *shown;  /* ops that the filter leaves, in their order */
    int count, edge; /* edge: of the producers and consumers, the one that is pointed at */
};

static void end(void *state)
{
    struct graph_view *v = state;
    free(v->shown);
}

static bool matches(const struct lx_graph *g, int32_t op, const char *filter)
{
    return has_text(g->ops[op].name, filter) || has_text(g->ops[op].kind->name, filter) ||
           has_text(g->tensors[g->ops[op].output].name, filter);
}

static void arrange(struct graph_view *v, const struct session *s, const char *filter)
{
    const struct lx_graph *g = outcome_graph(&s->shown);
    int32_t n = g ? g->op_count : 0;
    int32_t *shown = realloc(v->shown, ((size_t)n + 1) * sizeof *shown);
    if (!shown) return;
    v->shown = shown;
    v->count = 0;
    for (int32_t i = 0; i < n; i++)
        if (matches(g, i, filter)) shown[v->count++] = i;
    for (int i = 0; i < v->count; i++)
        if (shown[i] <= s->selection.op) v->list.cursor = i;
}

/* One edge of the selected op: an input with the op that made it, or a reader of its output. */
struct edge {
    int32_t tensor, op; /* op -1: a graph input */
    bool is_input, on_chip;
};

static int edge_at(const struct session *s, int wanted, struct edge *out)
{
    const struct outcome *o = &s->shown;
    const struct lx_graph *g = outcome_graph(o);
    if (!g || s->selection.op < 0) return 0;
    const struct lx_op *op = &g->ops[s->selection.op];
    int readers = o->reader_at[op->output + 1] - o->reader_at[op->output], n = op->input_count + readers;
    if (wanted < 0 || wanted >= n) return n;
    bool is_input = wanted < op->input_count;
    out->is_input = is_input;
    out->tensor = is_input ? op->inputs[wanted] : op->output;
    out->op =
        is_input ? o->producer[out->tensor] : o->readers[o->reader_at[op->output] + wanted - op->input_count];
    out->on_chip = outcome_on_chip(o, s->selection.op, is_input ? wanted : op->input_count);
    return n;
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

static void add_splits(const struct lx_division *d, struct text *out)
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
    int32_t number;
    bool here; /* it is selected */
};

static void time_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct graph_row *row = row_of_table;
    const struct lx_op_traffic *all = row->outcome->plan->traffic;
    (void)column;
    v->paint = PAINT_DIM;
    v->words = "";
    if (!all) return;
    v->number = all[row->number].device_us;
    value_format(v, "%.2f us", v->number);
}

static void traffic_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct graph_row *row = row_of_table;
    int64_t bytes = outcome_traffic(row->outcome, row->number);
    (void)column;
    value_whole(v, bytes);
    v->paint = bytes ? PAINT_PLAIN : PAINT_GOOD;
    if (!bytes) v->words = "on chip";
}

/* clang-format off */
VALUE_OF(tick_value,   struct graph_row, value_whole(v, row->number); v->paint = PAINT_DIM;)
VALUE_OF(name_value,   struct graph_row, v->words = row->op->name; v->paint = row->here ? PAINT_HEADING : PAINT_PLAIN;)
VALUE_OF(kind_value,   struct graph_row, v->words = row->op->kind->name; v->paint = PAINT_DIM;)
VALUE_OF(shape_value,  struct graph_row, add_shape(&row->graph->tensors[row->op->output], &v->made); v->words = v->made.at;)
VALUE_OF(splits_value, struct graph_row, add_splits(outcome_division(row->outcome, row->number), &v->made); v->words = v->made.at;)

enum { TICK, NAME, KIND, SHAPE, SPLITS, TIME, TRAFFIC, GRAPH_COLUMNS };

/* Between tick and name stands a mark in the colour of the output. */
static const struct column graph_array[GRAPH_COLUMNS] = {
    [TICK]    = {.key = "tick",    .heading = "tick",      .kind = VALUE_COUNT,  .width = 6,  .value = tick_value},
    [NAME]    = {.key = "op",      .heading = "op",        .kind = VALUE_NAME,   .width = 18, .gap = 2, .value = name_value},
    [KIND]    = {.key = "kind",    .heading = "kind",      .kind = VALUE_WORDS,  .width = 9,  .from = 60, .value = kind_value},
    [SHAPE]   = {.key = "shape",   .heading = "shape",     .kind = VALUE_WORDS,  .width = 18, .from = 70, .value = shape_value},
    [SPLITS]  = {.key = "splits",  .heading = "splits",    .kind = VALUE_WORDS,  .width = 14, .from = 120, .value = splits_value},
    [TIME]    = {.key = "device_us", .heading = "device",      .kind = VALUE_MICROS, .width = 11, .from = 140, .value = time_value},
    [TRAFFIC] = {.key = "traffic", .heading = "HBM bytes", .kind = VALUE_BYTES,  .width = 13, .from = 60, .value = traffic_value},
};
/* clang-format on */

const struct columns graph_columns = COLUMNS("ops of the graph on the screen", graph_array);

enum { MARK_AT = 7 };

/* How wide a name is depends on the room. */
static struct fitted fit_graph(struct column columns[GRAPH_COLUMNS], int room)
{
    memcpy(columns, graph_array, sizeof graph_array);
    columns[NAME].width = room >= 100 ? 26 : room >= 60 ? 18 : room > 10 ? room - 9 : 1;
    return fit_columns((struct columns){graph_columns.name, columns, GRAPH_COLUMNS}, room);
}

static void draw_bar(const struct scene *on, struct box row, int at, int64_t bytes, int64_t most)
{
    int room = row.columns - at - 1, eighths = most > 0 ? (int)((double)bytes / (double)most * 8 * room) : 0;
    for (int k = 0; k < room && eighths > 0; k++, eighths -= 8)
        put(on->cells, row.row, row.column + at + k, on->glyphs->bar[eighths > 8 ? 8 : eighths], INK(HIGH));
}

static void draw_row(const struct scene *on, const struct fitted *f, struct box row, int32_t i, int64_t most)
{
    const struct outcome *o = &on->session->shown;
    const struct lx_graph *g = outcome_graph(o);
    struct graph_row data = {o, g, &g->ops[i], i, i == on->session->selection.op};
    put_values(on->cells, row, f, &data);
    put(on->cells, row.row, row.column + MARK_AT, data.here ? on->glyphs->mark : on->glyphs->bullet,
        (struct style){.ink =
                           tone_of_identity(buffer_identity(o->plan, outcome_buffer(o, data.op->output)))});
    if (f->place[TRAFFIC].width) draw_bar(on, row, f->end + 1, outcome_traffic(o, i), most);
    if (data.here) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    if (on->search[0] && matches(g, i, on->search))
        put_paper(on->cells, (struct box){row.row, row.column + f->place[NAME].at, 1, f->place[NAME].width},
                  INK_ON(MATCH, MATCH));
}

static void draw_edges(const struct scene *on, struct graph_view *v, struct box area)
{
    const struct lx_graph *g = outcome_graph(&on->session->shown);
    struct edge e;
    int n = edge_at(on->session, -1, &e), row = 0;
    if (on->session->selection.op < 0 || area.rows < 1) return;
    const struct lx_op *op = &g->ops[on->session->selection.op];
    put_format(on->cells, area.row, area.column, area.columns, INK(TITLE), "%s = %s %s", op->name,
               op->kind->name, op->einsum ? op->einsum : "");
    if (v->edge >= n) v->edge = 0;
    int top = v->edge >= area.rows - 1 ? v->edge - area.rows + 2 : 0;
    for (int i = top; i < n && row + 1 < area.rows; i++) {
        edge_at(on->session, i, &e);
        const struct lx_tensor *t = &g->tensors[e.tensor];
        struct text shape = {0};
        char words[300];
        add_shape(t, &shape);
        snprintf(words, sizeof words, "%s %.60s  %s  %s%.60s", e.is_input ? "from" : "to  ", t->name,
                 shape.at ? shape.at : "",
                 e.is_input ? (e.op < 0 ? lx_role_word(t->role) : "made by ") : "read by ",
                 e.op < 0 ? "" : g->ops[e.op].name);
        row++;
        int at = area.column + 2;
        put(on->cells, area.row + row, area.column, i == v->edge ? on->glyphs->mark : ' ', INK(KEY));
        struct text place = {0};
        add_place_words(on->session->shown.plan, on->session->selection.op, e.is_input ? i : op->input_count,
                        &place);
        int used = put_text(on->cells, area.row + row, at, area.columns / 2,
                            e.on_chip ? INK(GOOD) : INK(WARN), place.at ? place.at : "");
        at += used < 17 ? 18 : used + 2;
        text_free(&place);
        put_text(on->cells, area.row + row, at, area.column + area.columns - at, INK(PLAIN), words);
        text_free(&shape);
    }
}

static void draw(const struct scene *on, void *state, struct box area)
{
    struct graph_view *v = state;
    const struct outcome *o = &on->session->shown;
    const struct lx_graph *g = outcome_graph(o);
    struct box list = area;
    if (!g) {
        put_wrapped_format(
            on->cells, area, INK(PLAIN),
            "This pattern is a list of buffers: it has no ops. %s shows where its buffers are.", KEY_OF(MAP));
        return;
    }
    arrange(v, on->session, on->filter);
    struct box edges = box_cut_bottom(&list, area.rows >= 30 ? 10 : area.rows >= 14 ? 6 : 3);
    struct box line = box_cut_bottom(&list, area.rows >= 14);
    if (line.rows) put_fill(on->cells, line, on->glyphs->horizontal, INK(FRAME));
    list_show(&v->list, v->count, list);
    int64_t most = 0;
    for (int32_t i = 0; i < g->op_count; i++)
        if (outcome_traffic(o, i) > most) most = outcome_traffic(o, i);
    if (v->count == 0)
        put_wrapped_format(on->cells, list, INK(PLAIN), "No op matches the filter. %s takes it away.",
                           KEY_OF(ESCAPE));
    struct column columns[GRAPH_COLUMNS];
    struct fitted f = fit_graph(columns, list.columns);
    for (int i = 0; i < list.rows && v->list.top + i < v->count; i++)
        draw_row(on, &f, (struct box){list.row + i, list.column, 1, list.columns}, v->shown[v->list.top + i],
                 most);
    draw_edges(on, v, edges);
}

static bool request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct graph_view *v = state;
    struct edge e;
    int n = edge_at(&x->session, v->edge, &e);
    switch (r) {
    case REQ_FOLLOW:
    case REQ_RIGHT:
    case REQ_LEFT:
        if (n > 0) v->edge = (v->edge + (r == REQ_LEFT ? n - 1 : 1)) % n;
        if (edge_at(&x->session, v->edge, &e) > 0)
            session_select_buffer(&x->session, outcome_buffer(&x->session.shown, e.tensor));
        return true;
    case REQ_OPEN:
        if (argument) return false;
        if (v->edge < n && e.op >= 0) {
            session_select_op(&x->session, e.op);
            v->edge = 0;
        } else if (!why_open(x))
            explorer_say(x, TONE_DIM, "a graph input: no op makes it");
        return true;
    default:
        return false;
    }
}

static int count(struct explorer *x, void *state)
{
    struct graph_view *v = state;
    arrange(v, &x->session, x->filter[VIEW_GRAPH]);
    return v->count;
}

static const char *item(struct explorer *x, void *state, int i)
{
    const struct graph_view *v = state;
    return outcome_graph(&x->session.shown)->ops[v->shown[i]].name;
}

static void select_item(struct explorer *x, void *state, int i)
{
    struct graph_view *v = state;
    session_select_op(&x->session, v->shown[i]);
    v->edge = 0;
}

const struct view view_graph = {
    .name = "Graph",
    .purpose = "the ops in order, who feeds whom, traffic",
    .needs_plan = true,
    .state_size = sizeof(struct graph_view),
    .end = end,
    .hints = {{REQ_FOLLOW, "next edge"},
              {REQ_OPEN, "follow it"},
              {REQ_SEARCH, "search"},
              {REQ_FILTER, "filter"},
              {REQ_CORES, "its cores"},
              {REQ_LOOPS, "its loops"},
              {REQ_WHAT_IF, "what if"},
              {REQ_BACK, "back"}},
    .draw = draw,
    .request = request,
    .count = count,
    .item = item,
    .list = first_list,
    .select = select_item,
};
