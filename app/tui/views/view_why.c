/* Why, and remedies: of the selected buffer that is off chip, or of the whole plan, the reason, the cost,
 * and every remedy as a row that is filled in when its job ends. <Enter> applies a row. */
#include "tui/core/explorer.h"

#include <string.h>

/* The rows of "why, and remedies": the question (a buffer that is off chip, or the whole plan) and the
 * remedies of planning/remedies.h, each a job. A row that takes long is tried twice: with a short limit,
 * so that all rows have a figure within a second, then with a long one. */

static const struct work why_work;

/* Seconds of processor time for a row, in its first round and in its second. */
static const double limits[] = {0.25, 5};
enum { ROUNDS = sizeof limits / sizeof *limits };

struct why_job {
    struct why_rows *rows; /* of a view */
    struct session *session;
    struct pattern_source *source;
    uint64_t number;
    int round;
    struct remedies of;       /* the question without rows */
    struct remedy it, listed; /* present and previous state */
};

static void why_run(void *data, void *watch)
{
    struct why_job *j = data;
    struct remedy_watch until = {watch_stop, watch, limits[j->round]};
    struct source_content from = source_read(j->source);
    if (from.graph) {
        remedy_try(&j->of, &j->it, from.graph, &until);
    } else
        j->it.state = REMEDY_STOPPED;
    source_content_free(&from);
}

static void why_post(struct why_rows *w, struct session *s, const struct remedy *it, int round)
{
    struct why_job *j = mem_zeroed(1, sizeof *j);
    *j = (struct why_job){.rows = w,
                          .session = s,
                          .source = s->patterns.at[s->current].source,
                          .number = w->number,
                          .round = round,
                          .of = {.plan = lx_plan_ref(w->list.plan),
                                 .asked = w->list.asked,
                                 .name = w->list.name ? mem_string(w->list.name) : NULL,
                                 .presence = w->list.presence},
                          .it = *it,
                          .listed = *it};
    j->it.state = REMEDY_OPEN;
    worker_post(s->worker, &why_work, it->order, j);
}

static void why_sort(struct why_rows *w)
{
    remedies_sort(&w->list);
    w->is_sorted = w->left == 0;
    w->moved = true;
}

static void why_done(void *data, bool stopped)
{
    struct why_job *j = data;
    struct why_rows *w = j->rows;
    struct remedy *row = NULL;
    for (size_t i = 0; j->number == w->number && i < w->list.all.count; i++)
        if (w->list.all.at[i].order == j->it.order) row = &w->list.all.at[i];
    if (!row) return;
    bool had = row->state <= REMEDY_CUT, again = j->it.state == REMEDY_CUT || j->it.state == REMEDY_LARGE;
    if (!had || j->it.state <= REMEDY_CUT) *row = j->it;
    w->left -= j->round == 0;
    if (again && !stopped && j->round + 1 < ROUNDS) why_post(w, j->session, &j->listed, j->round + 1);
    why_sort(w);
}

static void why_release(void *data)
{
    struct why_job *j = data;
    remedies_free(&j->of);
    mem_free(j);
}

static const struct work why_work = {3, why_run, why_done, why_release};

/* Rows of the list with its heading, at least. */
enum { LEAST_ROWS = 4, NARROW = 50 };

struct why_view {
    struct list list;
    struct why_rows rows;
    bool whole;    /* the user selected the whole plan */
    bool chosen;   /* the user moved the cursor: it follows its row; else it is on the best one */
    int row_order; /* of the row under the cursor */
    int visible;   /* rows as drawn last */
};

static int32_t why_selection(const struct session *s)
{
    const struct lx_plan *p = session_plan(s);
    int32_t i = s->selection.buffer;
    return p && i >= 0 && i < p->problem.count && p->answer.address[i] < 0 ? i : -1;
}

/* The row under the cursor. NULL: the user has chosen none, and none helps so far. */
static const struct remedy *why_row(const struct why_view *v)
{
    const struct remedies *r = &v->rows.list;
    if (v->list.cursor < 0 || (size_t)v->list.cursor >= r->all.count) return NULL;
    const struct remedy *it = &r->all.at[v->list.cursor];
    return v->chosen || remedy_helps(r, it) ? it : NULL;
}

