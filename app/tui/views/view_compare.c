/* Plans side by side on the open pattern: the present one, a pinned one, plan files, and every solver,
 * raced in the background. Two of them are drawn next to each other with their differences. */
#include "tui/views/compared.h"

enum { LEAST_PANE = 6, MARKS = 4 };

/* The pane below the rows. By itself: curves during a race, then maps with the differences below them. */
enum pane { PANE_ITSELF, PANE_MAPS, PANE_LINES, PANE_CURVES, PANE_COUNT };

static const char *const pane_names[] = {[PANE_ITSELF] = "maps, and curves during a race",
                                         [PANE_MAPS] = "two maps",
                                         [PANE_LINES] = "differences, byte by byte",
                                         [PANE_CURVES] = "best and bound over time"};

struct compare_view {
    struct list list;
    struct rivals rows; /* as they were drawn last: sorted */
    int sort;           /* column; -1: unsorted */
    bool reversed;
    bool moved; /* by the user; until then the cursor goes to the winner */
    bool has_left;
    struct rival left; /* kind and number count */
    enum pane pane;
    int top; /* of the differences */
    struct compare_window window;
    struct comparison comparison;
    uint64_t race;       /* of the present cursor */
    uint64_t files_read; /* the same */
};

static void compare_end(void *state)
{
    struct compare_view *v = state;
    comparison_free(&v->comparison);
}

static bool compare_same(const struct rival *a, const struct rival *b)
{
    return a->kind == b->kind && a->number == b->number;
}

static int compare_row_of(const struct compare_view *v, const struct rival *r)
{
    for (int i = 0; i < v->rows.count; i++)
        if (compare_same(&v->rows.at[i], r)) return i;
    return -1;
}

/* Gathers the rows again, as they may have changed. The cursor stays on its rival, or goes to the winner
 * of a new race. */
static void compare_gather(struct compare_view *v, const struct session *s)
{
    struct rival here = {0};
    bool had = v->list.cursor < v->rows.count;
    if (had) here = v->rows.at[v->list.cursor];
    v->rows = rivals_of(s);
    for (int i = 1; v->sort >= 0 && i < v->rows.count; i++)
        for (int k = i; k > 0; k--) {
            int c = compare_rivals(&v->rows.at[k - 1], &v->rows.at[k], v->sort);
            bool both = v->rows.at[k - 1].outcome->plan && v->rows.at[k].outcome->plan;
            if ((v->reversed && both ? -c : c) <= 0) break;
            struct rival t = v->rows.at[k];
            v->rows.at[k] = v->rows.at[k - 1];
            v->rows.at[k - 1] = t;
        }
    int winner = session_winner(s);
    if (v->race != s->race) v->moved = false, v->race = s->race;
    if (!v->moved && winner >= 0) here = (struct rival){.kind = RIVAL_RACER, .number = winner}, had = true;
    if (v->files_read != s->files_read) { /* a new file is selected */
        v->files_read = s->files_read;
        here = (struct rival){.kind = RIVAL_FILE, .number = s->file_last};
        had = v->moved = true;
    }
    int at = had ? compare_row_of(v, &here) : 0;
    v->list.cursor = at < 0 ? 0 : at;
}

/* The row on the left: the marked one, or A, or the present plan. */
static const struct rival *compare_left_of(const struct compare_view *v)
{
    struct rival pinned = {.kind = RIVAL_PINNED}, now = {.kind = RIVAL_NOW};
    int at = v->has_left ? compare_row_of(v, &v->left) : -1;
    if (at < 0) at = compare_row_of(v, &pinned);
    if (at < 0) at = compare_row_of(v, &now);
    return at >= 0 && v->rows.at[at].outcome->plan ? &v->rows.at[at] : NULL;
}

