/* Requests that the view on top does not answer. */
#include "export/nest_words.h"
#include "tui/team/team_picture.h"

static void acts_set(struct explorer *x, const char *value, int setting, int unused)
{
    struct what_if how = x->session.now;
    lx_status st = {0};
    char words[1200];
    (void)unused;
    if (!settings_set(&how, setting, value, &st))
        explorer_say(x, TONE_BAD, "%s", lx_status_describe(&st, words, sizeof words));
    else if (!session_change(&x->session, &how))
        explorer_say(x, TONE_DIM, "%s is that already", settings_row(setting).name);
}

static void acts_step(struct explorer *x, const char *argument, int setting, int direction)
{
    struct what_if how = x->session.now;
    (void)argument;
    if (!settings_step(&how, setting, direction, session_actual(&x->session, setting)))
        explorer_say(x, TONE_WARN, "%s cannot go further", settings_row(setting).name);
    else if (session_change(&x->session, &how)) {
        SCOPED(text_free) struct text value = {0};
        settings_show(&how, setting, &value);
        explorer_say(x, TONE_PLAIN, "%s: %s (%s: undo)", settings_row(setting).name, value.at ? value.at : "",
                     KEY_OF(UNDO));
    }
}

/* "cores 16" of `:set cores 16`. */
static void acts_set_named(struct explorer *x, const char *argument)
{
    char name[40];
    size_t n = strcspn(argument, " ="), blanks = strspn(argument + n, " =");
    snprintf(name, sizeof name, "%.*s", (int)(n < 39 ? n : 39), argument);
    int setting = lx_settings_find(name);
    if (setting < 0)
        explorer_say(x, TONE_BAD, "there is no setting \"%s\"; %s shows all of them", name, KEY_OF(WHAT_IF));
    else
        acts_set(x, argument + n + blanks, setting, 0);
}

/* Shows a page; opens or closes a panel. */
static void acts_show(struct explorer *x, const char *argument, int view, int by)
{
    (void)argument, (void)by;
    if (view < PAGE_COUNT) {
        explorer_show(x, (enum view_id)view);
        return;
    }
    if (view == VIEW_HELP && x->overlay != VIEW_HELP) x->asked = explorer_top(x);
    x->overlay = (int)x->overlay == view ? VIEW_COUNT : (enum view_id)view;
    if (x->overlay != VIEW_COUNT && all_views[view]->shown) all_views[view]->shown(x, x->states[view]);
}

static void acts_open(struct explorer *x, const char *name)
{
    struct session *s = &x->session;
    lx_status st;
    size_t i = 0;
    if (!name) return; /* <Enter> where it means nothing */
    while (i < s->patterns.count && strcmp(s->patterns.at[i].shown, name) != 0 &&
           strcmp(s->patterns.at[i].path, name) != 0)
        i++;
    bool added = i == s->patterns.count;
    if (added && !session_add(s, name, &st)) {
        explorer_say(x, TONE_BAD, "%s: %s", name, st.text);
        return;
    }
    session_open(s, (int)(added ? s->patterns.count - 1 : i));
    explorer_show(x, VIEW_MAP);
}

/* The next buffer that is off chip, most expensive first. */
static void acts_next_off_chip(struct explorer *x)
{
    struct session *s = &x->session;
    const struct outcome *o = &s->shown;
    int at = -1;
    if (!session_plan(s) || o->off_chip_count == 0) {
        explorer_say(x, TONE_GOOD, "nothing is off chip");
        return;
    }
    for (int i = 0; i < o->off_chip_count; i++)
        if (o->off_chip[i] == s->selection.buffer) at = i;
    session_select_buffer(s, o->off_chip[(at + 1) % o->off_chip_count]);
    session_show_buffer(s);
}

