/* The patterns: the facts of each file, its last plan, its expectations. */
#include "tui/core/explorer.h"

enum pattern_column { BY_NAME, BY_OPS, BY_BUFFERS, BY_BYTES, BY_TRAFFIC, BY_EXPECT, PATTERN_COLUMNS };

struct patterns_view {
    struct list list;
    struct sorting by;
    struct column columns[PATTERN_COLUMNS]; /* at the last drawing */
    bool moved; /* by the user; until then the cursor stays at the top while files are read */
};

struct pattern_row {
    const struct scene *on; /* NULL: for sorting */
    const struct pattern *is;
};

/* Numbers appear when the file is read; they are sorted in any case. */
static void fact_value(struct value *v, const struct pattern *p, int64_t n)
{
    value_whole(v, n);
    if (!p->is_read || p->facts.refused) v->words = "";
}

static void last_value(const void *row_of_table, const struct column *column, struct value *v)
{
    const struct pattern_row *row = row_of_table;
    const struct pattern *p = row->is;
    const struct last_plan *l = &p->last;
    (void)column;
    value_whole(v, l->known ? l->hbm_bytes + 1 : p->facts.refused ? -1 : 0);
    if (row->on) {
        char glyph[5] = "";
        const struct scene *on = row->on;
        struct progress now =
            worker_progress(on->session->worker, &fill_work, (int)(row->is - on->session->patterns.at));
        if (now.running || now.waiting) {
            encode_character(now.running ? on->glyphs->spinner[on->spin & 3] : on->glyphs->light, glyph);
            v->paint = PAINT_WARN;
            value_add(v, glyph);
        }
    }
    if (v->words) return;
    v->paint = !l->known || p->facts.refused ? PAINT_DIM : l->failed || !l->met ? PAINT_BAD : PAINT_GOOD;
    if (p->facts.refused)
        value_format(v, "refused: %s", lx_code_word(p->facts.st.code));
    else if (!l->known)
        v->words = p->is_read ? "" : "reading";
    else if (l->failed)
        v->words = "no plan";
    else
        value_format(v, "%13s B %s%s", grouped(l->hbm_bytes).at, l->solver,
                     !l->met     ? ", missed"
                     : l->proved ? ", optimal"
                                 : "");
}

/* clang-format off */
VALUE_OF(name_value,    struct pattern_row, v->words = row->is->shown; v->paint = row->is->facts.refused ? PAINT_DIM : PAINT_PLAIN;)
VALUE_OF(ops_value,     struct pattern_row, fact_value(v, row->is, row->is->facts.ops);)
VALUE_OF(buffers_value, struct pattern_row, fact_value(v, row->is, row->is->facts.buffers);)
VALUE_OF(bytes_value,   struct pattern_row, fact_value(v, row->is, row->is->facts.bytes);)
VALUE_OF(expect_value,  struct pattern_row, v->words = row->is->facts.expect ? row->is->facts.expect : ""; v->paint = PAINT_DIM;)

static const struct column pattern_array[PATTERN_COLUMNS] = {
    [BY_NAME]    = {.key = "name",    .heading = "pattern",   .kind = VALUE_WORDS, .width = 0,  .most = 45, .value = name_value},
    [BY_OPS]     = {.key = "ops",     .heading = "ops",       .kind = VALUE_COUNT, .width = 7,  .from = 48, .value = ops_value},
    [BY_BUFFERS] = {.key = "buffers", .heading = "buffers",   .kind = VALUE_COUNT, .width = 9,  .from = 68, .value = buffers_value},
    [BY_BYTES]   = {.key = "bytes",   .heading = "bytes",     .kind = VALUE_BYTES, .width = 15, .from = 88, .value = bytes_value},
    [BY_TRAFFIC] = {.key = "traffic", .heading = "last plan", .kind = VALUE_WORDS, .width = 30, .from = 58, .value = last_value},
    [BY_EXPECT]  = {.key = "expect",  .heading = "expected",  .kind = VALUE_WORDS, .width = 20, .from = 98, .value = expect_value},
};
/* clang-format on */

const struct columns pattern_columns = COLUMNS("patterns on the screen", pattern_array);

struct order {
    const struct pattern *patterns;
    const struct patterns_view *view;
};