static void compare_draw_row(const struct scene *on, const struct compare_view *v, const struct fitted *f,
                             struct box row, int i)
{
    const struct session *s = on->session;
    const struct rival *r = &v->rows.at[i];
    struct progress now = rival_progress(s, r);
    struct cells *g = on->cells;
    bool wins = r->kind == RIVAL_RACER && session_wins(s, r->number);
    if (r == compare_left_of(v)) put(g, row.row, row.column, 'L', INK(KEY));
    if (i == v->list.cursor) put(g, row.row, row.column + 1, 'R', INK(KEY));
    if (wins) put(g, row.row, row.column + 2, '*', (struct style){TONE_GOOD, 0, MARK_BOLD});
    struct racer_row data = {on, r, r->outcome->plan, wins};
    struct box at = box_behind(row, MARKS);
    put_value(g, at, f, SOLVER, &data);
    int words = at.column + f->place[SOLVER].width + 2, room = row.column + row.columns - words - 2;
    if (now.running && r->kind == RIVAL_RACER) {
        struct lx_progress best = now.so_far;
        best.objective = curve_best(&now.curve);
        best.bound = curve_bound(&now.curve);
        put(g, row.row, words, on->glyphs->spinner[on->spin & 3], INK(WARN));
        put_text(g, row.row, words + 2, room, INK(WARN), progress_words(now.seconds, &best).at);
    } else if (now.waiting)
        put_text(g, row.row, words, 20, INK(DIM), "queued");
    else if (r->outcome->plan)
        put_values(g, at, f, &data);
    else if (r->outcome->st.code != LX_OK)
        put_text(g, row.row, words, room, INK(BAD), r->outcome->st.text);
    if (i == v->list.cursor) put_paper(g, row, INK_ON(PLAIN, SELECTED));
}

/* Curves of a race, or of planning. */
static bool compare_has_curves(const struct scene *on, const struct compare_view *v)
{
    for (int i = 0; i < v->rows.count; i++) {
        const struct rival *r = &v->rows.at[i];
        bool counts = r->kind == RIVAL_RACER || rival_progress(on->session, r).running;
        if (counts && rival_curve(on->session, r).count > 0) return true;
    }
    return false;
}

static void compare_draw_pane(const struct scene *on, struct compare_view *v, struct box area)
{
    const struct rival *left = compare_left_of(v), *right = &v->rows.at[v->list.cursor];
    bool both = left && right->outcome->plan,
         alone = left && compare_same(left, right) && session_winner(on->session) < 0,
         race = worker_busy(on->session->worker, &race_work) || !both || alone;
    enum pane pane = v->pane != PANE_ITSELF ? v->pane : race ? PANE_CURVES : PANE_MAPS;
    if (pane == PANE_CURVES ? v->pane == PANE_ITSELF && !compare_has_curves(on, v) : !both) {
        put_wrapped_format(
            on->cells, area, INK(DIM),
            "%s races all solvers on this pattern.\n%s pins this plan as A; %s%s FILE adds a plan file.\n%s "
            "and %s choose the plan on the right, %s the one on the left, and %s plans with a solver.",
            KEY_OF(RACE), KEY_OF(PIN), KEY_OF(COMMAND), request_rows[REQ_OPEN_PLAN].name, KEY_OF(DOWN),
            KEY_OF(UP), KEY_OF(MARK), KEY_OF(OPEN));
        return;
    }
    if (pane == PANE_CURVES) {
        compare_curves_draw(on, area, &v->rows, v->list.cursor);
        return;
    }
    struct box lines = box_cut_bottom(&area, pane == PANE_LINES ? area.rows
                                             : area.rows >= 24  ? 8
                                             : area.rows >= 14  ? 4
                                                                : 1);
    compare_lines_draw(on, lines, left, right, &v->comparison, &v->top);
    if (area.rows > 1) compare_maps_draw(on, area, left, right, &v->comparison, &v->window);
}

