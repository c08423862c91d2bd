/* Pareto: every plan that was seen for this graph as a point, HBM bytes against time, and in a table. Plans
 * of this device that no other beats in both are the front. Opening the panel tries every remedy of the whole
 * plan; <Enter> takes a plan. Up to 300 plans, compared with each other when one is new. */
#include "tui/core/explorer.h"
#include "tui/draw/chart.h"

struct pareto_view {
    struct list list;
    struct remedies rows; /* one of each pair of figures; its plan is not owned */
    int *alike;           /* per row: plans with the same figures */
    bool *is_front;       /* per row */
    uint64_t saw, got;    /* for which they were made */
    enum remedy_by by;
    bool chosen; /* the user moved the cursor: it follows its row; else it is on the plan to take */
    int row_order;
};

static void pareto_end(void *state)
{
    struct pareto_view *v = state;
    VEC_FREE(&v->rows.all);
    mem_free(v->alike);
    mem_free(v->is_front);
}

/* Is `a` as good as `b` in both, and better in one? */
static bool pareto_beats(const struct remedy *a, const struct remedy *b)
{
    return a->value <= b->value && a->us <= b->us && (a->value < b->value || a->us < b->us);
}

static bool pareto_same(const struct remedy *a, const struct remedy *b)
{
    return a->value == b->value && a->us == b->us && a->syncs == b->syncs && a->capacity == b->capacity &&
           a->cores == b->cores;
}

/* The plan to take: fewest bytes among those of the front at most 1.1 times as slow as the fastest. */
static int pareto_best(const struct pareto_view *v)
{
    double fastest = INFINITY;
    int best = -1;
    for (size_t i = 0; i < v->rows.all.count; i++)
        if (v->is_front[i]) fastest = fmin(fastest, v->rows.all.at[i].us);
    for (size_t i = 0; i < v->rows.all.count; i++)
        if (v->is_front[i] && v->rows.all.at[i].us <= 1.1 * fastest &&
            (best < 0 || v->rows.all.at[i].value < v->rows.all.at[best].value))
            best = (int)i;
    return best;
}

/* Is the row the plan on the screen, or one with its figures? */
static bool pareto_is_now(const struct pareto_view *v, const struct remedy *it)
{
    struct remedy now = {0};
    remedy_take_figures(&now, v->rows.plan, NULL);
    return pareto_same(&now, it);
}

/* Notes of rows: their place beside the others. */
static void pareto_note(struct pareto_view *v)
{
    int best = pareto_best(v);
    for (size_t i = 0; i < v->rows.all.count; i++) {
        struct remedy *it = &v->rows.all.at[i];
        const struct remedy *by = NULL;
        for (size_t k = 0; k < v->rows.all.count && !by; k++)
            if (v->is_front[k] && pareto_beats(&v->rows.all.at[k], it)) by = &v->rows.all.at[k];
        char alike[32] = "";
        if (v->alike[i]) snprintf(alike, sizeof alike, "; %d alike", v->alike[i]);
        if (!remedy_fits(it, v->rows.plan))
            snprintf(it->note, sizeof it->note, "another device%s", alike);
        else if (v->is_front[i])
            snprintf(it->note, sizeof it->note, "%.60s%s",
                     (int)i == best ? "front; fewest bytes at most 1.1x as slow as the fastest" : "front",
                     alike);
        else
            snprintf(it->note, sizeof it->note, "beaten by %.90s%s", by ? by->what : "", alike);
    }
}

/* The words of a row: its settings beside those of now, which are the shortest. */
static size_t pareto_name(struct remedy *it, const struct session *s)
{
    struct what_if how = {it->options};
    SCOPED(text_free) struct text what = {0};
    settings_changes(&how, &s->now, &what);
    size_t length = strcmp(what.at, "now") == 0 ? 0 : what.length;
    snprintf(it->what, sizeof it->what, "%s", what.at);
    return length;
}