/* The buffers on chip at the fullest tick, largest first: a filter of the table. */
static void acts_at_peak(struct explorer *x)
{
    struct session *s = &x->session;
    if (!session_plan(s)) return;
    session_point(s, s->shown.time.peak_tick, s->selection.address);
    explorer_show(x, VIEW_BUFFERS);
    snprintf(x->filter[VIEW_BUFFERS], sizeof x->filter[0], "@%lld", (long long)s->shown.time.peak_tick);
    view_request(x, VIEW_BUFFERS, REQ_SORT, "bytes");
    double padding = plan_padding_at(&s->shown.index, s->shown.time.peak_tick);
    explorer_say(x, TONE_PLAIN, "tick %lld is the fullest: %s of %s in use, %s of it padding (%s: all)",
                 (long long)s->shown.time.peak_tick, in_short_bytes(s->shown.time.peak).at,
                 in_short_bytes(session_plan(s)->problem.capacity).at, in_percent(padding).at,
                 KEY_OF(ESCAPE));
}

static void acts_say_iteration(struct explorer *x, int32_t nest)
{
    const struct lx_plan *p = session_plan(&x->session);
    SCOPED(text_free) struct text line = {0};
    add_iteration_words(p, &p->nests[nest], session_iteration(&x->session, nest), &line);
    text_add(&line, " (");
    add_nest_title(p, nest, &line);
    text_add(&line, ")");
    explorer_say(x, TONE_PLAIN, "%s", line.at);
}

/* An iteration of the nest at the cursor: by its number, or the next or previous one of the innermost or
 * `outer`most loop. The first iteration comes after the last. */
static void acts_iterate(struct explorer *x, const char *number, int outer, int by)
{
    const struct lx_plan *p = session_plan(&x->session);
    int32_t nest = session_nest(&x->session);
    if (!p || p->nest_count == 0) {
        explorer_say(x, TONE_DIM, "this plan has no nests");
        return;
    }
    if (nest < 0) {
        explorer_say(x, TONE_DIM, "tick %lld is in no nest; %s goes to the next one",
                     (long long)x->session.selection.tick, KEY_OF(NEXT_NEST));
        return;
    }
    const struct lx_nest *n = &p->nests[nest];
    char *end = NULL;
    int64_t count = nest_iterations(n), step = outer ? count / n->tiles[0] : 1,
            to = number ? strtoll(number, &end, 10) - 1 : session_iteration(&x->session, nest) + by * step;
    if (number && (end == number || *end || to < 0 || to >= count)) {
        explorer_say(x, TONE_BAD, "\"%s\" is no iteration of this nest: they go from 1 to %s", number,
                     grouped(count).at);
        return;
    }
    x->session.selection.iteration = (to % count + count) % count;
    acts_say_iteration(x, nest);
}

/* From the cursor to the next or previous nest, around the ends of the plan. */
static void acts_go_to_nest(struct explorer *x, const char *argument, int what, int by)
{
    const struct lx_plan *p = session_plan(&x->session);
    (void)argument, (void)what;
    if (!p || p->nest_count == 0) {
        explorer_say(x, TONE_DIM, "this plan has no nests");
        return;
    }
    int64_t tick = x->session.selection.tick;
    int32_t nest = plan_nest_at(p, tick), n = p->nest_count;
    bool between = nest < 0;
    for (int32_t i = 0; between && i < n && p->nests[i].first <= tick; i++) nest = i;
    nest = ((between && by < 0 ? nest : nest + by) + n) % n;
    session_select_op(&x->session, p->nests[nest].first);
    session_show_buffer(&x->session);
    acts_say_iteration(x, nest);
}

/* In the list of patterns: the plan file under the cursor. */
static void acts_pin(struct explorer *x)
{
    int marked = explorer_top(x) == VIEW_PATTERNS ? pattern_marked(x) : -1;
    if (marked >= 0 && x->session.patterns.at[marked].facts.is_plan) {
        session_hold_file(&x->session, x->session.patterns.at[marked].path);
        explorer_say(x, TONE_GOOD, "%s shows this plan beside others", KEY_OF(COMPARE));
    } else if (session_pin(&x->session))
        explorer_say(x, TONE_GOOD, "pinned as A; %s shows it beside others", KEY_OF(COMPARE));
    else
        explorer_say(x, TONE_WARN, "there is no plan to pin");
}

