/* The patterns: what is in each file, what planning it gave last, what is expected of it. */
#include "tui/explorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum pattern_column { BY_NAME, BY_OPS, BY_BUFFERS, BY_BYTES, BY_TRAFFIC, BY_EXPECT, COLUMNS };

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

static int compare(const void *a, const void *b, void *context)
{
    const struct explorer *x = context;
    const struct pattern *p = &x->session.patterns.at[*(const int *)a],
                         *q = &x->session.patterns.at[*(const int *)b];
    int column = x->patterns.column, sign = x->patterns.reversed ? -1 : 1, result = 0;
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
static void arrange(struct explorer *x)
{
    const struct session *s = &x->session;
    int n = (int)s->patterns.count, keep = -1;
    int *shown = realloc(x->patterns.shown, ((size_t)n + 1) * sizeof *shown);
    if (!shown) return;
    if (x->patterns.list.cursor < x->patterns.count && x->patterns.moved)
        keep = shown[x->patterns.list.cursor];
    x->patterns.shown = shown;
    x->patterns.count = 0;
    for (int i = 0; i < n; i++)
        if (matches(&s->patterns.at[i], x->filter[VIEW_PATTERNS])) shown[x->patterns.count++] = i;
    qsort_r(shown, (size_t)x->patterns.count, sizeof *shown, compare, x);
    for (int i = 0; i < x->patterns.count; i++)
        if (shown[i] == keep) x->patterns.list.cursor = i;
}

static void draw_last(struct explorer *x, int row, int column, int room, const struct pattern *p)
{
    const struct last_plan *l = &p->last;
    struct progress now = worker_progress(x->session.worker, JOB_FILL, (int)(p - x->session.patterns.at));
    if (now.running || now.waiting) {
        put(&x->cells, row, column, now.running ? x->glyphs->spinner[x->spin & 3] : x->glyphs->light,
            INK(WARN));
    } else if (p->facts.refused)
        put_format(&x->cells, row, column, room, INK(DIM), "refused: %s", lx_code_word(p->facts.st.code));
    else if (!l->known)
        put_text(&x->cells, row, column, room, INK(DIM), p->is_read ? "" : "reading");
    else if (l->failed)
        put_text(&x->cells, row, column, room, INK(BAD), "no plan");
    else
        put_format(&x->cells, row, column, room, l->met ? INK(GOOD) : INK(BAD), "%13s B %s%s",
                   grouped(l->hbm_bytes).at, l->solver,
                   !l->met     ? ", missed"
                   : l->proved ? ", best"
                               : "");
}

static void draw_row(struct explorer *x, struct box row, const struct pattern *p, const int widths[])
{
    int at = row.column + 2;
    bool open = x->session.current == (int)(p - x->session.patterns.at);
    if (open) put(&x->cells, row.row, row.column, x->glyphs->mark, INK(KEY));
    for (int c = 0; c < COLUMNS; c++) {
        int w = widths[c];
        if (w == 0) continue;
        switch (c) {
        case BY_NAME:
            put_text(&x->cells, row.row, at, w, p->facts.refused ? INK(DIM) : INK(PLAIN), p->shown);
            break;
        case BY_TRAFFIC:
            draw_last(x, row.row, at, w, p);
            break;
        case BY_EXPECT:
            put_text(&x->cells, row.row, at, w, INK(DIM), p->facts.expect ? p->facts.expect : "");
            break;
        default:
            if (p->is_read && !p->facts.refused)
                put_right(&x->cells, row.row, at, w, INK(PLAIN), grouped(number_of(p, c)).at);
        }
        at += w + 1;
    }
}

/* The pattern under the cursor in words. */
static void draw_summary(struct explorer *x, struct box area, const struct pattern *p)
{
    char text[1200];
    if (p->facts.refused)
        put_wrapped(&x->cells, area, INK(WARN), lx_status_describe(&p->facts.st, text, sizeof text));
    else if (p->is_read) {
        snprintf(text, sizeof text, "%.900s%s%s", p->facts.summary ? p->facts.summary : "",
                 p->facts.target >= 0 ? " Target: " : "",
                 p->facts.target >= 0 ? in_bytes(p->facts.target).at : "");
        put_wrapped(&x->cells, area, INK(DIM), text);
    }
}

static void draw(struct explorer *x, struct box area)
{
    struct box list = area;
    int widths[COLUMNS], used = 2;
    arrange(x);
    struct box summary = box_cut_bottom(&list, area.rows >= 14 ? 3 : area.rows >= 8 ? 1 : 0);
    if (summary.rows > 1) box_cut_top(&summary, 1);
    struct box head = box_cut_top(&list, 1);
    for (int c = 0; c < COLUMNS; c++) {
        widths[c] = area.columns >= columns[c].from ? columns[c].width : 0;
        if (widths[c]) used += widths[c] + 1;
    }
    widths[BY_NAME] = area.columns - used > 45 ? 45 : area.columns - used;
    for (int c = 0, at = head.column + 2; c < COLUMNS; c++) {
        if (widths[c] <= 0) continue;
        char title[40];
        bool here = c == x->patterns.column;
        snprintf(title, sizeof title, "%s%s", columns[c].title,
                 here ? (x->patterns.reversed ? " v" : " ^") : "");
        if (columns[c].number)
            put_right(&x->cells, head.row, at, widths[c], here ? INK(TITLE) : INK(DIM), title);
        else
            put_text(&x->cells, head.row, at, widths[c], here ? INK(TITLE) : INK(DIM), title);
        at += widths[c] + 1;
    }
    x->patterns.rows = list;
    list_show(&x->patterns.list, x->patterns.count, list.rows);
    if (x->patterns.count == 0) {
        put_wrapped(&x->cells, list, INK(PLAIN),
                    x->filter[VIEW_PATTERNS][0]
                        ? "No pattern matches the filter. <Esc> takes it away."
                        : "No patterns here. Start with: lxplan explore FILE or FOLDER, or type :open FILE.");
        return;
    }
    for (int i = 0; i < list.rows && x->patterns.list.top + i < x->patterns.count; i++) {
        int at = x->patterns.list.top + i;
        struct box row = {list.row + i, list.column, 1, list.columns};
        const struct pattern *p = &x->session.patterns.at[x->patterns.shown[at]];
        draw_row(x, row, p, widths);
        if (at == x->patterns.list.cursor) put_paper(&x->cells, row, INK_ON(PLAIN, SELECTED));
        if (x->search[0] && has_text(p->shown, x->search))
            put_paper(&x->cells, (struct box){row.row, row.column + 2, 1, columns_of(p->shown)},
                      INK_ON(MATCH, MATCH));
    }
    draw_summary(x, summary, &x->session.patterns.at[x->patterns.shown[x->patterns.list.cursor]]);
    /* The cursor stands before the row, for terminals that show nothing else. */
    put(&x->cells, list.row + x->patterns.list.cursor - x->patterns.list.top, list.column + 1,
        x->glyphs->mark, INK_ON(KEY, SELECTED));
}

static void sort_by(struct explorer *x, const char *name)
{
    for (int c = 0; c < COLUMNS; c++)
        if (strcmp(columns[c].name, name) == 0) {
            x->patterns.column = c;
            return;
        }
    explorer_say(x, TONE_BAD,
                 "no column is called \"%s\"; there are name, ops, buffers, bytes, traffic, expect", name);
}

static bool request(struct explorer *x, enum request r, const char *argument)
{
    arrange(x);
    if (list_move(&x->patterns.list, r, x->patterns.count, x->patterns.rows.rows))
        return x->patterns.moved = true;
    switch (r) {
    case REQ_OPEN:
        if (argument) return false;
        x->patterns.moved = true;
        if (x->patterns.list.cursor >= x->patterns.count) return true;
        session_open(&x->session, x->patterns.shown[x->patterns.list.cursor]);
        x->view = VIEW_MAP;
        return true;
    case REQ_SORT:
        sort_by(x, argument);
        return true;
    case REQ_SORT_RIGHT:
        x->patterns.column = (x->patterns.column + 1) % COLUMNS;
        return true;
    case REQ_SORT_LEFT:
        x->patterns.column = (x->patterns.column + COLUMNS - 1) % COLUMNS;
        return true;
    case REQ_SORT_REVERSE:
        x->patterns.reversed = !x->patterns.reversed;
        return true;
    case REQ_PLAN_ALL:
        session_plan_all(&x->session);
        return true;
    default:
        return false;
    }
}

static void select_item(struct explorer *x, int i)
{
    x->patterns.list.cursor = i;
    x->patterns.moved = true;
}

static void mouse(struct explorer *x, const struct key *k)
{
    if (k->code != AT_CLICK) {
        for (int i = 0; i < 3; i++) request(x, k->code == AT_WHEEL_UP ? REQ_UP : REQ_DOWN, NULL);
        return;
    }
    int row = k->row - x->patterns.rows.row + x->patterns.list.top;
    if (k->row == x->patterns.rows.row - 1) { /* the head sorts */
        request(x, x->patterns.column == BY_EXPECT ? REQ_SORT_REVERSE : REQ_SORT_RIGHT, NULL);
        return;
    }
    if (!box_holds(&x->patterns.rows, k->row, k->column) || row >= x->patterns.count) return;
    if (row == x->patterns.list.cursor) /* the second click opens */
        request(x, REQ_OPEN, NULL);
    else
        select_item(x, row);
}

static int count(struct explorer *x)
{
    arrange(x);
    return x->patterns.count;
}

static const char *item(struct explorer *x, int i)
{
    return x->session.patterns.at[x->patterns.shown[i]].shown;
}

static int selected(struct explorer *x)
{
    return x->patterns.list.cursor;
}

const struct view view_patterns = {
    .name = "Patterns",
    .purpose = "the files: size, last result, what is expected",
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
    .selected = selected,
    .select = select_item,
};
