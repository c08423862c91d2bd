/* The patterns: what is in each file, what planning it gave last, what is expected of it. */
#include "tui/explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum pattern_column { BY_NAME, BY_OPS, BY_BUFFERS, BY_BYTES, BY_TRAFFIC, BY_EXPECT, COLUMNS };

struct patterns_view {
    struct list list;
    int *shown, count; /* patterns in order, filtered */
    int column;
    bool reversed;
    bool moved; /* by a person; until then the cursor stays at the top while patterns are being read */
};

static void end(void *state)
{
    struct patterns_view *v = state;
    free(v->shown);
}

/* Width 0: what is left. A column is left out when fewer than `from` columns are there. */
static const struct {
    const char *name, *title;
    int width, from;
    bool number;
} columns[COLUMNS] = {
    [BY_NAME] = {"name", "pattern", 0, 0, false},
    [BY_OPS] = {"ops", "ops", 7, 50, true},
    [BY_BUFFERS] = {"buffers", "buffers", 9, 70, true},
    [BY_BYTES] = {"bytes", "bytes", 15, 90, true},
    [BY_TRAFFIC] = {"traffic", "last plan", 30, 60, false},
    [BY_EXPECT] = {"expect", "expected", 20, 100, false},
};

static int64_t number_of(const struct pattern *p, int column)
{
    switch (column) {
    case BY_OPS:
        return p->facts.ops;
    case BY_BUFFERS:
        return p->facts.buffers;
    case BY_BYTES:
        return p->facts.bytes;
    case BY_TRAFFIC:
        return p->last.known ? p->last.hbm_bytes + 1 : p->facts.refused ? -1 : 0;
    default:
        return 0;
    }
}

/* What the comparison of two numbers of patterns needs to know. */
struct order {
    const struct pattern *patterns;
    const struct patterns_view *view;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct order *by = context;
    const struct pattern *p = &by->patterns[*(const int *)a], *q = &by->patterns[*(const int *)b];
    int column = by->view->column, sign = by->view->reversed ? -1 : 1, result = 0;
    bool late = p->facts.refused || p->facts.must_refuse, later = q->facts.refused || q->facts.must_refuse;
    if (late != later) return late ? 1 : -1; /* what can be planned comes first, however it is sorted */
    if (column == BY_EXPECT)
        result = strcmp(p->facts.expect ? p->facts.expect : "", q->facts.expect ? q->facts.expect : "");
    else if (column != BY_NAME) {
        int64_t m = number_of(p, column), n = number_of(q, column);
        result = (m > n) - (m < n);
    }
    if (result == 0 && column != BY_NAME) return *(const int *)a - *(const int *)b;
    return sign * (result ? result : *(const int *)a - *(const int *)b);
}

static bool matches(const struct pattern *p, const char *filter)
{
    return has_text(p->shown, filter) || (p->facts.expect && has_text(p->facts.expect, filter)) ||
           (p->facts.refused && has_text("refused", filter));
}

/* The list anew: what is in it may have changed with every result. The cursor stays on its pattern. */
static void arrange(struct patterns_view *v, const struct session *s, const char *filter)
{
    struct order by = {s->patterns.at, v};
    int n = (int)s->patterns.count, keep = -1;
    int *shown = realloc(v->shown, ((size_t)n + 1) * sizeof *shown);
    if (!shown) return;
    if (v->list.cursor < v->count && v->moved) keep = shown[v->list.cursor];
    v->shown = shown;
    v->count = 0;
    for (int i = 0; i < n; i++)
        if (matches(&s->patterns.at[i], filter)) shown[v->count++] = i;
    qsort_r(shown, (size_t)v->count, sizeof *shown, compare, &by);
    for (int i = 0; i < v->count; i++)
        if (shown[i] == keep) v->list.cursor = i;
}

static void draw_last(const struct scene *on, int row, int column, int room, const struct pattern *p)
{
    const struct last_plan *l = &p->last;
    struct progress now =
        worker_progress(on->session->worker, &fill_work, (int)(p - on->session->patterns.at));
    if (now.running || now.waiting) {
        put(on->cells, row, column, now.running ? on->glyphs->spinner[on->spin & 3] : on->glyphs->light,
            INK(WARN));
    } else if (p->facts.refused)
        put_format(on->cells, row, column, room, INK(DIM), "refused: %s", lx_code_word(p->facts.st.code));
    else if (!l->known)
        put_text(on->cells, row, column, room, INK(DIM), p->is_read ? "" : "reading");
    else if (l->failed)
        put_text(on->cells, row, column, room, INK(BAD), "no plan");
    else
        put_format(on->cells, row, column, room, l->met ? INK(GOOD) : INK(BAD), "%13s B %s%s",
                   grouped(l->hbm_bytes).at, l->solver,
                   !l->met     ? ", missed"
                   : l->proved ? ", best"
                               : "");
}

