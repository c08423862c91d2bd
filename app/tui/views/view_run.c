/* Run: the plan executed on the simulated device. Traffic and time of each op as bars, whether its result
 * is ok and its counts are as planned; faults first, each with its place in the map. */
#include "tui/core/explorer.h"
#include "planning/buffer_table.h"
#include "export/nest_words.h"
#include "tui/draw/chart.h"

enum { HEAD = 5, NEVER = 1 << 20 };

struct run_view {
    struct list list;
    uint64_t warned; /* the plan whose long run was announced */
};

/* Rows: the faults that were kept, then the ops. */
static int run_view_faults(const struct lx_run_result *r)
{
    return r->fault_count < LX_MAX_FAULTS ? (int)r->fault_count : LX_MAX_FAULTS;
}

static int run_view_rows(const struct lx_run_result *r)
{
    return run_view_faults(r) + r->op_count;
}

/* The lines above the ops; each may take a second row while there are spare rows. */
struct head {
    const struct scene *on;
    struct box room;
    int spare;
};

static void run_view_put_line(struct head *h, struct style style, struct text *line)
{
    int rows = 1 + (h->spare > 0);
    if (h->room.rows > 0 && line->at) {
        struct box at = {h->room.row, h->room.column, rows < h->room.rows ? rows : h->room.rows,
                         h->room.columns};
        int used = h->spare > 0 ? put_wrapped(h->on->cells, at, style, line->at) : 1;
        if (h->spare == 0) put_text(h->on->cells, at.row, at.column, at.columns, style, line->at);
        h->spare -= used - 1;
        box_cut_top(&h->room, used);
    }
    text_free(line);
}

/* Returns the rows that it took. */
static int run_view_draw_verdict(const struct scene *on, struct box area, int spare)
{
    const struct lx_run_result *r = on->session->run.result;
    struct head h = {on, area, spare};
    struct text line = {0};
    if (r->ok)
        text_add(&line, "ok: no fault, every op within tolerance, every byte counted as planned");
    else {
        text_format(&line, "NOT ok: %s, %s wrong, %s with other counts than planned",
                    counted(r->fault_count, "fault").at, counted(r->wrong_ops, "result").at,
                    counted(r->unequal_ops, "op").at);
        if (r->unequal) text_format(&line, "; %s", r->unequal);
    }
    run_view_put_line(&h, r->ok ? INK(GOOD) : INK(BAD), &line);
    text_format(&line, "HBM read %s B, written %s B; ", grouped(r->total.hbm_read).at,
                grouped(r->total.hbm_written).at);
    text_format(&line, "LX read %s B, written %s B; ring %s B", grouped(r->total.lx_read).at,
                grouped(r->total.lx_written).at, grouped(r->total.ring + r->total.reduce_ring).at);
    run_view_put_line(&h, INK(PLAIN), &line);
    add_nests_sum(on->session->run.plan, &line);
    text_format(&line, "%spredicted: %s of the device, %s end to end; outputs %016llx", line.at ? "; " : "",
                in_micros(r->device_us).at, in_micros(r->end_to_end_us).at,
                (unsigned long long)r->output_hash);
    run_view_put_line(&h, INK(DIM), &line);
    if (r->worst_op >= 0)
        text_format(&line, "worst error %s of tolerance", in_percent(share_shown(r->share)).at);
    if (r->relative_error >= 0)
        text_format(&line, "%soutputs from end to end within %.2g of fp64", line.at ? "; " : "",
                    r->relative_error);
    if (!line.at) text_add(&line, " ");
    run_view_put_line(&h, INK(DIM), &line);
    if (on->session->run.of == on->session->got) add_wait_sums(&on->session->shown.waits_sum, &line);
    run_view_put_line(&h, INK(PLAIN), &line);
    return area.rows - h.room.rows;
}

/* One op of the run. */
struct run_row {
    int32_t op;
    const char *name;
    const struct lx_op_run *run;
    int64_t times;                 /* iterations of its nest; 1: it is in none */
    const struct lx_op_wait *wait; /* NULL: the run is of another plan */
};