/* Requests remedies for the selected buffer, or the whole plan, unless already requested. */
static void why_ask(struct why_view *v, struct session *s)
{
    struct why_rows *w = &v->rows;
    const struct lx_plan *p = session_plan(s);
    int32_t buffer = v->whole ? -1 : why_selection(s);
    if (p && !session_is_stale(s) && !(w->list.plan && w->of == s->got && w->buffer == buffer)) {
        worker_stop(s->worker, &why_work);
        remedies_free(&w->list);
        *w = (struct why_rows){.of = s->got, .buffer = buffer, .number = w->number + 1};
        remedies_list(p, &s->shown.how.options, buffer >= 0 ? p->problem.buffers[buffer].name : NULL,
                      &w->list);
        for (size_t i = 0; i < w->list.all.count; i++) {
            if (w->list.all.at[i].state != REMEDY_OPEN) continue;
            why_post(w, s, &w->list.all.at[i], 0);
            w->left++;
        }
        if (w->left == 0) why_sort(w);
        v->list.cursor = 0, v->chosen = false;
    }
    /* A cursor that the user moved follows its row; else it is on the best one, at the top. */
    if (!v->rows.moved) return;
    v->rows.moved = false;
    for (size_t i = 0; v->chosen && i < v->rows.list.all.count; i++)
        if (v->rows.list.all.at[i].order == v->row_order) v->list.cursor = (int)i;
    if (!v->chosen) v->list.cursor = 0;
}

static void why_shown(struct explorer *x, void *state)
{
    struct why_view *v = state;
    v->whole = false;
    why_ask(v, &x->session);
}

bool why_open(struct explorer *x)
{
    if (why_selection(&x->session) < 0) return false;
    explorer_request(x, REQ_WHY, NULL);
    return true;
}

static void why_draw_buffer(const struct scene *on, const struct lx_plan *p, int32_t i, struct box *area)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    struct text line = {0};
    add_printable(&line, b->name, 60);
    if (area->rows < 5)
        text_format(&line, "  %s, off chip", in_short_bytes(b->size).at);
    else
        text_format(&line, "  %s%s, off chip, ticks %lld to %lld", in_bytes(b->size).at,
                    p->stays ? " per core" : "", (long long)b->start, (long long)b->end - 1);
    if (line.at) box_cut_top(area, put_paragraph(on->cells, *area, INK(TITLE), &line));
    text_add(&line, "why: ");
    add_printable(&line, p->reason[i] ? p->reason[i] : "not known", 0);
    if (line.at) box_cut_top(area, put_paragraph(on->cells, *area, INK(WARN), &line));
    if (on->session->shown.plan == p && on->session->shown.moved)
        text_format(&line, p->stays ? "moves %s of the plan's %s of HBM traffic" : "costs %s of %s in all",
                    in_bytes(on->session->shown.moved[i]).at, grouped(p->figures.hbm_bytes).at);
    else
        text_format(&line, "costs %s of the plan's %s", in_bytes(b->spill_cost).at,
                    grouped(p->figures.hbm_bytes).at);
    if (line.at) box_cut_top(area, put_paragraph(on->cells, *area, INK(BAD), &line));
}