static int patterns_compare(const void *a, const void *b, void *context)
{
    const struct order *by = context;
    const struct pattern *p = &by->patterns[*(const int *)a], *q = &by->patterns[*(const int *)b];
    int column = by->view->by.column, sign = by->view->by.descending ? -1 : 1, result = 0;
    bool late = p->facts.refused || p->facts.must_refuse, later = q->facts.refused || q->facts.must_refuse;
    if (late != later) return late ? 1 : -1; /* patterns that can be planned come first */
    if (column != BY_NAME) {
        SCOPED(value_free) struct value v = {0}, w = {0};
        column_value(&pattern_array[column], &(struct pattern_row){NULL, p}, &v);
        column_value(&pattern_array[column], &(struct pattern_row){NULL, q}, &w);
        result = v.is_whole ? (v.whole > w.whole) - (v.whole < w.whole) : strcmp(v.words, w.words);
    }
    if (result == 0 && column != BY_NAME) return *(const int *)a - *(const int *)b;
    return sign * (result ? result : *(const int *)a - *(const int *)b);
}

/* Sorts and filters again, as every result may change the list. The cursor stays on its pattern. */
static void patterns_arrange(struct patterns_view *v, const struct session *s, const char *filter)
{
    struct order by = {s->patterns.at, v};
    int n = (int)s->patterns.count,
        keep = v->list.cursor < v->list.count && v->moved ? v->list.shown[v->list.cursor] : -1;
    v->list.shown = mem_resize(v->list.shown, ((size_t)n + 1) * sizeof *v->list.shown);
    v->list.count = 0;
    for (int i = 0; i < n; i++) {
        const struct pattern *p = &s->patterns.at[i];
        if (has_text(p->shown, filter) || (p->facts.expect && has_text(p->facts.expect, filter)) ||
            (p->facts.refused && has_text("refused", filter)))
            v->list.shown[v->list.count++] = i;
    }
    qsort_r(v->list.shown, (size_t)v->list.count, sizeof *v->list.shown, patterns_compare, &by);
    for (int i = 0; i < v->list.count; i++)
        if (v->list.shown[i] == keep) v->list.cursor = i;
}

/* Names come first: optional columns that would cut them are left out, those of the widest screens before
 * others. */
static struct fitted patterns_fit(struct patterns_view *v, const struct session *s, int room)
{
    int longest = 10; /* the heading */
    for (int i = 0; i < v->list.count; i++) {
        int n = columns_of(s->patterns.at[v->list.shown[i]].shown);
        if (n > longest) longest = n;
    }
    int wanted = longest < room * 2 / 3 ? longest : room * 2 / 3;
    memcpy(v->columns, pattern_array, sizeof pattern_array);
    v->columns[BY_NAME].most = longest;
    struct columns all = {pattern_columns.name, v->columns, PATTERN_COLUMNS};
    struct fitted f = fit_columns(all, room);
    while (f.place[BY_NAME].width < wanted) {
        int drop = -1;
        for (int c = 0; c < PATTERN_COLUMNS; c++)
            if (c != BY_NAME && v->columns[c].heading &&
                (drop < 0 || v->columns[c].from > v->columns[drop].from))
                drop = c;
        if (drop < 0) break;
        v->columns[drop].heading = NULL;
        f = fit_columns(all, room);
    }
    return f;
}