static void acts_set_dims(struct explorer *x, const char *dims)
{
    struct session *s = &x->session;
    lx_status st = {0};
    if (s->current < 0) return;
    if (!source_set_dims(s->patterns.at[s->current].source, dims, &st))
        explorer_say(x, TONE_BAD, "%s", st.text);
    else
        session_reload(s, s->current);
}

/* Without a name the next theme. */
static void acts_set_theme(struct explorer *x, const char *name)
{
    const struct theme *t = name ? theme_find(name) : x->theme[1].name ? x->theme + 1 : themes;
    lx_status st;
    if (!t) {
        theme_unknown(name, &st);
        explorer_say(x, TONE_BAD, "%s", st.text);
        return;
    }
    x->theme = t;
    x->redraw_all = true;
    if (!name) explorer_say(x, TONE_PLAIN, "theme %s: %s", t->name, t->help);
}

static void acts_run_on(struct explorer *x, const char *machine)
{
    session_run(&x->session, machine);
    explorer_say(x, TONE_PLAIN,
                 "running on %.20s; %s has its results, %s the times beside the predicted ones", machine,
                 KEY_OF(RUN), KEY_OF(TIMELINE));
}

/* "graph <F2>" of `:bind graph <F2>`; without keys the default ones return. */
static void acts_bind(struct explorer *x, const char *argument)
{
    char name[40];
    size_t n = strcspn(argument, " ");
    lx_status st;
    snprintf(name, sizeof name, "%.*s", (int)(n < 39 ? n : 39), argument);
    enum request r = request_find(name);
    if (r == REQ_COUNT)
        explorer_say(x, TONE_BAD, "there is no request \"%s\"; %s lists all of them", name, KEY_OF(HELP));
    else if (!request_bind(r, argument + n + strspn(argument + n, " "), &st))
        explorer_say(x, TONE_BAD, "%s", st.text);
    else
        explorer_say(x, TONE_GOOD, "%s: %s", request_rows[r].name, request_keys(r));
}

/* Requests with short effects; `by`: a direction. */
static void acts_at_once(struct explorer *x, const char *argument, int request, int by)
{
    struct session *s = &x->session;
    if (request == REQ_COMMAND) prompt_open(x, ':', "");
    if (request == REQ_NEXT_VIEW)
        explorer_show(x, (enum view_id)(((int)x->view + by + PAGE_COUNT) % PAGE_COUNT));
    if (request == REQ_NEXT_ITEM) session_select_op(s, s->selection.op + by);
    if (request == REQ_GOTO && !session_goto(s, argument))
        explorer_say(x, TONE_BAD, "no buffer or op is called \"%s\"", argument);
    if (request == REQ_SEARCH) {
        if (argument) snprintf(x->search, sizeof x->search, "%s", argument);
        search_step(x, by, argument != NULL);
    }
    if (request == REQ_FILTER) snprintf(x->filter[explorer_top(x)], sizeof x->filter[0], "%s", argument);
    if (request == REQ_HEX) x->decimal = !x->decimal;
    if (request == REQ_RACE) session_race(s);
    if (request == REQ_STOP) {
        bool any = session_stop(s);
        explorer_say(x, any ? TONE_PLAIN : TONE_DIM, "%s",
                     any ? "cancelling; the best so far is kept" : "nothing runs");
    }
    if (request == REQ_OPEN_PLAN) {
        session_hold_file(s, argument);
        explorer_show(x, VIEW_COMPARE);
    }
    if (request == REQ_TEAM_SET) {
        team_resize(x, argument);
        explorer_show(x, VIEW_TEAM);
    }
    if ((request == REQ_UNDO || request == REQ_REDO) && !session_undo(s, request == REQ_REDO))
        explorer_say(x, TONE_DIM, "nothing to %s", request_rows[request].name);
    if (request == REQ_RELOAD) session_reload(s, s->current);
    if (request == REQ_ASCII) x->glyphs = glyphs_next(x->glyphs, x->theme);
    x->redraw_all |= request == REQ_ASCII || request == REQ_REDRAW;
    x->quit |= request == REQ_QUIT;
}

