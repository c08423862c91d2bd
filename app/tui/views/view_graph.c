/* The graph: ops in order; of the selected one its producers and consumers, and whether tensors go through
 * HBM or stay on chip. */
#include "tui/core/explorer.h"
#include "planning/buffer_table.h"
#include "export/nest_words.h"
#include "planning/op_words.h"
#include "tui/views/graph_rows.h"
#include "tui/draw/chart.h"

enum { LARGE = 256 }; /* repeated layers of larger graphs are folded at first */

struct graph_view {
    struct list list;
    int edge; /* the selected one of producers and consumers */
    struct graph_fold fold;
    int seen; /* the last pattern, from 1 on */
};

/* Layers of a large graph are folded when it is first seen. */
static void graph_arrange(struct graph_view *v, const struct session *s, const char *filter)
{
    const struct lx_graph *g = outcome_graph(&s->shown);
    int32_t n = g ? g->op_count : 0;
    if (g && s->shown_pattern + 1 != v->seen) {
        v->seen = s->shown_pattern + 1;
        v->fold.layers = n > LARGE;
    }
    v->list.shown = mem_resize(v->list.shown, ((size_t)n + 1) * sizeof *v->list.shown);
    v->list.count = 0;
    for (int32_t i = 0, next; i < n; i = next) {
        next = graph_row_last(&s->shown, i, v->fold) + 1;
        bool matches = false;
        for (int32_t o = i; o < next; o++) matches |= op_matches(g, o, filter);
        if (matches) v->list.shown[v->list.count++] = i;
    }
    for (int i = 0; i < v->list.count; i++)
        if (v->list.shown[i] <= s->selection.op) v->list.cursor = i;
}

/* One edge of the selected op: an input with the op that made it, or a reader of a result. */
struct edge {
    int32_t tensor, op; /* op -1: a graph input */
    int operand;
    bool is_input, on_chip;
};

static int graph_readers(const struct outcome *o, int32_t tensor)
{
    return o->reader_at[tensor + 1] - o->reader_at[tensor];
}

static int graph_edges(const struct outcome *o, const struct lx_op *op)
{
    int n = op->input_count;
    for (int k = 0; k < op->output_count; k++) n += graph_readers(o, op->outputs[k]);
    return n;
}

static int graph_edge_at(const struct session *s, int wanted, struct edge *out)
{
    const struct outcome *o = &s->shown;
    const struct lx_graph *g = outcome_graph(o);
    if (!g || s->selection.op < 0) return 0;
    const struct lx_op *op = &g->ops[s->selection.op];
    int n = graph_edges(o, op), left = wanted - op->input_count;
    if (wanted < 0 || wanted >= n) return n;
    out->is_input = wanted < op->input_count;
    out->operand = out->is_input ? wanted : op->input_count;
    while (!out->is_input && left >= graph_readers(o, op_operand(op, out->operand)))
        left -= graph_readers(o, op_operand(op, out->operand++));
    out->tensor = op_operand(op, out->operand);
    out->op = out->is_input ? o->producer[out->tensor] : o->readers[o->reader_at[out->tensor] + left];
    out->on_chip = lx_plan_place(o->plan, s->selection.op, out->operand) >= 0;
    return n;
}