/* One row for each pair of figures, of the settings that are shortest. */
static void pareto_gather(struct pareto_view *v, const struct session *s)
{
    const struct lx_plan *p = session_plan(s);
    if (v->saw == s->saw && v->got == s->got && v->rows.plan == p) return;
    v->saw = s->saw;
    v->got = s->got;
    v->rows.plan = p;
    v->rows.by = v->by;
    v->rows.all.count = 0;
    v->alike = mem_resize(v->alike, (s->seen.count + 1) * sizeof *v->alike);
    v->is_front = mem_resize(v->is_front, s->seen.count + 1);
    for (size_t i = 0; i < s->seen.count; i++) {
        struct remedy it = s->seen.at[i];
        size_t k = 0, length = pareto_name(&it, s);
        while (k < v->rows.all.count && !pareto_same(&v->rows.all.at[k], &it)) k++;
        if (k < v->rows.all.count) it.order = v->rows.all.at[k].order; /* by which a cursor finds its row */
        it.promise = (int)length;
        if (k == v->rows.all.count)
            VEC_PUSH(&v->rows.all, it);
        else if (it.promise < v->rows.all.at[k].promise ||
                 (it.promise == v->rows.all.at[k].promise && strcmp(it.what, v->rows.all.at[k].what) < 0))
            v->rows.all.at[k] = it;
    }
    remedies_sort(&v->rows);
    for (size_t i = 0; i < v->rows.all.count; i++) {
        v->alike[i] = -1;
        v->is_front[i] = remedy_fits(&v->rows.all.at[i], p);
        for (size_t k = 0; k < s->seen.count; k++)
            v->alike[i] += pareto_same(&s->seen.at[k], &v->rows.all.at[i]);
        for (size_t k = 0; k < v->rows.all.count && v->is_front[i]; k++)
            v->is_front[i] =
                !remedy_fits(&v->rows.all.at[k], p) || !pareto_beats(&v->rows.all.at[k], &v->rows.all.at[i]);
    }
    pareto_note(v);
    if (!v->chosen) v->list.cursor = pareto_best(v) < 0 ? 0 : pareto_best(v);
    for (size_t i = 0; v->chosen && i < v->rows.all.count; i++)
        if (v->rows.all.at[i].order == v->row_order) v->list.cursor = (int)i;
}

static int pareto_by_time(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (a[0] > b[0]) - (a[0] < b[0]);
}

static chart_label pareto_micros;
static struct chart_label pareto_micros(double value)
{
    return chart_seconds(value * 1e-6);
}

enum { POINTS_OTHER, POINTS_BEATEN, POINTS_FRONT, POINT_NOW, POINT_SORTS };

/* Points by sort, and the front as stairs; the row under the cursor last. */
static void pareto_draw_chart(const struct scene *on, const struct pareto_view *v, struct box area)
{
    static const struct chart_series looks[POINT_SORTS] = {
        [POINTS_OTHER] = {.name = "another device", .tone = TONE_DIM, .letter = 'o', .points = true},
        [POINTS_BEATEN] = {.name = "beaten", .tone = TONE_PLAIN, .letter = 'x', .points = true},
        [POINTS_FRONT] = {.name = "front", .tone = TONE_GOOD, .letter = '*', .points = true},
        [POINT_NOW] = {.name = "now", .tone = TONE_WARN, .letter = 'N', .points = true}};
    size_t n = v->rows.all.count, room = 2 * n + 4;
    double *at = mem_alloc((POINT_SORTS + 2) * room * sizeof *at), *stairs = at + POINT_SORTS * room;
    struct chart_series series[POINT_SORTS + 1];
    int front = 0;
    for (int k = 0; k < POINT_SORTS; k++) {
        series[k + 1] = looks[k];
        series[k + 1].x = &at[(size_t)k * room];
        series[k + 1].y = series[k + 1].x + room / 2;
    }
    for (size_t i = 0; i < n; i++) {
        const struct remedy *it = &v->rows.all.at[i];
        int k = pareto_is_now(v, it)            ? POINT_NOW
                : v->is_front[i]                ? POINTS_FRONT
                : remedy_fits(it, v->rows.plan) ? POINTS_BEATEN
                                                : POINTS_OTHER;
        double *x = &at[(size_t)k * room];
        x[series[k + 1].count] = it->us;
        x[room / 2 + (size_t)series[k + 1].count++] = (double)it->value;
        if (v->is_front[i]) stairs[2 * front] = it->us, stairs[2 * front++ + 1] = (double)it->value;
    }
    qsort(stairs, (size_t)front, 2 * sizeof *stairs, pareto_by_time);
    double *x = stairs + room, *y = x + room / 2;
    for (int i = 0; i < front; i++) x[i] = stairs[2 * i], y[i] = stairs[2 * i + 1];
    series[0] = (struct chart_series){
        .x = x, .y = y, .count = front, .tone = TONE_GOOD, .letter = '.', .stairs = true};
    struct chart c = {.series = series,
                      .series_count = POINT_SORTS + 1,
                      .x = {.name = "end to end", .log = true, .label = pareto_micros},
                      .y = {.name = "HBM bytes", .log = true, .label = chart_bytes}};
    c.x.from = c.y.from = INFINITY;
    for (size_t i = 0; i < n; i++) { /* some room around the points */
        const struct remedy *it = &v->rows.all.at[i];
        c.x.from = fmin(c.x.from, it->us / 1.15), c.x.to = fmax(c.x.to, it->us * 1.15);
        c.y.from = fmin(c.y.from, (double)it->value / 1.1), c.y.to = fmax(c.y.to, (double)it->value * 1.1);
    }
    struct plot where = chart_draw(on, area, &c);
    mem_free(at);
    int row, column;
    const struct remedy *here = &v->rows.all.at[v->list.cursor];
    if (!plot_cell(&where, here->us, (double)here->value, &row, &column)) return;
    put(on->cells, row, column, on->glyphs->ascii ? '@' : 0x25c9,
        (struct style){TONE_CURSOR, TONE_CURSOR, MARK_BOLD});
}