/* q and <Esc>: both close a panel first. */
static void acts_close(struct explorer *x, const char *argument, int request, int by)
{
    if (x->overlay != VIEW_COUNT)
        x->overlay = VIEW_COUNT;
    else if (request == REQ_ESCAPE && session_is_stale(&x->session))
        acts_at_once(x, argument, REQ_STOP, by);
    else if (request == REQ_ESCAPE)
        x->search[0] = x->filter[x->view][0] = 0;
    else if (x->view != VIEW_PATTERNS)
        explorer_show(x, VIEW_PATTERNS);
    else
        x->quit = true;
}

#define SHOWS(R, id, file, name, keys, group, help) [REQ_##id] = {.step = acts_show, .what = VIEW_##id},
#define AT_ONCE(id)                                 [REQ_##id] = {.step = acts_at_once, .what = REQ_##id}

/* A row has one of three functions. `argument` is never NULL where the request takes one. A request
 * without a row is answered by views only. */
static const struct {
    void (*step)(struct explorer *x, const char *argument, int what, int by);
    int what, by;
    void (*plain)(struct explorer *x);
    void (*with)(struct explorer *x, const char *argument);
} acts[REQ_COUNT] = {
    /* clang-format off */
    VIEWS(SHOWS, )
    AT_ONCE(COMMAND), AT_ONCE(FILTER), AT_ONCE(HEX), AT_ONCE(RACE), AT_ONCE(OPEN_PLAN), AT_ONCE(TEAM_SET),
    AT_ONCE(UNDO), AT_ONCE(REDO), AT_ONCE(RELOAD), AT_ONCE(ASCII), AT_ONCE(REDRAW), AT_ONCE(QUIT),
    AT_ONCE(STOP), AT_ONCE(GOTO),
    [REQ_NEXT_VIEW] = {.step = acts_at_once, .what = REQ_NEXT_VIEW, .by = 1},
    [REQ_PREVIOUS_VIEW] = {.step = acts_at_once, .what = REQ_NEXT_VIEW, .by = -1},
    [REQ_BACK] = {.step = acts_close, .what = REQ_BACK},
    [REQ_ESCAPE] = {.step = acts_close, .what = REQ_ESCAPE},
    [REQ_SEARCH] = {.step = acts_at_once, .what = REQ_SEARCH, .by = 1},
    [REQ_SEARCH_NEXT] = {.step = acts_at_once, .what = REQ_SEARCH, .by = 1},
    [REQ_SEARCH_PREVIOUS] = {.step = acts_at_once, .what = REQ_SEARCH, .by = -1},
    [REQ_NEXT_ITEM] = {.step = acts_at_once, .what = REQ_NEXT_ITEM, .by = 1},
    [REQ_PREVIOUS_ITEM] = {.step = acts_at_once, .what = REQ_NEXT_ITEM, .by = -1},
    [REQ_NEXT_ITERATION] = {.step = acts_iterate, .by = 1},
    [REQ_PREVIOUS_ITERATION] = {.step = acts_iterate, .by = -1},
    [REQ_NEXT_OUTER] = {.step = acts_iterate, .what = true, .by = 1},
    [REQ_PREVIOUS_OUTER] = {.step = acts_iterate, .what = true, .by = -1},
    [REQ_NEXT_NEST] = {.step = acts_go_to_nest, .by = 1},
    [REQ_PREVIOUS_NEST] = {.step = acts_go_to_nest, .by = -1},
    [REQ_NEXT_SOLVER] = {.step = acts_step, .what = SET_SOLVER, .by = 1},
    [REQ_PREVIOUS_SOLVER] = {.step = acts_step, .what = SET_SOLVER, .by = -1},
    [REQ_FEWER_CORES] = {.step = acts_step, .what = SET_CORES, .by = -1},
    [REQ_MORE_CORES] = {.step = acts_step, .what = SET_CORES, .by = 1},
    [REQ_LESS_LX] = {.step = acts_step, .what = SET_LX, .by = -1},
    [REQ_MORE_LX] = {.step = acts_step, .what = SET_LX, .by = 1},
    [REQ_SOLVER] = {.step = acts_set, .what = SET_SOLVER},
    [REQ_CORES_SET] = {.step = acts_set, .what = SET_CORES},
    [REQ_LX_SET] = {.step = acts_set, .what = SET_LX},
    [REQ_OBJECTIVE] = {.step = acts_set, .what = SET_OBJECTIVE},
    [REQ_LEVEL] = {.step = acts_set, .what = SET_LEVEL},
    [REQ_SEED] = {.step = acts_set, .what = SET_SEED},
    [REQ_AT_PEAK] = {.plain = acts_at_peak},
    [REQ_OFF_CHIP] = {.plain = acts_next_off_chip},
    [REQ_PIN] = {.plain = acts_pin},
    [REQ_GO_BACK] = {.plain = place_back},
    [REQ_EDIT] = {.plain = edit_ask},
    [REQ_COPY] = {.plain = take_copy},
    [REQ_SAVE] = {.with = take_save},
    [REQ_EXPORT] = {.with = take_export},
    [REQ_OPEN] = {.with = acts_open},
    [REQ_ITERATION] = {.step = acts_iterate},
    [REQ_EXECUTE_ON] = {.with = acts_run_on},
    [REQ_SET] = {.with = acts_set_named},
    [REQ_DIM] = {.with = acts_set_dims},
    [REQ_THEME] = {.with = acts_set_theme},
    [REQ_NEXT_THEME] = {.with = acts_set_theme},
    [REQ_BIND] = {.with = acts_bind},
    /* clang-format on */
};

