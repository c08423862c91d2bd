/* The sweep: HBM bytes or time against the size of the scratchpad, one line per solver, filled in as plans
 * come. The cursor stops at every planned size and at every knee. */
#include "picture/ticks.h"
#include "sweep/sweep_chart.h"
#include "tui/core/explorer.h"

/* A sweep in the background: one job per size, then jobs that search for the knees.
 *
 * The view and every job share it, by a count of users that only the screen's thread changes. Jobs read
 * the lines and the graph, which are constant; the screen's thread keeps the values. */
struct swept {
    struct sweep sweep;
    struct worker *worker;
    struct what_if how; /* its settings; size and solver do not count */
    int pattern;
    int users, left; /* left: jobs of sizes that are posted */
    bool stopped;
};

static const struct work sweep_work;
static void swept_release(struct swept *w);

enum { MOST_SOLVERS = 16 };

struct sweep_job {
    struct swept *of;
    sweep_tasks tasks;
    struct sweep_value *values;
    const struct lx_plan *like; /* a reference */
    bool is_search;
};

static void sweep_job_run(void *data, void *watch)
{
    struct sweep_job *j = data;
    struct lx_run run = {.stop = watch_stop, .context = watch};
    for (size_t i = 0; i < j->tasks.count && !watch_stop(watch); i++) {
        sweep_do(&j->of->sweep, &j->tasks.at[i], &run, &j->like, &j->values[i]);
        if (watch_stop(watch)) j->values[i].state = SWEEP_UNKNOWN; /* not its best result */
    }
}

static void sweep_job_free(void *data)
{
    OWNED struct sweep_job *j = data;
    swept_release(j->of);
    VEC_FREE(&j->tasks);
    lx_plan_free(j->like);
    mem_free(j->values);
}

/* Takes the tasks over. */
static void sweep_job_post(struct swept *w, sweep_tasks *tasks, const struct lx_plan *like, bool is_search)
{
    struct sweep_job *j = mem_zeroed(1, sizeof *j);
    *j = (struct sweep_job){w, *tasks, mem_zeroed(tasks->count + 1, sizeof *j->values), lx_plan_ref(like),
                            is_search};
    w->users++;
    worker_post(w->worker, &sweep_work, tasks->at[0].size, j);
}

/* A job per task; frees the list. */
static void sweep_post_all(struct swept *w, sweep_tasks *all, const struct lx_plan *like, bool is_search)
{
    for (size_t i = 0; i < all->count; i++) {
        sweep_tasks one = {0};
        VEC_PUSH(&one, all->at[i]);
        sweep_job_post(w, &one, like, is_search);
    }
    VEC_FREE(all);
}

static void sweep_post_points(struct swept *w, const struct lx_plan *like)
{
    sweep_tasks all = {0};
    sweep_next(&w->sweep, &all);
    w->left = (int)all.count;
    sweep_post_all(w, &all, like, false);
}

static void sweep_post_searches(struct swept *w, const struct lx_plan *like)
{
    sweep_tasks all = {0};
    sweep_searches(&w->sweep, &all);
    sweep_post_all(w, &all, like, true);
}

static void sweep_job_done(void *data, bool stopped)
{
    struct sweep_job *j = data;
    struct swept *w = j->of;
    for (size_t i = 0; i < j->tasks.count; i++)
        if (j->values[i].state != SWEEP_UNKNOWN) sweep_keep(&w->sweep, &j->tasks.at[i], &j->values[i]);
    w->stopped |= stopped;
    if (j->is_search || --w->left > 0 || w->stopped) return;
    sweep_post_points(w, j->like);
    if (w->left == 0) sweep_post_searches(w, j->like);
}

static const struct work sweep_work = {5, sweep_job_run, sweep_job_done, sweep_job_free};

static void swept_release(struct swept *w)
{
    if (!w || --w->users > 0) return;
    sweep_free(&w->sweep);
    mem_free(w);
}