static void patterns_draw(const struct scene *on, void *state, struct box area)
{
    struct patterns_view *v = state;
    struct box list = area;
    patterns_arrange(v, on->session, on->filter);
    struct box summary = box_cut_bottom(&list, area.rows >= 14 ? 3 : area.rows >= 8 ? 1 : 0);
    if (summary.rows > 1) box_cut_top(&summary, 1);
    struct box head = box_cut_top(&list, 1);
    struct fitted f = patterns_fit(v, on->session, box_behind(head, 2).columns);
    sorting_draw_heads(on, box_behind(head, 2), &f, &pattern_columns, &v->by);
    list_show(&v->list, v->list.count, list);
    if (v->list.count == 0) {
        if (on->filter[0])
            put_wrapped_format(on->cells, list, INK(PLAIN), "No pattern matches the filter. %s removes it.",
                               KEY_OF(ESCAPE));
        else
            put_wrapped_format(
                on->cells, list, INK(PLAIN),
                "No patterns here. Start with: lxplan explore FILE or FOLDER, or type %s%s FILE.",
                KEY_OF(COMMAND), request_rows[REQ_OPEN].name);
        return;
    }
    /* The pattern under the cursor in words. */
    const struct pattern *p = &on->session->patterns.at[v->list.shown[v->list.cursor]];
    char text[1200];
    if (p->facts.refused)
        put_wrapped(on->cells, summary, INK(WARN), lx_status_describe(&p->facts.st, text, sizeof text));
    else if (p->is_read) {
        snprintf(text, sizeof text, "%.900s%s%s", p->facts.summary ? p->facts.summary : "",
                 p->facts.target >= 0 ? " Target: " : "",
                 p->facts.target >= 0 ? in_bytes(p->facts.target).at : "");
        put_wrapped(on->cells, summary, INK(DIM), text);
    }
    for (int i = 0; i < list.rows && v->list.top + i < v->list.count; i++) {
        struct box row = {list.row + i, list.column, 1, list.columns};
        p = &on->session->patterns.at[v->list.shown[v->list.top + i]];
        if (on->session->current == v->list.shown[v->list.top + i])
            put(on->cells, row.row, row.column, on->glyphs->mark, INK(KEY));
        put_values(on->cells, box_behind(row, 2), &f, &(struct pattern_row){on, p});
        if (v->list.top + i == v->list.cursor) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
        if (on->search[0] && has_text(p->shown, on->search))
            put_paper(on->cells, (struct box){row.row, row.column + 2, 1, columns_of(p->shown)},
                      INK_ON(MATCH, MATCH));
    }
    /* A cursor mark, for terminals without colours. */
    put(on->cells, list.row + v->list.cursor - v->list.top, list.column + 1, on->glyphs->mark,
        INK_ON(KEY, SELECTED));
}

int pattern_marked(struct explorer *x)
{
    struct patterns_view *v = x->states[VIEW_PATTERNS];
    patterns_arrange(v, &x->session, x->filter[VIEW_PATTERNS]);
    return v->list.cursor < v->list.count ? v->list.shown[v->list.cursor] : -1;
}

static bool patterns_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct patterns_view *v = state;
    patterns_arrange(v, &x->session, x->filter[VIEW_PATTERNS]);
    if (r == REQ_PLAN_ALL) return session_plan_all(&x->session), true;
    if (r != REQ_OPEN || argument) return sorting_request(x, &v->by, &pattern_columns, NULL, r, argument);
    v->moved = true;
    if (v->list.cursor >= v->list.count) return true;
    session_open(&x->session, v->list.shown[v->list.cursor]);
    explorer_show(x, VIEW_MAP);
    return true;
}

/* A click on the head sorts by the next column, behind the last one in reverse. */
static void patterns_click_head(struct explorer *x, void *state, const struct key *k)
{
    const struct patterns_view *v = state;
    (void)k;
    patterns_request(x, state, v->by.column == BY_EXPECT ? REQ_SORT_REVERSE : REQ_SORT_RIGHT, NULL);
}

static void patterns_select_item(struct explorer *x, void *state, int i)
{
    struct patterns_view *v = state;
    (void)x, (void)i;
    v->moved = true;
}

static int patterns_count(struct explorer *x, void *state)
{
    struct patterns_view *v = state;
    patterns_arrange(v, &x->session, x->filter[VIEW_PATTERNS]);
    return v->list.count;
}

const struct view view_patterns = {
    .name = "Patterns",
    .purpose = "the files: size, last result, what is expected",
    .state_size = sizeof(struct patterns_view),
    .hints = {{REQ_OPEN, "open"},
              {REQ_SEARCH, "search"},
              {REQ_FILTER, "filter"},
              {REQ_SORT_RIGHT, "sort"},
              {REQ_PLAN_ALL, "plan all"},
              {REQ_WHAT_IF, "what if"},
              {REQ_BACK, "quit"}},
    .draw = patterns_draw,
    .request = patterns_request,
    .mouse = patterns_click_head,
    .count = patterns_count,
    .items = ITEMS_PATTERNS,
    .is_list = true,
    .sorted_by = &pattern_columns,
    .select = patterns_select_item,
};