void explorer_request(struct explorer *x, enum request r, const char *argument)
{
    if (r != REQ_FILTER) filter_settle(x); /* a filter that was cancelled has moved nothing */
    struct place before = PLACE_NOW(x);
    enum view_id page = x->view;
    uint64_t plan = x->session.shown.number;
    if (!argument && r == REQ_SEARCH) {
        prompt_open(x, '/', "");
        return;
    }
    if (!argument && r == REQ_FILTER) {
        prompt_open(x, 'f', x->filter[explorer_top(x)]);
        return;
    }
    if (!argument && request_rows[r].argument != ARG_NONE &&
        r != REQ_OPEN) { /* the command line asks for it */
        /* The file is named after the open pattern: "gqattention.svg". */
        const char *path =
                       x->session.current >= 0 ? x->session.patterns.at[x->session.current].path : "lxplan",
                   *slash = strrchr(path, '/'),
                   *ending = r == REQ_SAVE     ? ".plan.json"
                             : r == REQ_EXPORT ? ".svg"
                                               : "";
        char line[60], name[120] = "";
        if (slash) path = slash + 1;
        if (*ending)
            snprintf(name, sizeof name, "%.*s%s", (int)min_i64((int64_t)strcspn(path, "."), 80), path,
                     ending);
        snprintf(line, sizeof line, "%s ", request_rows[r].name);
        prompt_propose(x, line, name);
        return;
    }
    if (!view_request(x, explorer_top(x), r, argument)) {
        if (acts[r].step) acts[r].step(x, argument, acts[r].what, acts[r].by);
        if (acts[r].plain) acts[r].plain(x);
        if (acts[r].with) acts[r].with(x, argument);
    }
    if (r != REQ_FILTER) filter_yield(x, page, plan);
    place_left(x, before, r);
}