static void verdict_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_op_run *run = ((const struct run_row *)row_of_table)->run;
    bool wrong = run->wrong > 0 || run->altered > 0, bad = wrong || !run->counts_agree;
    (void)column;
    v->paint = bad ? PAINT_BAD : run->verified ? PAINT_GOOD : PAINT_DIM;
    v->words = wrong ? "WRONG" : !run->counts_agree ? "COUNTS" : run->verified ? "ok" : "-";
}

/* The largest error as a share of its tolerance. */
static void run_view_share_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct lx_op_run *run = ((const struct run_row *)row_of_table)->run;
    (void)column;
    v->number = run->share;
    v->paint = PAINT_DIM;
    if (!run->verified)
        v->words = "-";
    else if (run->share > 0)
        value_format(v, "%.3f", share_shown(run->share));
    else
        v->words = "exact";
}

static void run_view_times_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct run_row *row = row_of_table;
    (void)column;
    value_whole(v, row->times);
    v->paint = PAINT_DIM;
    if (row->times > 1)
        value_format(v, "x%s", grouped(row->times).at);
    else
        v->words = "";
}

/* HBM bytes of an iteration; the mean if they differ. */
static void each_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct run_row *row = row_of_table;
    int64_t all = row->run->counted.hbm_read + row->run->counted.hbm_written;
    (void)column;
    value_whole(v, all / row->times);
    v->paint = PAINT_DIM;
    if (row->times == 1)
        v->words = "";
    else
        value_format(v, "%s%s", all % row->times ? "~" : "", grouped(v->whole).at);
}

/* clang-format off */
VALUE_OF(tick_value, struct run_row, value_whole(v, row->op); v->paint = PAINT_DIM;)
VALUE_OF(name_value, struct run_row, v->words = row->name;)
VALUE_OF(hbm_value,  struct run_row, value_whole(v, row->run->counted.hbm_read + row->run->counted.hbm_written);)
VALUE_OF(lx_value,   struct run_row, value_whole(v, row->run->counted.lx_read + row->run->counted.lx_written); v->paint = PAINT_DIM;)
VALUE_OF(ring_value, struct run_row, value_whole(v, row->run->counted.ring + row->run->counted.reduce_ring); v->paint = PAINT_DIM;)
VALUE_OF(us_value,   struct run_row, v->number = row->run->device_us; value_format(v, "%s", in_micros(v->number).at);)

VALUE_OF(bound_value, struct run_row, v->words = row->wait ? lx_wait_word(lx_wait_longest(row->wait)) : "-";)

enum { TICK, NAME, RESULT, SHARE, TIMES, HBM, EACH, LX, RING, TIME, BOUND, RUN_COLUMNS };

static const struct column run_array[RUN_COLUMNS] = {
    [TICK]   = {.key = "tick",   .heading = "tick",       .kind = VALUE_COUNT,  .width = 6,  .value = tick_value},
    [NAME]   = {.key = "op",     .heading = "op",         .kind = VALUE_NAME,   .width = 12, .value = name_value},
    [RESULT] = {.key = "result", .heading = "result",     .kind = VALUE_WORDS,  .width = 7,  .value = verdict_value},
    [SHARE]  = {.key = "share",  .heading = "of tol.",   .kind = VALUE_RATIO,  .width = 9,  .from = 70, .value = run_view_share_value},
    [TIMES]  = {.key = "times",  .heading = "times",      .kind = VALUE_COUNT,  .width = 7,  .from = 60, .value = run_view_times_value},
    [EACH]   = {.key = "hbm_each", .heading = "each",     .kind = VALUE_BYTES,  .width = 11, .from = 70, .value = each_value},
    [HBM]    = {.key = "hbm",    .heading = "HBM bytes",  .kind = VALUE_BYTES,  .width = 13, .from = 42, .value = hbm_value},
    [LX]     = {.key = "lx",     .heading = "LX bytes",   .kind = VALUE_BYTES,  .width = 14, .from = 90, .value = lx_value},
    [RING]   = {.key = "ring",   .heading = "ring bytes", .kind = VALUE_BYTES,  .width = 11, .from = 90, .value = ring_value},
    [TIME]   = {.key = "device_us", .heading = "device",       .kind = VALUE_MICROS, .width = 10, .from = 53, .value = us_value},
    [BOUND]  = {.key = "bound_by", .heading = "bound",       .kind = VALUE_WORDS,  .width = 7,  .from = 80, .value = bound_value},
};
/* clang-format on */