static void draw_row(const struct scene *on, struct box row, const struct pattern *p, const int widths[])
{
    int at = row.column + 2;
    bool open = on->session->current == (int)(p - on->session->patterns.at);
    if (open) put(on->cells, row.row, row.column, on->glyphs->mark, INK(KEY));
    for (int c = 0; c < COLUMNS; c++) {
        int w = widths[c];
        if (w == 0) continue;
        switch (c) {
        case BY_NAME:
            put_text(on->cells, row.row, at, w, p->facts.refused ? INK(DIM) : INK(PLAIN), p->shown);
            break;
        case BY_TRAFFIC:
            draw_last(on, row.row, at, w, p);
            break;
        case BY_EXPECT:
            put_text(on->cells, row.row, at, w, INK(DIM), p->facts.expect ? p->facts.expect : "");
            break;
        default:
            if (p->is_read && !p->facts.refused)
                put_right(on->cells, row.row, at, w, INK(PLAIN), grouped(number_of(p, c)).at);
        }
        at += w + 1;
    }
}

/* The pattern under the cursor in words. */
static void draw_summary(const struct scene *on, struct box area, const struct pattern *p)
{
    char text[1200];
    if (p->facts.refused)
        put_wrapped(on->cells, area, INK(WARN), lx_status_describe(&p->facts.st, text, sizeof text));
    else if (p->is_read) {
        snprintf(text, sizeof text, "%.900s%s%s", p->facts.summary ? p->facts.summary : "",
                 p->facts.target >= 0 ? " Target: " : "",
                 p->facts.target >= 0 ? in_bytes(p->facts.target).at : "");
        put_wrapped(on->cells, area, INK(DIM), text);
    }
}

/* The names have what the others leave. */
static void find_widths(int room, int widths[COLUMNS])
{
    int used = 2;
    for (int c = 0; c < COLUMNS; c++) {
        widths[c] = room >= columns[c].from ? columns[c].width : 0;
        if (widths[c]) used += widths[c] + 1;
    }
    widths[BY_NAME] = room - used > 45 ? 45 : room - used;
}

static void draw_head(const struct scene *on, const struct patterns_view *v, struct box head,
                      const int widths[COLUMNS])
{
    for (int c = 0, at = head.column + 2; c < COLUMNS; c++) {
        if (widths[c] <= 0) continue;
        char title[40];
        bool here = c == v->column;
        snprintf(title, sizeof title, "%s%s", columns[c].title, here ? (v->reversed ? " v" : " ^") : "");
        if (columns[c].number)
            put_right(on->cells, head.row, at, widths[c], here ? INK(TITLE) : INK(DIM), title);
        else
            put_text(on->cells, head.row, at, widths[c], here ? INK(TITLE) : INK(DIM), title);
        at += widths[c] + 1;
    }
}

static void draw_nothing(const struct scene *on, struct box list)
{
    if (on->filter[0])
        put_wrapped_format(on->cells, list, INK(PLAIN), "No pattern matches the filter. %s takes it away.",
                           KEY_OF(ESCAPE));
    else
        put_wrapped_format(on->cells, list, INK(PLAIN),
                           "No patterns here. Start with: lxplan explore FILE or FOLDER, or type %s%s FILE.",
                           KEY_OF(COMMAND), request_rows[REQ_OPEN].name);
}

static void draw_rows(const struct scene *on, const struct patterns_view *v, struct box list,
                      const int widths[COLUMNS])
{
    for (int i = 0; i < list.rows && v->list.top + i < v->count; i++) {
        int at = v->list.top + i;
        struct box row = {list.row + i, list.column, 1, list.columns};
        const struct pattern *p = &on->session->patterns.at[v->shown[at]];
        draw_row(on, row, p, widths);
        if (at == v->list.cursor) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
        if (on->search[0] && has_text(p->shown, on->search))
            put_paper(on->cells, (struct box){row.row, row.column + 2, 1, columns_of(p->shown)},
                      INK_ON(MATCH, MATCH));
    }
    /* The cursor stands before the row, for terminals that show nothing else. */
    put(on->cells, list.row + v->list.cursor - v->list.top, list.column + 1, on->glyphs->mark,
        INK_ON(KEY, SELECTED));
}