static void why_draw_rows(const struct scene *on, struct why_view *v, struct box area)
{
    struct column columns[REMEDY_COLUMNS];
    int count = (int)v->rows.list.all.count;
    struct box head = box_cut_top(&area, area.rows >= 3);
    memcpy(columns, remedy_columns.at, sizeof columns);
    if (v->rows.list.plan->graph->list)
        columns[REMEDY_COLUMN_DELTA].from = columns[REMEDY_COLUMN_SLOWER].from;
    if (area.columns < NARROW) columns[REMEDY_COLUMN_WHAT].width = 18;
    columns[REMEDY_COLUMN_VALUE].from = 34;
    columns[REMEDY_COLUMN_VALUE].heading = remedy_value_heading(v->rows.list.plan);
    if (!v->rows.list.name) columns[REMEDY_COLUMN_PRESENCE].heading = "";
    struct fitted f =
        fit_columns((struct columns){remedy_columns.name, columns, REMEDY_COLUMNS}, area.columns - 2);
    if (head.rows) put_headings(on->cells, box_behind(head, 2), &f);
    list_show(&v->list, count, area);
    v->visible = area.rows;
    for (int i = 0; i < area.rows && v->list.top + i < count; i++) {
        struct box row = {area.row + i, area.column, 1, area.columns};
        const struct remedy *it = &v->rows.list.all.at[v->list.top + i];
        struct remedy_row data = {&v->rows.list, it};
        struct progress now = worker_progress(on->session->worker, &why_work, it->order);
        put_values(on->cells, box_behind(row, 2), &f, &data);
        if (now.running) put(on->cells, row.row, row.column, on->glyphs->spinner[on->spin & 3], INK(WARN));
        if (it != why_row(v)) continue;
        if (!now.running) put(on->cells, row.row, row.column, on->glyphs->mark, INK(KEY));
        put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
    }
}

/* The row under the cursor, and the progress. */
static void why_draw_foot(const struct scene *on, const struct why_view *v, struct box area)
{
    int count = (int)v->rows.list.all.count;
    if (area.rows < 1 || count == 0) return;
    const struct remedy *it = why_row(v);
    int used = put_text(on->cells, area.row, area.column, area.columns, INK(DIM),
                        it                 ? it->note
                        : v->rows.left > 0 ? "no remedy so far helps"
                                           : "no remedy that was tried helps");
    if (it && it->state <= REMEDY_CUT && !v->rows.list.plan->graph->list)
        put_format(on->cells, area.row, area.column + used, area.columns - used, INK(DIM),
                   "%s%s end to end, now %s", used ? "; " : "", in_micros(it->us).at,
                   in_micros(v->rows.list.plan->figures.end_to_end_us).at);
    /* "12 of 24 tried", "all 24 tried, best first", "6 of 8 tried; 2 not tried: too large" */
    struct text line = {0};
    int tried = 0, large = 0, cancelled = 0;
    for (int i = 0; i < count; i++) {
        enum remedy_state s = v->rows.list.all.at[i].state;
        tried += s != REMEDY_OPEN && s != REMEDY_LARGE && s != REMEDY_STOPPED;
        large += s == REMEDY_LARGE;
        cancelled += s == REMEDY_STOPPED;
    }
    if (tried == count)
        text_format(&line, "all %d tried", count);
    else
        text_format(&line, "%d of %d tried", tried, count);
    if (large) text_format(&line, "; %d not tried: too large", large);
    if (cancelled) text_format(&line, "; %d cancelled", cancelled);
    if (v->rows.is_sorted && tried > 1) text_add(&line, ", best first");
    put_line(on->cells, box_cut_bottom(&area, 1), v->rows.left > 0 ? INK(WARN) : INK(DIM), &line);
}

static void why_draw(const struct scene *on, void *state, struct box area)
{
    struct why_view *v = state;
    const struct lx_plan *p = session_plan(on->session);
    why_ask(v, on->session);
    int rows = (int)v->rows.list.all.count + 10;
    struct box in =
        frame_window(on, "Why, and remedies", p ? rows : 10, area.columns < 150 ? area.columns : 150);
    if (!p || !v->rows.list.plan) {
        frame_no_plan(on, in);
        return;
    }
    struct box foot = box_cut_bottom(&in, in.rows >= 8 ? 2 : 0), words = in;
    if (words.rows > in.rows - LEAST_ROWS) words.rows = in.rows > LEAST_ROWS ? in.rows - LEAST_ROWS : 0;
    int room = words.rows;
    if (v->rows.buffer >= 0)
        why_draw_buffer(on, v->rows.list.plan, v->rows.buffer, &words);
    else {
        struct text line = {0};
        text_add(&line, "the whole plan: ");
        add_value_words(v->rows.list.plan, false, &line);
        if (line.at) box_cut_top(&words, put_paragraph(on->cells, words, INK(TITLE), &line));
        if (v->rows.list.plan->unproved) {
            add_status_words(v->rows.list.plan, &line);
            if (line.at) box_cut_top(&words, put_paragraph(on->cells, words, INK(WARN), &line));
        }
        if (v->rows.list.plan->figures.spill_bytes > 0)
            text_format(&line, "%s would be saved by a scratchpad without limit; %s of %s off chip",
                        in_bytes(v->rows.list.plan->figures.spill_bytes).at,
                        grouped(on->session->shown.off_chip_count).at,
                        counted(v->rows.list.plan->problem.count, "buffer").at);
        else
            text_add(&line, "nothing is spilled: a larger scratchpad saves nothing");
        if (line.at) box_cut_top(&words, put_paragraph(on->cells, words, INK(PLAIN), &line));
    }
    box_cut_top(&in, room - words.rows);
    why_draw_rows(on, v, in);
    why_draw_foot(on, v, foot);
}