const struct columns run_columns = COLUMNS("ops of a run on the screen", run_array);

static void run_view_draw_op(const struct scene *on, struct box row, const struct fitted *f, int32_t op,
                             double longest)
{
    const struct lx_op_run *run = &on->session->run.result->ops[op];
    const struct lx_graph *g = on->session->run.plan->layouts->graph;
    const struct lx_op_wait *waits =
        on->session->run.of != on->session->got ? NULL : on->session->shown.waits;
    struct run_row data = {op, op < g->op_count ? g->ops[op].name : "", run,
                           plan_op_times(on->session->run.plan, op), waits ? &waits[op] : NULL};
    struct box bar = {row.row, row.column + f->end + 1, 1,
                      f->place[TIME].width ? row.columns - f->end - 1 : 0};
    double whole[] = {run->device_us};
    put_values(on->cells, row, f, &data);
    if (waits)
        put_stack(on, bar, waits[op].us, wait_looks, LX_WAIT_COUNT, longest);
    else
        put_stack(on, bar, whole, wait_looks, 1, longest);
}

/* Before the first result. */
static void run_view_draw_waiting(const struct scene *on, struct box area)
{
    struct session *s = on->session;
    struct progress now = worker_progress(s->worker, &run_work, 0);
    if (now.running) {
        put(on->cells, area.row, area.column, on->glyphs->spinner[on->spin & 3], INK(WARN));
        put_format(on->cells, area.row, area.column + 2, area.columns - 2, INK(WARN), "%s, %s; %s cancels it",
                   now.words.at[0] ? now.words.at : "running", in_time(now.seconds).at, KEY_OF(STOP));
    } else if (now.waiting)
        put_text(on->cells, area.row, area.column, area.columns, INK(DIM), "queued");
    else if (s->run.known)
        put_wrapped(on->cells, area, INK(BAD), s->run.st.text);
    else if (session_plan(s)->graph->list)
        put_wrapped(on->cells, area, INK(PLAIN),
                    "This pattern is a list of buffers: there is nothing to execute.");
    else
        put_wrapped_format(
            on->cells, area, INK(PLAIN),
            "%s executes this plan on the simulated device: real bytes at the planned addresses, every "
            "result checked against a proved tolerance, every byte counted.",
            KEY_OF(EXECUTE));
}

static void run_view_draw(const struct scene *on, void *state, struct box area)
{
    struct run_view *v = state;
    struct session *s = on->session;
    const struct lx_run_result *r = on->session->run.result;
    if (!r || worker_busy(s->worker, &run_work)) {
        run_view_draw_waiting(on, area);
        return;
    }
    if (s->run.of != s->got) {
        struct box warn = box_cut_top(&area, 1);
        put_format(on->cells, warn.row, warn.column, warn.columns, INK(WARN),
                   "this run is of another plan; %s runs the present one", KEY_OF(EXECUTE));
    }
    int rows = area.rows >= 10 ? HEAD : 1, spare = rows > 1 ? area.rows - rows - 1 - run_view_rows(r) : 0;
    if (spare < 0) spare = 0;
    struct box head = {area.row, area.column, rows + spare, area.columns};
    int used = run_view_draw_verdict(on, head, spare);
    box_cut_top(&area, used > rows ? used : rows);
    struct box titles = box_cut_top(&area, area.rows >= 6);
    struct column columns[RUN_COLUMNS];
    memcpy(columns, run_array, sizeof run_array);
    columns[NAME].width = area.columns >= 100 ? 24 : area.columns >= 60 ? 16 : 12;
    if (s->run.plan->nest_count > 0) { /* counts of iterations go before these columns */
        columns[SHARE].from = columns[BOUND].from = 100;
        columns[LX].from = 110;
        columns[RING].from = 134;
    } else
        columns[TIMES].from = columns[EACH].from = NEVER;
    struct fitted f = fit_columns((struct columns){run_columns.name, columns, RUN_COLUMNS}, area.columns);
    if (titles.rows) put_headings(on->cells, titles, &f);
    const struct lx_op_wait *waits = s->run.of != s->got ? NULL : s->shown.waits;
    double longest = 0;
    for (int32_t i = 0; i < r->op_count; i++)
        longest = fmax(longest, waits ? lx_wait_us(&waits[i]) : r->ops[i].device_us);
    list_show(&v->list, run_view_rows(r), area);
    for (int i = 0; i < area.rows && v->list.top + i < run_view_rows(r); i++) {
        int at = v->list.top + i, faults = run_view_faults(r);
        struct box row = {area.row + i, area.column, 1, area.columns};
        if (at < faults) {
            char place[100] = "";
            if (r->faults[at].iteration >= 0)
                snprintf(place, sizeof place, ", iteration %s", grouped(r->faults[at].iteration + 1).at);
            put_format(on->cells, row.row, row.column, row.columns, INK(BAD), "  tick %d%s  %s: %s",
                       (int)r->faults[at].tick, place, lx_fault_word(r->faults[at].kind), r->faults[at].text);
        } else
            run_view_draw_op(on, row, &f, at - faults, longest);
        if (at == v->list.cursor) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    }
}

