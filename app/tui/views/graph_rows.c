/* Ops as rows of a table on the screen. */
#include "tui/views/graph_rows.h"
#include "export/nest_words.h"
#include "tui/core/explorer.h"
#include "tui/draw/chart.h"

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

static void graph_add_splits(const struct lx_division *d, struct text *out)
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

struct graph_row {
    const struct outcome *outcome;
    const struct lx_graph *graph;
    const struct lx_op *op;
    const struct lx_op_wait *wait;
    int32_t number, last;          /* last: of a folded row; else the op itself */
    const struct lx_repeat *layer; /* folded here; NULL: none */
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

static void graph_traffic_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct graph_row *row = row_of_table;
    int64_t bytes = 0;
    (void)column;
    const struct lx_op_traffic *all = row->outcome->plan->traffic;
    for (int32_t o = row->number; all && o <= row->last; o++) bytes += all[o].hbm_read + all[o].hbm_written;
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

static void graph_cores_value(const void *row_of_table, const struct column *column, struct value *v)
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
VALUE_OF(splits_value, struct graph_row, if (!row->layer) graph_add_splits(outcome_division(row->outcome, row->number), &v->made); v->words = v->made.at ? v->made.at : "";)
VALUE_OF(time_value,   struct graph_row, v->number = row->wait->device_us; value_format(v, "%s", in_micros(v->number).at);)
VALUE_OF(bound_value,  struct graph_row, v->words = lx_wait_us(row->wait) > 0 ? lx_wait_word(lx_wait_longest(row->wait)) : "-";)

static const struct column graph_array[GRAPH_COLUMNS] = {
    [GRAPH_NAME]   = {.key = "op",        .heading = "op",         .kind = VALUE_NAME,   .width = 14, .value = name_value},
    [GRAPH_KIND]   = {.key = "kind",      .heading = "kind",       .kind = VALUE_WORDS,  .width = 8,  .from = 52,  .value = kind_value},
    [GRAPH_SHAPE]  = {.key = "shape",     .heading = "shape",      .kind = VALUE_WORDS,  .width = 18, .from = 120, .value = shape_value},
    [GRAPH_SPLITS] = {.key = "splits",    .heading = "splits",     .kind = VALUE_WORDS,  .width = 12, .from = 100, .value = splits_value},
    [GRAPH_CORES]  = {.key = "cores",     .heading = "cores",      .kind = VALUE_COUNT,  .width = 5,  .from = 58,  .value = graph_cores_value},
    [GRAPH_HBM]    = {.key = "traffic",   .heading = "HBM bytes",  .kind = VALUE_BYTES,  .width = 11, .from = 30,  .value = graph_traffic_value},
    [GRAPH_RING]   = {.key = "ring",      .heading = "ring bytes", .kind = VALUE_BYTES,  .width = 11, .from = 84,  .value = ring_value},
    [GRAPH_TIME]   = {.key = "device_us", .heading = "time",       .kind = VALUE_MICROS, .width = 9,  .from = 42,  .value = time_value},
    [GRAPH_BOUND]  = {.key = "bound_by",  .heading = "bound",      .kind = VALUE_WORDS,  .width = 7,  .from = 48,  .value = bound_value},
};
/* clang-format on */

const struct columns graph_columns = COLUMNS("ops of the graph on the screen", graph_array);

enum happening { PASSES, CROSSED, BEGINS, TOUCHED, ENDS, HAPPENINGS };

static const uint32_t
    thick[HAPPENINGS] =
        {[PASSES] = 0x2503, [CROSSED] = 0x2542, [BEGINS] = 0x250e, [TOUCHED] = 0x2520, [ENDS] = 0x2516},
    dotted[HAPPENINGS] =
        {[PASSES] = 0x250a, [CROSSED] = 0x253c, [BEGINS] = 0x250c, [TOUCHED] = 0x251c, [ENDS] = 0x2514},
    plain_thick[HAPPENINGS] = {'|', '|', ',', '+', '`'}, plain_dotted[HAPPENINGS] = {':', ':', ',', '+', '`'};

static bool graph_uses(const struct lx_op *op, int32_t tensor)
{
    for (int k = 0; k < op_operand_count(op); k++)
        if (op_operand(op, k) == tensor) return true;
    return false;
}

/* The mark of the copy between cores that fills the tensor at a tick; 0: none. */
static uint32_t graph_copy_mark(const struct scene *on, int32_t tensor, int32_t tick)
{
    const struct lx_plan *p = on->session->shown.plan;
    int32_t i;
    BISECT(i, 0, p->transfer_count, p->transfers[i].tick < tick);
    for (; i < p->transfer_count && p->transfers[i].tick == tick; i++) {
        const struct lx_transfer *t = &p->transfers[i];
        if (t->stay < 0 || t->stay >= p->problem.count || p->stays[t->stay].tensor != tensor) continue;
        if (t->kind == LX_RING) return on->glyphs->ring;
        if (t->kind == LX_MOVE) return on->glyphs->move;
    }
    return 0;
}

/* The lanes beside op `op`, from the left of the box on: thick where the tensor is on chip, dotted where
 * it is not, a mark where the ring copies it, joined to the op by a line. */
static void put_rails(const struct scene *on, struct box at, struct rail_room room, int32_t op)
{
    const struct outcome *o = &on->session->shown;
    const struct lx_op *is = &outcome_graph(o)->ops[op];
    int end = at.column + room.lanes * room.step, joined = -1;
    for (int k = 0; k < room.lanes && joined < 0; k++) {
        const struct rail *r = rails_at(&o->rails, k, op);
        if (r && graph_uses(is, r->thing)) joined = at.column + k * room.step + 1;
    }
    for (int c = joined; c >= 0 && c < end + room.folded; c++)
        put(on->cells, at.row, c, on->glyphs->horizontal, INK(FRAME));
    for (int k = 0; k < room.lanes; k++) {
        const struct rail *r = rails_at(&o->rails, k, op);
        int column = at.column + k * room.step;
        if (!r) continue;
        bool touched = graph_uses(is, r->thing), on_chip = false, crossed = joined >= 0 && column >= joined;
        for (int32_t i = o->stay_at[r->thing]; i < o->stay_at[r->thing + 1]; i++) {
            const struct lx_buffer *b = &o->plan->problem.buffers[o->stays_by_tensor[i]];
            on_chip |= o->plan->answer.address[o->stays_by_tensor[i]] >= 0 && op >= b->start && op < b->end;
        }
        enum happening h = !touched         ? crossed ? CROSSED : PASSES
                           : op == r->first ? BEGINS
                           : op == r->last  ? ENDS
                                            : TOUCHED;
        const uint32_t *set = on->glyphs->ascii ? (on_chip ? plain_thick : plain_dotted)
                              : on_chip         ? thick
                                                : dotted;
        uint32_t mark = touched ? graph_copy_mark(on, r->thing, op) : 0;
        put(on->cells, at.row, column, mark ? mark : set[h],
            (struct style){.ink = tone_of_identity(r->thing)});
    }
    int32_t folded = room.folded ? rails_folded(&o->rails, room.lanes, op) : 0;
    if (folded > 0) put_format(on->cells, at.row, end, room.folded, INK(DIM), "+%d", (int)folded);
}

/* The bracket beside an op; beside the first ops a level each, the outermost first: "x16 h". */
static void graph_put_nest(const struct scene *on, struct box at, int32_t op, bool folded)
{
    const struct lx_plan *p = session_plan(on->session);
    int32_t nest = at.columns > 0 ? plan_nest_at(p, op) : -1;
    if (nest < 0) return;
    const struct lx_nest *n = &p->nests[nest];
    const struct glyphs *g = on->glyphs;
    struct style style = nest == session_nest(on->session) ? INK(KEY) : INK(FRAME);
    int level = op - n->first;
    if (folded || n->first == n->last) {
        /* Of a folded nest: "[h/8,s/8", or "[x64". */
        SCOPED(text_free) struct text words = {0};
        add_nest_brief(session_plan(on->session), n, &words);
        put(on->cells, at.row, at.column, '[', style);
        if ((int)words.length > at.columns - 2)
            put_format(on->cells, at.row, at.column + 1, at.columns - 2, style, "x%lld",
                       (long long)nest_iterations(n));
        else
            put_text(on->cells, at.row, at.column + 1, at.columns - 2, style, words.at ? words.at : "");
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

/* The layers of a row that begins with an op. */
static const struct lx_repeat *graph_layer_at(const struct outcome *o, int32_t op, struct graph_fold fold)
{
    const struct lx_repeat *r = fold.layers ? outcome_repeat(o, op) : NULL;
    return r && r->first == op ? r : NULL;
}

int32_t graph_row_last(const struct outcome *o, int32_t op, struct graph_fold fold)
{
    const struct lx_plan *p = o->plan;
    const struct lx_repeat *layer = graph_layer_at(o, op, fold);
    int32_t nest = fold.nests ? plan_nest_at(p, op) : -1;
    if (layer) return op + layer->ops * layer->times - 1;
    return nest >= 0 && p->nests[nest].first == op ? p->nests[nest].last : op;
}

void graph_rows_fit(const struct scene *on, int room, struct graph_fold fold, struct graph_rows *out)
{
    const struct outcome *o = &on->session->shown;
    int lanes = room >= 180   ? 32
                : room >= 110 ? 16
                : room >= 70  ? 10
                : room >= 50  ? 4
                              : 0,
        all = o->rails.lanes;
    struct rail_room r = {.lanes = all < lanes ? all : lanes, .step = 2 * all <= lanes ? 2 : 1};
    for (int32_t row = 0; row < o->rails.rows && r.lanes > 0 && !r.folded; row++)
        if (o->rails.live[row] > r.lanes) r.folded = 4;
    r.columns = r.lanes * r.step + r.folded;
    *out = (struct graph_rows){.rails = r,
                               .fold = fold,
                               .nests = o->plan->nest_count == 0 || room < 40 ? 0
                                        : room < 76                           ? 2
                                                                              : 9};
    out->ticks = 1 + (int)strlen(grouped(outcome_graph(o)->op_count).at);
    if (out->ticks < 5) out->ticks = 5;
    out->columns_at = out->ticks + out->nests + out->rails.columns + 2;
    int rest = room - out->columns_at;
    memcpy(out->columns, graph_array, sizeof graph_array);
    int longest = 24; /* of the names, where there is much room */
    for (int32_t i = 0; i < outcome_graph(o)->op_count && longest < 48; i++) {
        int n = (int)strlen(outcome_graph(o)->ops[i].name);
        if (n > longest) longest = n < 48 ? n : 48;
    }
    out->columns[GRAPH_NAME].width = rest >= 140   ? longest
                                     : rest >= 100 ? 24
                                     : rest >= 70  ? 16
                                     : rest >= 42  ? 13
                                     : rest > 12   ? rest - 12
                                                   : 1;
    out->fitted = fit_columns((struct columns){graph_columns.name, out->columns, GRAPH_COLUMNS}, rest);
    out->bar_at = out->columns_at + out->fitted.end + 1;
    for (int32_t i = 0; i < outcome_graph(o)->op_count; i++) {
        struct lx_op_wait sum = lx_waits_sum(&o->waits[i], graph_row_last(o, i, fold) - i + 1);
        out->longest_us = fmax(out->longest_us, lx_wait_us(&sum));
    }
}

void put_graph_head(const struct scene *on, const struct graph_rows *r, struct box row)
{
    put_right(on->cells, row.row, row.column, r->ticks - 1, INK(DIM), "tick");
    put_text(on->cells, row.row, row.column + r->ticks, r->nests, INK(DIM), r->nests > 4 ? "nest" : "");
    put_text(on->cells, row.row, row.column + r->ticks + r->nests, r->rails.columns, INK(DIM),
             r->rails.columns >= 7 ? "tensors" : "");
    struct box columns = {row.row, row.column + r->columns_at, 1, row.columns - r->columns_at};
    put_headings(on->cells, columns, &r->fitted);
}

void put_graph_row(const struct scene *on, const struct graph_rows *r, struct box row, int32_t i)
{
    const struct outcome *o = &on->session->shown;
    const struct lx_graph *g = outcome_graph(o);
    int32_t last = graph_row_last(o, i, r->fold), selected = on->session->selection.op;
    struct lx_op_wait wait = lx_waits_sum(&o->waits[i], last - i + 1);
    struct graph_row data = {
        o, g, &g->ops[i], &wait, i, last, graph_layer_at(o, i, r->fold), selected >= i && selected <= last};
    uint8_t tone = tone_of_identity(buffer_identity(o->plan, outcome_buffer(o, data.op->output)));
    struct box columns = {row.row, row.column + r->columns_at, 1, row.columns - r->columns_at};
    put_right(on->cells, row.row, row.column, r->ticks - 1, INK(DIM), grouped(i).at);
    if (!data.layer)
        graph_put_nest(on, (struct box){row.row, row.column + r->ticks, 1, r->nests}, i, r->fold.nests);
    put_rails(on, (struct box){row.row, row.column + r->ticks + r->nests, 1, r->rails.columns}, r->rails, i);
    put(on->cells, row.row, columns.column - 2, data.here ? on->glyphs->mark : on->glyphs->bullet,
        (struct style){.ink = tone});
    put_values(on->cells, columns, &r->fitted, &data);
    put_stack(on, (struct box){row.row, row.column + r->bar_at, 1, row.columns - r->bar_at - 1}, wait.us,
              wait_looks, LX_WAIT_COUNT, r->longest_us);
    if (data.here) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    if (on->search[0] && op_matches(g, i, on->search))
        put_paper(on->cells, (struct box){row.row, columns.column, 1, r->fitted.place[GRAPH_NAME].width},
                  INK_ON(MATCH, MATCH));
}