static void why_apply(struct explorer *x, struct why_view *v)
{
    const struct remedy *it = why_row(v);
    const char *none = v->rows.left > 0 ? "no remedy so far helps" : "no remedy that was tried helps",
               *why_not = v->visible < 1             ? "no room to show what would be applied"
                          : !it                      ? none
                          : it->state == REMEDY_OPEN ? "it is being tried"
                          : it->state > REMEDY_CUT   ? "there is nothing to apply in this row"
                                                     : NULL;
    if (why_not) {
        explorer_say(x, TONE_WARN, "%s", why_not);
        return;
    }
    struct what_if how = {.options = it->options};
    char what[sizeof it->what];
    memcpy(what, it->what, sizeof what);
    if (!session_change(&x->session, &how)) {
        explorer_say(x, TONE_DIM, "that is set already");
        return;
    }
    x->overlay = VIEW_COUNT;
    explorer_say(x, TONE_GOOD, "applied: %s; %s: undo", what, KEY_OF(UNDO));
}

static bool why_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct why_view *v = state;
    why_ask(v, &x->session);
    switch (r) {
    case REQ_OPEN:
        if (argument) return false;
        why_apply(x, v);
        return true;
    case REQ_WHOLE_PLAN:
        v->whole = !v->whole;
        if (why_selection(&x->session) < 0)
            explorer_say(x, TONE_DIM, "the selected buffer is on chip; %s goes to the next one off chip",
                         KEY_OF(OFF_CHIP));
        why_ask(v, &x->session);
        return true;
    case REQ_OFF_CHIP: v->whole = false; return false;
    case REQ_STOP:
        worker_stop(x->session.worker, &why_work);
        for (size_t i = 0; i < v->rows.list.all.count; i++)
            if (v->rows.list.all.at[i].state == REMEDY_OPEN) v->rows.list.all.at[i].state = REMEDY_STOPPED;
        v->rows.left = 0;
        v->rows.number++;
        why_sort(&v->rows);
        return true;
    default: return false;
    }
}

static int why_count(struct explorer *x, void *state)
{
    struct why_view *v = state;
    why_ask(v, &x->session);
    return (int)v->rows.list.all.count;
}

static const char *why_item(struct explorer *x, void *state, int i)
{
    const struct why_view *v = state;
    (void)x;
    return v->rows.list.all.at[i].what;
}

static void why_select_item(struct explorer *x, void *state, int i)
{
    struct why_view *v = state;
    (void)x;
    v->chosen = true;
    if (i >= 0 && (size_t)i < v->rows.list.all.count) v->row_order = v->rows.list.all.at[i].order;
}

static void why_end(void *state)
{
    struct why_view *v = state;
    remedies_free(&v->rows.list);
}

const struct view view_why = {
    .name = "Why",
    .purpose = "why a buffer is off chip, its cost, and remedies",
    .hints = {{REQ_OPEN, "apply"},
              {REQ_OFF_CHIP, "next off chip"},
              {REQ_WHOLE_PLAN, "whole plan"},
              {REQ_STOP, "cancel"},
              {REQ_UNDO, "undo"},
              {REQ_BACK, "close"}},
    .state_size = sizeof(struct why_view),
    .end = why_end,
    .shown = why_shown,
    .draw = why_draw,
    .request = why_request,
    .count = why_count,
    .item = why_item,
    .is_list = true,
    .select = why_select_item,
};