/* <Enter> shows the place in the map: of a fault its buffer and address, of an op its output. */
static bool run_view_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct session *s = &x->session;
    const struct lx_run_result *run = s->run.result;
    int at = ((const struct run_view *)state)->list.cursor, faults = run ? run_view_faults(run) : 0;
    if (r == REQ_EXECUTE) {
        /* About 0.5 Gflop per second of a thread: the device, the judge and the fp64 reference do each. */
        struct run_view *v = state;
        double seconds = s->shown.waits_sum.flops / 0.5e9;
        if (seconds > 10 && v->warned != s->got) {
            v->warned = s->got;
            explorer_say(x, TONE_WARN, "this takes about %s; %s again starts it, %s cancels it",
                         in_time(seconds).at, KEY_OF(EXECUTE), KEY_OF(STOP));
        } else
            session_run(s, NULL);
    }
    if (r != REQ_OPEN || argument) return r == REQ_EXECUTE;
    if (!run || at >= run_view_rows(run)) return true;
    if (at >= faults) {
        session_select_op(s, at - faults);
        session_show_buffer(s);
    } else {
        const struct lx_fault *f = &run->faults[at];
        int32_t buffer = f->stay >= 0 ? f->stay : outcome_buffer(&s->shown, f->tensor);
        if (buffer >= 0) session_select_buffer(s, buffer);
        s->selection.tick = f->tick;
        if (f->iteration >= 0) s->selection.iteration = f->iteration;
        session_show_buffer(s);
        if (f->core >= 0 && f->address >= 0) {
            s->selection.core = f->core;
            s->selection.address = f->address;
            s->selection.moves++;
        }
    }
    explorer_show(x, VIEW_MAP);
    return true;
}

static int run_view_count(struct explorer *x, void *state)
{
    (void)state;
    return x->session.run.result ? run_view_rows(x->session.run.result) : 0;
}

static const char *run_view_item(struct explorer *x, void *state, int i)
{
    (void)state;
    const struct lx_run_result *r = x->session.run.result;
    const struct lx_graph *g = x->session.run.plan->layouts->graph;
    if (i < run_view_faults(r)) return r->faults[i].text;
    return i - run_view_faults(r) < g->op_count ? g->ops[i - run_view_faults(r)].name : "";
}

static void run_view_select_item(struct explorer *x, void *state, int i)
{
    (void)state;
    session_select_op(&x->session, i - run_view_faults(x->session.run.result));
}

const struct view view_run = {
    .name = "Run",
    .purpose = "execute the plan on the simulated device",
    .needs_plan = true,
    .state_size = sizeof(struct run_view),
    .hints = {{REQ_EXECUTE, "run"},
              {REQ_STOP, "cancel"},
              {REQ_OPEN, "show in the map"},
              {REQ_SEARCH, "search"},
              {REQ_WHAT_IF, "what if"},
              {REQ_BACK, "back"}},
    .draw = run_view_draw,
    .request = run_view_request,
    .count = run_view_count,
    .item = run_view_item,
    .is_list = true,
    .select = run_view_select_item,
};