static void draw(const struct scene *on, void *state, struct box area)
{
    struct patterns_view *v = state;
    struct box list = area;
    int widths[COLUMNS];
    arrange(v, on->session, on->filter);
    struct box summary = box_cut_bottom(&list, area.rows >= 14 ? 3 : area.rows >= 8 ? 1 : 0);
    if (summary.rows > 1) box_cut_top(&summary, 1);
    find_widths(area.columns, widths);
    draw_head(on, v, box_cut_top(&list, 1), widths);
    list_show(&v->list, v->count, list);
    if (v->count == 0) {
        draw_nothing(on, list);
        return;
    }
    draw_summary(on, summary, &on->session->patterns.at[v->shown[v->list.cursor]]);
    draw_rows(on, v, list, widths);
}

const char *pattern_column(int i)
{
    return i < COLUMNS ? columns[i].name : NULL;
}

static void sort_by(struct explorer *x, struct patterns_view *v, const char *name)
{
    struct text known = {0};
    int c = 0;
    while (c < COLUMNS && strcmp(columns[c].name, name) != 0) c++;
    if (c < COLUMNS) {
        v->column = c;
        return;
    }
    for (c = 0; c < COLUMNS; c++) text_format(&known, "%s%s", c ? ", " : "", columns[c].name);
    explorer_say(x, TONE_BAD, "no column is called \"%s\"; there are %s", name, known.at ? known.at : "");
    text_free(&known);
}

static bool request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct patterns_view *v = state;
    arrange(v, &x->session, x->filter[VIEW_PATTERNS]);
    switch (r) {
    case REQ_OPEN:
        if (argument) return false;
        v->moved = true;
        if (v->list.cursor >= v->count) return true;
        session_open(&x->session, v->shown[v->list.cursor]);
        explorer_show(x, VIEW_MAP);
        return true;
    case REQ_SORT:
        sort_by(x, v, argument);
        return true;
    case REQ_SORT_RIGHT:
        v->column = (v->column + 1) % COLUMNS;
        return true;
    case REQ_SORT_LEFT:
        v->column = (v->column + COLUMNS - 1) % COLUMNS;
        return true;
    case REQ_SORT_REVERSE:
        v->reversed = !v->reversed;
        return true;
    case REQ_PLAN_ALL:
        session_plan_all(&x->session);
        return true;
    default:
        return false;
    }
}

static void select_item(struct explorer *x, void *state, int i)
{
    struct patterns_view *v = state;
    (void)x, (void)i;
    v->moved = true;
}

static void mouse(struct explorer *x, void *state, const struct key *k)
{
    struct patterns_view *v = state;
    if (k->code != AT_CLICK) {
        for (int i = 0; i < 3; i++) explorer_request(x, k->code == AT_WHEEL_UP ? REQ_UP : REQ_DOWN, NULL);
        return;
    }
    int row = k->row - v->list.rows.row + v->list.top;
    if (k->row == v->list.rows.row - 1) { /* the head sorts */
        request(x, v, v->column == BY_EXPECT ? REQ_SORT_REVERSE : REQ_SORT_RIGHT, NULL);
        return;
    }
    if (!box_holds(&v->list.rows, k->row, k->column) || row >= v->count) return;
    if (row == v->list.cursor) /* the second click opens */
        request(x, v, REQ_OPEN, NULL);
    else
        view_select(x, VIEW_PATTERNS, row);
}

static int count(struct explorer *x, void *state)
{
    struct patterns_view *v = state;
    arrange(v, &x->session, x->filter[VIEW_PATTERNS]);
    return v->count;
}

static const char *item(struct explorer *x, void *state, int i)
{
    const struct patterns_view *v = state;
    return x->session.patterns.at[v->shown[i]].shown;
}

const struct view view_patterns = {
    .name = "Patterns",
    .purpose = "the files: size, last result, what is expected",
    .state_size = sizeof(struct patterns_view),
    .end = end,
    .hints = {{REQ_OPEN, "open"},
              {REQ_SEARCH, "search"},
              {REQ_FILTER, "filter"},
              {REQ_SORT_RIGHT, "sort"},
              {REQ_PLAN_ALL, "plan all"},
              {REQ_WHAT_IF, "what if"},
              {REQ_BACK, "quit"}},
    .draw = draw,
    .request = request,
    .mouse = mouse,
    .count = count,
    .item = item,
    .list = first_list,
    .select = select_item,
};
