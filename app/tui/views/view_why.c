/* Why, and remedies: of the selected buffer that is off chip, or of the whole plan, the reason, the cost,
 * and every remedy as a row that is filled in when its job ends (tui/core/tries.h). <Enter> applies a row, or
 * tries one that was too large. Another question about the same plan keeps the results. */
#include "tui/core/explorer.h"

static const struct work why_work[] = TRIES_WORK;

/* Rows of the list with its heading, at least. */
enum { LEAST_ROWS = 4, NARROW = 50, KEEPS_PLANS_UP_TO = 10000 /* buffers */ };

struct why_view {
    struct list list;
    struct tries rows;
    enum remedy_by by; /* if `by_user` */
    bool by_user;
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

/* The row under the cursor. NULL: the user has chosen none, and it would change nothing. */
static const struct remedy *why_row(const struct why_view *v)
{
    const struct remedies *r = &v->rows.list;
    if (v->list.cursor < 0 || (size_t)v->list.cursor >= r->all.count) return NULL;
    const struct remedy *it = &r->all.at[v->list.cursor];
    return v->chosen || remedy_helps(r, it) || it->state == REMEDY_LARGE ? it : NULL;
}

/* Requests remedies for the selected buffer, or the whole plan, unless already requested. */
static void why_ask(struct why_view *v, struct session *s)
{
    struct tries *w = &v->rows;
    const struct lx_plan *p = session_plan(s);
    int32_t buffer = v->whole ? -1 : why_selection(s);
    if (p && !session_is_stale(s) && !(w->list.plan && w->of == s->got && w->of_what == buffer)) {
        struct tries old = *w;
        tries_stop(w, s);
        *w = (struct tries){.of = s->got, .of_what = buffer, .number = old.number + 1, .work = why_work};
        remedies_list(p, &s->shown.how.options, buffer >= 0 ? p->problem.buffers[buffer].name : NULL,
                      &w->list);
        w->list.keeps = p->problem.count <= KEEPS_PLANS_UP_TO;
        if (v->by_user) w->list.by = v->by;
        if (old.of == w->of) remedies_carry(&w->list, &old.list);
        remedies_free(&old.list);
        tries_begin(w, s, 0);
        v->list.cursor = 0, v->chosen = false;
    }
    /* A cursor that the user moved follows its row; else it is on the best one, at the top. */
    if (!v->rows.moved) return;
    v->rows.moved = false;
    for (size_t i = 0; v->chosen && i < v->rows.list.all.count; i++)
        if (v->rows.list.all.at[i].order == v->row_order) v->list.cursor = (int)i;
    if (!v->chosen) v->list.cursor = 0;
}

void why_try_all(struct explorer *x)
{
    struct why_view *v = x->states[VIEW_WHY];
    v->whole = true;
    why_ask(v, &x->session);
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

static void why_mark_row(const struct scene *on, const void *view, struct box row, int i)
{
    const struct why_view *v = view;
    const struct remedy *it = &v->rows.list.all.at[i];
    bool runs = tries_row_runs(&v->rows, on->session, it);
    if (runs) put(on->cells, row.row, row.column, on->glyphs->spinner[on->spin & 3], INK(WARN));
    if (it != why_row(v)) return;
    if (!runs) put(on->cells, row.row, row.column, on->glyphs->mark, INK(KEY));
    put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
}

static void why_draw_rows(const struct scene *on, struct why_view *v, struct box area)
{
    static const int sorted[REMEDY_BYS] = {REMEDY_COLUMN_VALUE, REMEDY_COLUMN_SLOWER, REMEDY_COLUMN_SYNCS};
    struct tries_table t = {&v->list, &v->rows.list, .least_rows = 2, .mark = why_mark_row, .view = v};
    memcpy(t.columns, remedy_columns.at, sizeof t.columns);
    if (v->rows.list.plan->graph->list)
        t.columns[REMEDY_COLUMN_DELTA].from = t.columns[REMEDY_COLUMN_SLOWER].from;
    if (area.columns < NARROW) t.columns[REMEDY_COLUMN_WHAT].width = 18;
    t.columns[REMEDY_COLUMN_VALUE].from = 34;
    t.columns[REMEDY_COLUMN_VALUE].heading = remedy_value_heading(v->rows.list.plan);
    if (!v->rows.list.name) t.columns[REMEDY_COLUMN_PRESENCE].heading = "";
    t.by.column = sorted[v->rows.list.by];
    v->visible = tries_draw(on, area, &t);
}

/* The row under the cursor, the verdict over all, and the progress. */
static void why_draw_foot(const struct scene *on, const struct why_view *v, struct box area)
{
    const struct remedies *r = &v->rows.list;
    const struct remedy *it = why_row(v);
    struct text line = {0};
    if (area.rows < 1 || r->all.count == 0) return;
    struct box progress = box_cut_bottom(&area, 1), row = box_cut_top(&area, 1);
    if (it && it->state == REMEDY_CUT) text_format(&line, "cut short: %s plans it in full; ", KEY_OF(OPEN));
    if (it) text_add(&line, it->note);
    if (it && it->state <= REMEDY_CUT && !r->plan->graph->list) {
        text_format(&line, "%s%s end to end", line.at ? "; " : "", in_micros(it->us).at);
        text_format(&line, ", now %s", in_micros(r->plan->figures.end_to_end_us).at);
    }
    if (it && it->state == REMEDY_LARGE)
        text_format(&line, "%s%s tries it", line.at ? "; " : "", KEY_OF(OPEN));
    if (line.at) put_line(on->cells, row, INK(DIM), &line);
    add_remedies_verdict(r, &line);
    put_paragraph(on->cells, area, INK(PLAIN), &line);
    /* "12 of 24 tried", "all 24 tried, 2 being improved, fewest bytes first" */
    static const char *const first[REMEDY_BYS] = {"fewest bytes", "fastest", "fewest syncs"};
    int better = tries_running(&v->rows, on->session);
    add_remedies_tried(r, &line);
    if (v->rows.left == 0 && better) text_format(&line, ", %d being improved", better);
    if (v->rows.is_sorted && !better) text_format(&line, ", %s first", first[r->by]);
    put_line(on->cells, progress, v->rows.left > 0 || better ? INK(WARN) : INK(DIM), &line);
}

static void why_draw(const struct scene *on, void *state, struct box area)
{
    struct why_view *v = state;
    const struct lx_plan *p = session_plan(on->session);
    why_ask(v, on->session);
    int rows = (int)v->rows.list.all.count + 12;
    struct box in =
        frame_window(on, "Why, and remedies", p ? rows : 10, area.columns < 150 ? area.columns : 150);
    if (!p || !v->rows.list.plan) {
        if (p && session_is_stale(on->session))
            put_wrapped(on->cells, in, INK(PLAIN),
                        "A better plan is being looked for; remedies are tried once it is settled.");
        else
            frame_no_plan(on, in);
        return;
    }
    struct box foot = box_cut_bottom(&in, in.rows >= 14 ? 4 : in.rows >= 8 ? 2 : 0), words = in;
    if (words.rows > in.rows - LEAST_ROWS) words.rows = in.rows > LEAST_ROWS ? in.rows - LEAST_ROWS : 0;
    int room = words.rows;
    if (v->rows.of_what >= 0)
        why_draw_buffer(on, v->rows.list.plan, v->rows.of_what, &words);
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
    if (v->rows.list.compulsory) {
        put_wrapped_format(
            on->cells, in, INK(PLAIN),
            "Compulsory: every plan moves these bytes, and this one moves them once. Nothing can "
            "help. %s goes to the next buffer off chip, %s asks about the whole plan.",
            KEY_OF(OFF_CHIP), KEY_OF(WHOLE_PLAN));
        return;
    }
    why_draw_rows(on, v, in);
    why_draw_foot(on, v, foot);
}

static void why_apply(struct explorer *x, struct why_view *v)
{
    const struct remedy *it = why_row(v);
    struct text none = {0};
    add_remedies_tried(&v->rows.list, &none);
    const char *why_not = v->visible < 1 ? "no room to show what would be applied"
                          : !it          ? none.at
                                         : tries_first(&v->rows, &x->session, v->list.cursor);
    if (!why_not && it->state > REMEDY_CUT) why_not = "there is nothing to apply in this row";
    if (why_not) explorer_say(x, TONE_WARN, "%s", why_not);
    text_free(&none);
    if (why_not) return;
    if (tries_take(x, it, "applied")) x->overlay = VIEW_COUNT;
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
    case REQ_STOP: tries_cancel(&v->rows, &x->session); return true;
    case REQ_SORT_RIGHT:
    case REQ_SORT_LEFT:
        if (!v->rows.list.plan || v->rows.list.plan->graph->list) return false;
        v->by = (v->rows.list.by + (r == REQ_SORT_RIGHT ? 1 : REMEDY_BYS - 1)) % REMEDY_BYS;
        v->by_user = true;
        v->rows.list.by = v->by;
        tries_sort(&v->rows);
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

static const struct why_view why_initial = {.rows = {.work = why_work}};

const struct view view_why = {
    .name = "Why",
    .purpose = "why a buffer is off chip, its cost, and remedies",
    .hints = {{REQ_OPEN, "apply"},
              {REQ_OFF_CHIP, "next off chip"},
              {REQ_WHOLE_PLAN, "whole plan"},
              {REQ_SORT_RIGHT, "sort"},
              {REQ_PARETO, "bytes and time"},
              {REQ_STOP, "cancel"},
              {REQ_UNDO, "undo"},
              {REQ_BACK, "close"}},
    .state_size = sizeof(struct why_view),
    .initial = &why_initial,
    .end = why_end,
    .shown = why_shown,
    .draw = why_draw,
    .request = why_request,
    .count = why_count,
    .item = why_item,
    .is_list = true,
    .select = why_select_item,
};