static bool sweep_job_begin(struct swept *w, struct session *s, const char *range, lx_status *st)
{
    const struct lx_plan *p = session_plan(s);
    struct lx_settings solvers[MOST_SOLVERS];
    sweep_numbers sizes = {0}, none = {0};
    if (lx_graph_pools(p->graph))
        return status_set(st, LX_E_USAGE, "this list states pools with sizes of their own: nothing to sweep");
    enum lx_objective question = lx_asked(lx_settings_ask(&s->now.options), lx_graph_objective(p->graph));
    if (question == LX_HEIGHT)
        return status_set(st, LX_E_USAGE,
                          "the least height does not depend on the scratchpad: nothing to sweep");
    const struct lx_graph *own = p->graph->sharing ? p->graph->sharing : p->graph;
    bool ok = range ? sweep_sizes_read("range", range, SWEEP_STEPS, &sizes, st)
                    : sweep_sizes_own(own, sweep_need(p->graph, &s->now.options), SWEEP_STEPS, &sizes, st);
    /* The solver of the settings, and the quick ones that answer the question. */
    const struct lx_solver *wanted = lx_settings_solver(&s->now.options, question);
    int n = 0;
    solvers[n++] = s->now.options;
    for (int i = (int)s->racers.count - 1; i >= 0 && n < MOST_SOLVERS; i--) {
        const struct lx_solver *other = s->racers.at[i].solver;
        if (other == wanted || (other->caps & (LX_CAN_PROVE | LX_IS_SEEDED)) || !lx_can(other, question))
            continue;
        struct what_if how = s->now;
        settings_take_solver(&how, i);
        solvers[n++] = how.options;
    }
    ok = ok && sweep_begin(&w->sweep, p->graph, solvers, n, &sizes, &none, st);
    if (ok) w->sweep.by_time = p->asks_time;
    VEC_FREE(&sizes);
    return ok;
}

static bool swept_is_new(const struct swept *w, const struct session *s)
{
    struct what_if a = w->how, b = s->now;
    lx_settings_unset(&a.options, LX_OPTION_LX);
    lx_settings_unset(&b.options, LX_OPTION_LX);
    return w->pattern == s->shown_pattern && settings_same(&a, &b);
}

struct sweep_view {
    struct swept *swept;  /* NULL: none */
    int64_t lx;           /* of the cursor; 0: the first one */
    bool by_time, chosen; /* chosen: by a key */
    char range[64];       /* empty: the pattern's own */
    lx_status st;         /* the reason, if there is none */
    struct plot plot;     /* as drawn last */
};

/* Sweeps the open pattern, with the solver of the settings and the quick ones: coarse to
 * fine. Cancels the sweep before. False: see v->st. */
static bool sweep_view_start(struct explorer *x, struct sweep_view *v)
{
    struct session *s = &x->session;
    struct swept *w = mem_zeroed(1, sizeof *w);
    swept_release(v->swept);
    v->swept = NULL;
    worker_stop(s->worker, &sweep_work);
    *w = (struct swept){.worker = s->worker, .how = s->now, .pattern = s->shown_pattern, .users = 1};
    if (!sweep_job_begin(w, s, v->range[0] ? v->range : NULL, &v->st)) {
        swept_release(w);
        return false;
    }
    v->swept = w;
    sweep_post_points(w, session_plan(s));
    return true;
}

static void sweep_view_shown(struct explorer *x, void *state)
{
    struct sweep_view *v = state;
    if (!session_plan(&x->session) || (v->swept && swept_is_new(v->swept, &x->session))) return;
    v->lx = 0;
    sweep_view_start(x, v);
}

static void sweep_view_end(void *state)
{
    struct sweep_view *v = state;
    swept_release(v->swept);
}

static bool sweep_view_is_knee(const struct sweep *s, int64_t lx)
{
    for (size_t l = 0; l < s->lines.count; l++)
        for (int f = 0; f < FIND_COUNT; f++)
            if (s->lines.at[l].found[f].state == SWEEP_PLANNED && s->lines.at[l].found[f].lx == lx)
                return true;
    return false;
}

/* The nearest place of the cursor beyond `lx` in a direction; `lx` itself if there is none. */
static int64_t sweep_view_step_from(const struct sweep *s, int64_t lx, int direction, bool knees_only)
{
    int64_t best = lx;
    bool any = false;
    for (size_t i = 0; i < s->sizes.count + s->lines.count * FIND_COUNT; i++) {
        size_t k = i - s->sizes.count;
        bool is_size = i < s->sizes.count;
        const struct sweep_value *found = is_size ? NULL : &s->lines.at[k / FIND_COUNT].found[k % FIND_COUNT];
        if (is_size ? knees_only : found->state != SWEEP_PLANNED) continue;
        int64_t at = is_size ? s->sizes.at[i] : found->lx;
        if (direction > 0 ? at <= lx : at >= lx) continue;
        if (!any || (direction > 0 ? at < best : at > best)) best = at, any = true;
    }
    return best;
}