static void graph_draw_edges(const struct scene *on, struct graph_view *v, struct box area)
{
    const struct lx_graph *g = outcome_graph(&on->session->shown);
    struct edge e;
    int n = graph_edge_at(on->session, -1, &e), row = 0;
    if (on->session->selection.op < 0 || area.rows < 1) return;
    const struct lx_op *op = &g->ops[on->session->selection.op];
    int title = put_format(on->cells, area.row, area.column, area.columns, INK(TITLE), "%s = %s %s", op->name,
                           op->kind->name, op->einsum ? op->einsum : "");
    int32_t selected = on->session->selection.op;
    const struct lx_repeat *layer = outcome_repeat(&on->session->shown, selected);
    if (layer && area.columns - title >= 20)
        title += put_format(on->cells, area.row, area.column + title, area.columns - title, INK(DIM),
                            "  layer %d of %d", (int)((selected - layer->first) / layer->ops) + 1,
                            (int)layer->times);
    put_wait_legend(on, (struct box){area.row, area.column + title + 3, 1, area.columns - title - 3});
    const struct lx_plan *p = session_plan(on->session);
    int32_t nest = plan_nest_at(p, selected);
    if (nest >= 0 && area.rows > 3) { /* the loops, and the iteration */
        struct text line = {0};
        add_nest_title(p, nest, &line);
        text_add(&line, "; ");
        add_iteration_words(p, &p->nests[nest], session_iteration(on->session, nest), &line);
        put_line(on->cells, (struct box){area.row + 1, area.column, 1, area.columns}, INK(KEY), &line);
        box_cut_top(&area, 1);
    }
    if (v->edge >= n) v->edge = 0;
    int top = v->edge >= area.rows - 1 ? v->edge - area.rows + 2 : 0;
    for (int i = top; i < n && row + 1 < area.rows; i++) {
        graph_edge_at(on->session, i, &e);
        const struct lx_tensor *t = &g->tensors[e.tensor];
        SCOPED(text_free) struct text words = {0};
        text_add(&words, e.is_input ? "from " : "to   ");
        add_printable(&words, t->name, 40);
        text_add(&words, "  ");
        add_shape(t, &words);
        text_format(&words, "  %s",
                    e.is_input ? (e.op < 0 ? lx_role_word(t->role) : "made by ") : "read by ");
        if (e.op >= 0) add_printable(&words, g->ops[e.op].name, 40);
        if (nest >= 0 && nest_tensor_of(p->layouts, &p->nests[nest], e.tensor).indexed) {
            text_add(&words, "  [");
            add_slice_words(p, &p->nests[nest], e.tensor, p->nests[nest].level_count,
                            session_iteration(on->session, nest), &words);
            text_add(&words, "]");
        }
        row++;
        int at = area.column + 2;
        put(on->cells, area.row + row, area.column, i == v->edge ? on->glyphs->mark : ' ', INK(KEY));
        SCOPED(text_free) struct text place = {0};
        add_place_words(on->session->shown.plan, on->session->selection.op, e.operand, &place);
        int used = put_text(on->cells, area.row + row, at, area.columns / 2,
                            e.on_chip ? INK(GOOD) : INK(WARN), place.at ? place.at : "");
        at += used < 17 ? 18 : used + 2;
        put_text(on->cells, area.row + row, at, area.column + area.columns - at, INK(PLAIN),
                 words.at ? words.at : "");
    }
}

static void graph_draw(const struct scene *on, void *state, struct box area)
{
    struct graph_view *v = state;
    const struct outcome *o = &on->session->shown;
    struct box list = area;
    struct graph_rows rows;
    if (!outcome_graph(o)) {
        put_wrapped_format(
            on->cells, area, INK(PLAIN),
            "This pattern is a list of buffers: it has no ops. %s shows where its buffers are.", KEY_OF(MAP));
        return;
    }
    graph_arrange(v, on->session, on->filter);
    /* Rows for the edges of the busiest op, as long as the list keeps two thirds. */
    const struct lx_graph *g = outcome_graph(o);
    int most = 0, room = area.rows >= 14 ? area.rows / 3 : 3;
    for (int32_t i = 0; i < g->op_count; i++)
        if (graph_edges(o, &g->ops[i]) > most) most = graph_edges(o, &g->ops[i]);
    most += 1 + (o->plan->nest_count > 0);
    struct box edges = box_cut_bottom(&list, most < room ? most : room),
               waits = box_cut_bottom(&list, area.rows >= 10);
    struct text line = {0};
    add_wait_sums(&o->waits_sum, &line);
    put_fill(on->cells, waits, on->glyphs->horizontal, INK(FRAME));
    if (line.at && waits.rows)
        put_format(on->cells, waits.row, waits.column + 1, waits.columns - 2, INK(DIM), " %s ", line.at);
    text_free(&line);
    struct box head = box_cut_top(&list, area.rows >= 6);
    graph_rows_fit(on, list.columns, v->fold, &rows);
    if (head.rows) put_graph_head(on, &rows, head);
    list_show(&v->list, v->list.count, list);
    if (v->list.count == 0)
        put_wrapped_format(on->cells, list, INK(PLAIN), "No op matches the filter. %s removes it.",
                           KEY_OF(ESCAPE));
    for (int i = 0; i < list.rows && v->list.top + i < v->list.count; i++)
        put_graph_row(on, &rows, (struct box){list.row + i, list.column, 1, list.columns},
                      v->list.shown[v->list.top + i]);
    graph_draw_edges(on, v, edges);
}