static void compare_draw(const struct scene *on, void *state, struct box area)
{
    struct compare_view *v = state;
    const struct session *s = on->session;
    compare_gather(v, s);
    int n = v->rows.count, most = area.rows - 2 - LEAST_PANE;
    struct box list = area, chart = {0};
    struct box pane = box_cut_bottom(&list, area.rows - (n < most ? n : most > 2 ? most : n) - 2);
    if (pane.rows < LEAST_PANE) list = area, pane.rows = 0;
    if (area.columns >= 170 && list.rows >= 8) chart = box_cut_right(&list, area.columns - 124);
    struct box head = box_cut_top(&list, 1);
    struct fitted f = fit_columns(racer_columns, box_behind(head, MARKS).columns);
    const struct lx_plan *p = session_plan(on->session);
    int32_t selected = on->session->selection.buffer;
    struct box at = box_behind(head, MARKS);
    const char *what = p->problem.objective == LX_HEIGHT ? "height " : p->graph->list ? "cost " : NULL;
    for (size_t i = 0; i < f.of.count; i++)
        put_heading(on->cells, at, &f, i, (int)i == v->sort ? INK(KEY) : INK(DIM),
                    i == TRAFFIC && what ? what : f.of.at[i].heading);
    if (selected >= 0)
        put_heading(on->cells, at, &f, SELECTED, INK(TITLE), p->problem.buffers[selected].name);
    list_show(&v->list, n, list);
    for (int i = 0; i < list.rows && v->list.top + i < n; i++)
        compare_draw_row(on, v, &f, (struct box){list.row + i, list.column, 1, list.columns},
                         v->list.top + i);
    if (chart.columns > 0 && compare_has_curves(on, v))
        compare_curves_draw(on, chart, &v->rows, v->list.cursor);
    struct what_if raced = s->now; /* without the solver */
    settings_take_solver(&raced, 0);
    if (session_winner(s) >= 0 && !settings_same(&raced, &s->race_by) && pane.rows > 2) {
        struct box warn = box_cut_top(&pane, 1);
        put_format(on->cells, warn.row, warn.column, warn.columns, INK(WARN),
                   "results of other settings; %s races again", KEY_OF(RACE));
    }
    if (pane.rows > 0) compare_draw_pane(on, v, pane);
}

/* Around the middle of the selected buffer in the present plan. */
static void compare_zoom(struct explorer *x, struct compare_view *v, double factor)
{
    const struct session *s = &x->session;
    const struct outcome *o = &s->shown;
    struct compare_window *w = &v->window;
    double span = (double)max_i64(o->time.last - o->time.first, 1),
           top = (double)max_i64(o->index.bands.top, 1);
    if (w->to <= w->from) *w = (struct compare_window){0, 1, 0, 1};
    double tick = ((double)(s->selection.tick - o->time.first) + 0.5) / span;
    double address = ((double)s->selection.address + 0.5) / top;
    double length = fmin(1, (w->to - w->from) * factor), height = fmin(1, (w->high - w->low) * factor);
    if (length < 1e-6) return;
    w->from = fmax(0, fmin(1 - length, tick - length / 2));
    w->to = w->from + length;
    w->low = fmax(0, fmin(1 - height, address - height / 2));
    w->high = w->low + height;
    if (length >= 1 && height >= 1) *w = (struct compare_window){0};
}

static void compare_pan(struct compare_view *v, double time, double address)
{
    struct compare_window *w = &v->window;
    double length = w->to - w->from, height = w->high - w->low;
    if (length <= 0) return;
    w->from = fmax(0, fmin(1 - length, w->from + time * length / 4));
    w->low = fmax(0, fmin(1 - height, w->low + address * height / 4));
    w->to = w->from + length;
    w->high = w->low + height;
}

static void compare_sort_by(struct explorer *x, struct compare_view *v, int column)
{
    v->reversed = column == v->sort && !v->reversed;
    v->sort = column;
    v->moved = true;
    explorer_say(x, TONE_PLAIN, "sorted by %s%s", column < 0 ? "kind" : racer_columns.at[column].key,
                 v->reversed ? ", reversed" : "");
}

static void compare_take(struct explorer *x, const struct rival *r)
{
    struct what_if how = x->session.now;
    if (r->kind == RIVAL_NOW && why_open(x)) return;
    if (r->kind != RIVAL_RACER) {
        explorer_say(x, TONE_DIM,
                     r->kind == RIVAL_NOW ? "this is the present plan" : "open its file to use this plan");
        return;
    }
    settings_take_solver(&how, r->number);
    if (session_change(&x->session, &how))
        explorer_say(x, TONE_GOOD, "planning with %s; %s saves the plan, %s: undo", r->name, KEY_OF(SAVE),
                     KEY_OF(UNDO));
    else if (!why_open(x))
        explorer_say(x, TONE_DIM, "the present plan is by this solver");
}