/* The value of a line at the cursor; NULL: not planned there. */
static const struct sweep_value *sweep_view_value_at(const struct sweep *s, size_t line, int64_t lx)
{
    const struct sweep_line *l = &s->lines.at[line];
    for (int f = 0; f < FIND_COUNT; f++)
        if (l->found[f].state == SWEEP_PLANNED && l->found[f].lx == lx) return &l->found[f];
    for (size_t i = 0; i < s->sizes.count; i++)
        if (s->sizes.at[i] == lx) return &l->at[i];
    return NULL;
}

/* A solver at the cursor, with its knee. */
static void sweep_view_draw_line(const struct scene *on, struct box row, const struct sweep *s, size_t line,
                                 int64_t lx)
{
    struct text value = {0}, words = {0};
    bool letters = on->glyphs->ascii || on->theme->letters;
    bool briefly = row.columns < 100;
    int name = row.columns >= 60 ? 10 : 8,
        room = row.columns >= 60 ? (briefly ? 18 : 36) : row.columns - name - 3;
    put(on->cells, row.row, row.column + 1, letters ? ' ' : on->glyphs->full,
        (struct style){.ink = tone_of_identity((int32_t)line)});
    put_text(on->cells, row.row, row.column + 3, name - 1, INK(PLAIN), s->lines.at[line].solver);
    const struct sweep_value *v = sweep_view_value_at(s, line, lx);
    if (v && v->state == SWEEP_PLANNED) { /* "13,959,168 B (13.3 MiB)", or "13.31 MiB" */
        double shown = sweep_shown(s, v);
        struct scale bytes = {.unit = SCALE_BYTES};
        struct words words_of = s->by_time       ? in_time(shown * 1e-6)
                                : s->graph->list ? grouped((int64_t)shown)
                                : briefly        ? scale_words(&bytes, shown)
                                                 : in_bytes((int64_t)shown);
        bool least = s->by_time ? v->least_us > 0 && v->us <= v->least_us * (1 + 1e-7) : v->proved;
        text_format(&value, "%s%s", words_of.at, least ? ", least" : "");
    } else
        text_add(&value, v && v->state == SWEEP_REFUSED ? "no plan" : v ? "..." : "-");
    put_text(on->cells, row.row, row.column + 3 + name, room, INK(PLAIN), value.at ? value.at : "");
    int at = 3 + name + room + 1;
    sweep_say(s, &s->lines.at[line], false, &words);
    if (words.at && columns_of(words.at) > row.columns - at) {
        text_free(&words);
        sweep_say(s, &s->lines.at[line], true, &words);
    }
    if (row.columns > at)
        put_text(on->cells, row.row, row.column + at, row.columns - at, INK(KEY), words.at ? words.at : "");
    text_free(&value);
    text_free(&words);
}

static void sweep_view_draw_lines(const struct scene *on, struct box area, const struct sweep *s, int64_t lx)
{
    const struct lx_plan *p = session_plan(on->session);
    struct box head = box_cut_top(&area, 1);
    struct text line = {0};
    text_format(&line, "%s %s", s->graph->list ? "capacity" : "LX",
                sweep_view_is_knee(s, lx) ? in_enough(lx, false).at : in_bytes(lx).at);
    if (sweep_view_is_knee(s, lx)) text_add(&line, ", a knee");
    if (lx == p->problem.capacity)
        text_add(&line, ": the present plan");
    else
        text_format(&line, "; %s plans with it", KEY_OF(OPEN));
    put_line(on->cells, head, INK(TITLE), &line);
    for (int i = 0; i < area.rows && (size_t)i < s->lines.count; i++)
        sweep_view_draw_line(on, (struct box){area.row + i, area.column, 1, area.columns}, s, (size_t)i, lx);
}