static void pareto_mark_row(const struct scene *on, const void *view, struct box row, int i)
{
    const struct pareto_view *v = view;
    const struct remedy *it = &v->rows.all.at[i];
    bool now = pareto_is_now(v, it);
    if (v->is_front[i] || now)
        put(on->cells, row.row, row.column,
            on->glyphs->ascii || on->theme->letters ? (now ? 'N' : '*') : on->glyphs->bullet,
            now ? INK(WARN) : INK(GOOD));
    if (!remedy_fits(it, v->rows.plan)) put_paper(on->cells, row, INK(DIM));
    if (i == v->list.cursor) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
}

static void pareto_draw_rows(const struct scene *on, struct pareto_view *v, struct box area)
{
    static const int sorted[REMEDY_BYS] = {REMEDY_COLUMN_VALUE, REMEDY_COLUMN_TIME, REMEDY_COLUMN_SYNCS};
    struct tries_table t = {&v->list, &v->rows, .by = {sorted[v->by], false}, .mark = pareto_mark_row,
                            .view = v};
    memcpy(t.columns, remedy_columns.at, sizeof t.columns);
    t.columns[REMEDY_COLUMN_PRESENCE].from = t.columns[REMEDY_COLUMN_DELTA].from = 1 << 20;
    t.columns[REMEDY_COLUMN_TIME].from = 70;
    t.columns[REMEDY_COLUMN_SLOWER].from = 60;
    t.columns[REMEDY_COLUMN_NOTE].from = 112;
    t.columns[REMEDY_COLUMN_WHAT].width = area.columns >= 110 ? 30 : area.columns >= 76 ? 24 : 18;
    if (area.columns >= 100) t.columns[REMEDY_COLUMN_VALUE].width = 16;
    t.columns[REMEDY_COLUMN_VALUE].from = 34;
    tries_draw(on, area, &t);
}

/* The row under the cursor in full, and the answer to "which to take". */
static void pareto_draw_foot(const struct scene *on, const struct pareto_view *v, struct box area)
{
    const struct remedy *here = &v->rows.all.at[v->list.cursor];
    int best = pareto_best(v), front = 0;
    struct text line = {0};
    for (size_t i = 0; i < v->rows.all.count; i++) front += v->is_front[i];
    add_printable(&line, here->what, 0);
    text_format(&line, ": %s", here->note);
    if (pareto_is_now(v, here)) text_add(&line, "; on the screen now");
    box_cut_top(&area, put_paragraph(on->cells, area, INK(TITLE), &line));
    text_format(&line, "%s seen, %d on the front", counted((int64_t)on->session->seen.count, "plan").at,
                front);
    if (best >= 0) {
        const struct remedy *it = &v->rows.all.at[best];
        text_add(&line, "; to take: ");
        add_printable(&line, it->what, 0);
        text_format(&line, ", %s", in_short_bytes(it->value).at);
        text_format(&line, " in %s", in_micros(it->us).at);
    }
    put_paragraph(on->cells, area, INK(PLAIN), &line);
}