static bool compare_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct compare_view *v = state;
    int32_t m = session_plan(&x->session)->problem.count, step = r == REQ_NEXT_ITEM ? 1 : m - 1;
    compare_gather(v, &x->session);
    const struct rival *here = &v->rows.at[v->list.cursor];
    switch (r) {
    case REQ_EDGES: x->session.selection.by_edges = !x->session.selection.by_edges; return true;
    case REQ_MARK:
        v->has_left = !(v->has_left && compare_same(&v->left, here));
        v->left = *here;
        return true;
    case REQ_PANE:
        v->pane = (enum pane)((v->pane + 1) % PANE_COUNT);
        v->top = 0;
        explorer_say(x, TONE_PLAIN, "below: %s", pane_names[v->pane]);
        return true;
    case REQ_ZOOM_IN: return compare_zoom(x, v, 0.5), true;
    case REQ_ZOOM_OUT: return compare_zoom(x, v, 2), true;
    case REQ_ZOOM_ALL: return v->window = (struct compare_window){0}, true;
    case REQ_PAN_LEFT:
    case REQ_PAN_RIGHT: return compare_pan(v, r == REQ_PAN_LEFT ? -1 : 1, 0), true;
    case REQ_PAN_DOWN:
    case REQ_PAN_UP:
        if (v->pane == PANE_LINES)
            return v->top = v->top + (r == REQ_PAN_UP ? (v->top < 5 ? -v->top : -5) : 5), true;
        return compare_pan(v, 0, r == REQ_PAN_DOWN ? -1 : 1), true;
    case REQ_SORT:
        for (int i = 0; i < RACER_COLUMNS; i++)
            if (strcmp(racer_columns.at[i].key, argument ? argument : "") == 0)
                return compare_sort_by(x, v, i), true;
        explorer_say(x, TONE_BAD, "there is no column \"%s\" here", argument ? argument : "");
        return true;
    case REQ_SORT_RIGHT: return compare_sort_by(x, v, v->sort + 1 < RACER_COLUMNS ? v->sort + 1 : -1), true;
    case REQ_SORT_LEFT: return compare_sort_by(x, v, v->sort >= 0 ? v->sort - 1 : RACER_COLUMNS - 1), true;
    case REQ_OPEN:
        if (argument) return false;
        return compare_take(x, here), true;
    case REQ_NEXT_ITEM:
    case REQ_PREVIOUS_ITEM:
        if (m > 0) session_select_buffer(&x->session, (x->session.selection.buffer + step + m) % m);
        return true;
    default: return false;
    }
}

static int compare_count(struct explorer *x, void *state)
{
    struct compare_view *v = state;
    compare_gather(v, &x->session);
    return v->rows.count;
}

static const char *view_compare_item(struct explorer *x, void *state, int i)
{
    (void)x;
    return ((struct compare_view *)state)->rows.at[i].name;
}

/* The user has moved the cursor: it stays there. */
static void compare_select_row(struct explorer *x, void *state, int i)
{
    struct compare_view *v = state;
    (void)x;
    v->list.cursor = i;
    v->moved = true;
}

/* The effect of <Enter> on this row; plans to compare with have none. */
static const char *compare_hint_word(struct explorer *x, void *state, const struct hint *h)
{
    const struct compare_view *v = state;
    if (h->request != REQ_OPEN || v->list.cursor >= v->rows.count) return h->word;
    const struct rival *r = &v->rows.at[v->list.cursor];
    struct what_if how = x->session.now;
    if (r->kind == RIVAL_RACER) settings_take_solver(&how, r->number);
    if (r->kind == RIVAL_RACER && !settings_same(&how, &x->session.now)) return h->word;
    bool is_now = r->kind == RIVAL_NOW || r->kind == RIVAL_RACER;
    int32_t i = x->session.selection.buffer;
    return is_now && i >= 0 && session_plan(&x->session)->answer.address[i] < 0 ? "why off chip" : NULL;
}

static const struct compare_view compare_initial = {.sort = -1};

const struct view view_compare = {
    .name = "Compare",
    .purpose = "plans side by side: solvers, a pinned plan, plan files",
    .needs_plan = true,
    .state_size = sizeof(struct compare_view),
    .initial = &compare_initial,
    .end = compare_end,
    .hints = {{REQ_RACE, "race"},
              {REQ_STOP, "cancel"},
              {REQ_OPEN, "use this solver"},
              {REQ_MARK, "left"},
              {REQ_PIN, "pin A"},
              {REQ_PANE, "below"},
              {REQ_ZOOM_IN, "zoom"},
              {REQ_SORT_RIGHT, "sort"},
              {REQ_BACK, "back"}},
    .hint_word = compare_hint_word,
    .draw = compare_draw,
    .request = compare_request,
    .count = compare_count,
    .item = view_compare_item,
    .is_list = true,
    .select = compare_select_row,
};