/* Highlights the column of a size. */
static void sweep_view_mark(const struct scene *on, const struct plot *p, int64_t lx, struct style style,
                            uint32_t sign)
{
    int row, column;
    if (p->box.rows < 1 || !plot_cell(p, (double)lx, p->y.from, &row, &column)) return;
    put_paper(on->cells, (struct box){p->box.row, column, p->box.rows, 1}, style);
    put(on->cells, p->box.row + p->box.rows, column, sign, INK(PLAYHEAD));
}

static void sweep_view_draw(const struct scene *on, void *state, struct box area)
{
    struct sweep_view *v = state;
    v->plot = (struct plot){0};
    if (!v->swept) {
        if (v->st.text[0])
            put_wrapped_format(on->cells, area, INK(DIM), "%s.", v->st.text);
        else
            put_wrapped_format(on->cells, area, INK(DIM),
                               "%s plans this pattern with many sizes of scratchpad.", KEY_OF(SWEEP_AGAIN));
        return;
    }
    struct sweep *s = &v->swept->sweep;
    if (v->chosen) s->by_time = v->by_time;
    if (v->lx == 0) v->lx = session_plan(on->session)->problem.capacity;
    if (!sweep_view_value_at(s, 0, v->lx)) v->lx = sweep_view_step_from(s, v->lx - 1, 1, false);
    if (!sweep_view_value_at(s, 0, v->lx) && !sweep_view_is_knee(s, v->lx))
        v->lx = s->sizes.at[s->sizes.count - 1];
    int lines = (int)s->lines.count + 1, most = area.rows / 2;
    struct box head = box_cut_top(&area, 1),
               foot = box_cut_bottom(&area, area.rows >= 8 ? (lines < most ? lines : most) : 1);
    const struct swept *w = v->swept;
    int busy = worker_busy(on->session->worker, &sweep_work), all = (int)s->sizes.count;
    struct text progress = {0};
    if (!swept_is_new(w, on->session))
        text_format(&progress, "of other settings; %s sweeps again", KEY_OF(SWEEP_AGAIN));
    else if (w->stopped || (!busy && w->left > 0))
        text_format(&progress, "cancelled; %s sweeps again", KEY_OF(SWEEP_AGAIN));
    else if (busy && w->left > 0)
        text_format(&progress, "%d of %d sizes planned; %s cancels", all - w->left, all, KEY_OF(STOP));
    else if (busy)
        text_add(&progress, "searching for the least size that is enough");
    else
        text_format(&progress, "%s against %s", sweep_value_name(s),
                    s->graph->list ? "capacity" : "the scratchpad (LX) of each core");
    bool settled = swept_is_new(w, on->session) && !w->stopped && !busy && w->left == 0;
    put_line(on->cells, head, settled ? INK(DIM) : INK(WARN), &progress);
    v->plot = sweep_draw(on, area, s, 0);
    sweep_view_mark(on, &v->plot, session_plan(on->session)->problem.capacity, INK_ON(PLAIN, FREE),
                    on->glyphs->bullet);
    sweep_view_mark(on, &v->plot, v->lx, INK_ON(PLAIN, SELECTED), on->glyphs->peak);
    sweep_view_draw_lines(on, foot, s, v->lx);
}

static const struct move {
    enum request request;
    int direction, times; /* times 0: to the end */
    bool knees;
} moves[] = {{REQ_LEFT, -1, 1, false},        {REQ_RIGHT, 1, 1, false},    {REQ_UP, -1, 1, false},
             {REQ_DOWN, 1, 1, false},         {REQ_PAGE_UP, -1, 8, false}, {REQ_PAGE_DOWN, 1, 8, false},
             {REQ_TOP, -1, 0, false},         {REQ_BOTTOM, 1, 0, false},   {REQ_NEXT_ITEM, 1, 1, true},
             {REQ_PREVIOUS_ITEM, -1, 1, true}};

static bool sweep_view_move(struct explorer *x, struct sweep_view *v, enum request r)
{
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        const struct move *m = &moves[i];
        if (m->request != r) continue;
        if (!v->swept) return true;
        for (int k = 0; k < m->times || m->times == 0; k++) {
            int64_t next = sweep_view_step_from(&v->swept->sweep, v->lx, m->direction, m->knees);
            if (next == v->lx) {
                if (m->knees) explorer_say(x, TONE_DIM, "no further knee");
                break;
            }
            v->lx = next;
        }
        return true;
    }
    return false;
}