static bool graph_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct graph_view *v = state;
    struct edge e;
    int n = graph_edge_at(&x->session, v->edge, &e);
    switch (r) {
    case REQ_FOLLOW:
    case REQ_RIGHT:
    case REQ_LEFT:
        if (n > 0) v->edge = (v->edge + (r == REQ_LEFT ? n - 1 : 1)) % n;
        if (graph_edge_at(&x->session, v->edge, &e) > 0)
            session_select_buffer(&x->session, outcome_buffer(&x->session.shown, e.tensor));
        return true;
    case REQ_FOLD:
        if (session_plan(&x->session)->nest_count == 0) {
            explorer_say(x, TONE_DIM, "this plan has no nests");
            return true;
        }
        v->fold.nests = !v->fold.nests;
        explorer_say(x, TONE_PLAIN,
                     v->fold.nests ? "one row for each nest: sums of its ops" : "all ops of each nest");
        return true;
    case REQ_LAYERS:
        if (x->session.shown.repeat_count == 0) {
            explorer_say(x, TONE_DIM, "this graph repeats no layers");
            return true;
        }
        v->fold.layers = !v->fold.layers;
        explorer_say(x, TONE_PLAIN,
                     v->fold.layers ? "one row for each run of repeated layers: sums of their ops"
                                    : "all ops of repeated layers");
        return true;
    case REQ_OPEN:
        if (argument) return false;
        if (v->edge < n && e.op >= 0) {
            session_select_op(&x->session, e.op);
            v->edge = 0;
        } else if (!why_open(x))
            explorer_say(x, TONE_DIM, "a graph input: no op makes it");
        return true;
    default: return false;
    }
}

static int graph_count(struct explorer *x, void *state)
{
    struct graph_view *v = state;
    graph_arrange(v, &x->session, x->filter[VIEW_GRAPH]);
    return v->list.count;
}

static bool graph_hides(struct explorer *x, void *state)
{
    int32_t op = x->session.selection.op;
    (void)state;
    return op < 0 || !op_matches(outcome_graph(&x->session.shown), op, x->filter[VIEW_GRAPH]);
}

static void graph_select_item(struct explorer *x, void *state, int i)
{
    struct graph_view *v = state;
    (void)x, (void)i;
    v->edge = 0;
}

const struct view view_graph = {
    .name = "Graph",
    .purpose = "the ops in order, lanes of tensors, what bounds each",
    .needs_plan = true,
    .state_size = sizeof(struct graph_view),
    .hints = {{REQ_FOLLOW, "next edge"},
              {REQ_OPEN, "follow it"},
              {REQ_NEXT_ITERATION, "iteration"},
              {REQ_SEARCH, "search"},
              {REQ_FILTER, "filter"},
              {REQ_CORES, "its cores"},
              {REQ_LOOPS, "its loops"},
              {REQ_WHAT_IF, "what if"},
              {REQ_BACK, "back"}},
    .draw = graph_draw,
    .request = graph_request,
    .count = graph_count,
    .items = ITEMS_OPS,
    .is_list = true,
    .select = graph_select_item,
    .hides = graph_hides,
};