static void pareto_draw(const struct scene *on, void *state, struct box area)
{
    struct pareto_view *v = state;
    const struct lx_plan *p = session_plan(on->session);
    struct box in = frame_window(on, "Every plan seen: bytes against time", area.rows, area.columns);
    if (!p || p->graph->list) {
        put_wrapped(on->cells, in, INK(PLAIN), "A list of buffers has no times: there is one best plan.");
        return;
    }
    pareto_gather(v, on->session);
    int count = (int)v->rows.all.count;
    if (count == 0) {
        put_wrapped(on->cells, in, INK(PLAIN),
                    on->session->shown.was_read ? "This plan was read from a file; no other was made so far."
                                                : "The first plan is being made; the others follow it.");
        return;
    }
    if (v->list.cursor >= count) v->list.cursor = count - 1;
    pareto_draw_foot(on, v, box_cut_bottom(&in, in.rows >= 16 ? 3 : in.rows >= 8));
    if (in.columns >= 150) { /* beside each other */
        struct box chart = in;
        chart.columns = in.columns * 2 / 5;
        in = box_behind(in, chart.columns + 2);
        pareto_draw_chart(on, v, chart);
    } else if (in.rows >= 12)
        pareto_draw_chart(on, v, box_cut_top(&in, in.rows * 3 / 5));
    pareto_draw_rows(on, v, in);
}

static void pareto_shown(struct explorer *x, void *state)
{
    struct pareto_view *v = state;
    const struct lx_plan *p = session_plan(&x->session);
    v->chosen = false;
    v->got = 0;
    if (p && !p->graph->list) why_try_all(x);
}

static bool pareto_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct pareto_view *v = state;
    if (r == REQ_SORT_RIGHT || r == REQ_SORT_LEFT) {
        v->by = (v->by + (r == REQ_SORT_RIGHT ? 1 : REMEDY_BYS - 1)) % REMEDY_BYS;
        v->got = 0;
        return true;
    }
    if (r != REQ_OPEN || argument) return false;
    if ((size_t)v->list.cursor >= v->rows.all.count || !session_plan(&x->session)) return true;
    const struct remedy *it = &v->rows.all.at[v->list.cursor];
    bool cut = it->state == REMEDY_CUT;
    if (tries_take(x, it, cut ? "planned in full, as it was cut short" : "taken")) x->overlay = VIEW_COUNT;
    return true;
}

static int pareto_count(struct explorer *x, void *state)
{
    struct pareto_view *v = state;
    const struct lx_plan *p = session_plan(&x->session);
    if (p && !p->graph->list) pareto_gather(v, &x->session);
    return p && !p->graph->list ? (int)v->rows.all.count : 0;
}

static const char *pareto_item(struct explorer *x, void *state, int i)
{
    (void)x;
    return ((struct pareto_view *)state)->rows.all.at[i].what;
}

static void pareto_select(struct explorer *x, void *state, int i)
{
    struct pareto_view *v = state;
    (void)x;
    v->chosen = true;
    if (i >= 0 && (size_t)i < v->rows.all.count) v->row_order = v->rows.all.at[i].order;
}

const struct view view_pareto = {
    .name = "Pareto",
    .purpose = "every plan seen, bytes against time: which to take",
    .needs_plan = true,
    .state_size = sizeof(struct pareto_view),
    .hints = {{REQ_OPEN, "take it"},
              {REQ_SORT_RIGHT, "sort"},
              {REQ_STOP, "cancel"},
              {REQ_WHY, "remedies"},
              {REQ_UNDO, "undo"},
              {REQ_BACK, "close"}},
    .end = pareto_end,
    .shown = pareto_shown,
    .draw = pareto_draw,
    .request = pareto_request,
    .count = pareto_count,
    .item = pareto_item,
    .is_list = true,
    .select = pareto_select,
};