static bool sweep_view_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct sweep_view *v = state;
    struct what_if how = x->session.now;
    sweep_numbers sizes = {0};
    lx_status st;
    char word[24];
    if (sweep_view_move(x, v, r)) return true;
    switch (r) {
    case REQ_SWEEP_AGAIN:
        if (!sweep_view_start(x, v)) explorer_say(x, TONE_BAD, "%s", v->st.text);
        return true;
    case REQ_SWEEP_VALUE:
        if (v->swept && v->swept->sweep.graph->list)
            explorer_say(x, TONE_DIM, "a list of buffers has no time");
        else if (v->swept)
            v->by_time = !v->swept->sweep.by_time, v->chosen = true;
        return true;
    case REQ_SWEEP_RANGE:
        if (!argument) return false;
        if (!*argument || sweep_sizes_read("range", argument, SWEEP_STEPS, &sizes, &st)) {
            snprintf(v->range, sizeof v->range, "%.60s", argument);
            sweep_view_start(x, v);
        } else
            explorer_say(x, TONE_BAD, "%s", st.text);
        VEC_FREE(&sizes);
        return true;
    case REQ_STOP:
        worker_stop(x->session.worker, &sweep_work);
        if (v->swept) v->swept->stopped = true;
        return true;
    case REQ_OPEN:
        if (argument || !v->swept) return false;
        snprintf(word, sizeof word, "%lld", (long long)v->lx);
        if (!settings_set(&how, SET_LX, word, &st))
            explorer_say(x, TONE_BAD, "%s", st.text);
        else if (session_change(&x->session, &how))
            explorer_say(x, TONE_GOOD, "planning with %s; %s: undo", in_bytes(v->lx).at, KEY_OF(UNDO));
        else
            explorer_say(x, TONE_DIM, "the present plan has this size");
        return true;
    default: return false;
    }
}

/* Hides keys that have no effect. */
static const char *sweep_view_hint_word(struct explorer *x, void *state, const struct hint *h)
{
    const struct sweep_view *v = state;
    const struct lx_plan *p = session_plan(&x->session);
    bool runs = v->swept && !v->swept->stopped && worker_busy(x->session.worker, &sweep_work) > 0;
    bool can_begin = !lx_graph_pools(p->graph) && p->problem.objective != LX_HEIGHT;
    bool begins = h->request == REQ_SWEEP_AGAIN || h->request == REQ_SWEEP_RANGE;
    if (h->request == REQ_STOP) return runs ? h->word : NULL;
    return v->swept || h->request == REQ_BACK || (begins && can_begin) ? h->word : NULL;
}

/* A click sets the cursor to the nearest place, the wheel moves it. */
static void sweep_view_mouse(struct explorer *x, void *state, const struct key *k)
{
    struct sweep_view *v = state;
    if (!v->swept) return;
    if (k->code == AT_WHEEL_UP || k->code == AT_WHEEL_DOWN)
        sweep_view_move(x, v, k->code == AT_WHEEL_UP ? REQ_LEFT : REQ_RIGHT);
    else if (k->code == AT_CLICK && box_holds(&v->plot.box, k->row, k->column)) {
        int64_t at = llround(plot_x(&v->plot, k->column)),
                low = sweep_view_step_from(&v->swept->sweep, at + 1, -1, false),
                high = sweep_view_step_from(&v->swept->sweep, at, 1, false);
        v->lx =
            low <= at && (high <= at || (double)at / (double)low < (double)high / (double)at) ? low : high;
    }
}

const struct view view_sweep = {
    .name = "Sweep",
    .purpose = "HBM bytes or time against the size of the scratchpad",
    .needs_plan = true,
    .state_size = sizeof(struct sweep_view),
    .hints = {{REQ_RIGHT, "more LX"},
              {REQ_OPEN, "plan with it"},
              {REQ_NEXT_ITEM, "knee"},
              {REQ_SWEEP_VALUE, "bytes or time"},
              {REQ_SWEEP_AGAIN, "again"},
              {REQ_SWEEP_RANGE, "other sizes"},
              {REQ_STOP, "cancel"},
              {REQ_BACK, "back"}},
    .end = sweep_view_end,
    .shown = sweep_view_shown,
    .draw = sweep_view_draw,
    .request = sweep_view_request,
    .mouse = sweep_view_mouse,
    .hint_word = sweep_view_hint_word,
};
