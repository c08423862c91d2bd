#include "tui/explorer.h"
#include "tui/map_window.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VIEW_POINTER(id, name) [VIEW_##id] = &view_##name,
const struct view *const all_views[VIEW_COUNT] = {VIEWS(VIEW_POINTER)};
#undef VIEW_POINTER

bool explorer_begin(struct explorer *x, const struct what_if *how, int rows, int columns)
{
    *x = (struct explorer){.overlay = VIEW_COUNT, .theme = theme_find("mono"), .glyphs = &glyphs_unicode};
    x->compare.left = -1;
    return session_begin(&x->session, how) && cells_resize(&x->cells, rows, columns);
}

void explorer_end(struct explorer *x)
{
    session_end(&x->session);
    cells_free(&x->cells);
    prompt_free(&x->prompt);
    text_free(&x->message);
    text_free(&x->copied);
    free(x->patterns.shown);
    free(x->graph.shown);
}

void explorer_say(struct explorer *x, uint8_t tone, const char *format, ...)
{
    char line[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    text_free(&x->message);
    text_add(&x->message, line);
    x->message_tone = tone;
    x->keep_message = true;
}

static enum view_id top_view(const struct explorer *x)
{
    return x->overlay != VIEW_COUNT ? x->overlay : x->view;
}

static void show_view(struct explorer *x, enum view_id view)
{
    x->overlay = VIEW_COUNT;
    x->view = view;
    if (view == VIEW_TEAM) session_team_want(&x->session);
}

static void change(struct explorer *x, int setting, const char *text)
{
    struct what_if how = x->session.now;
    lx_status st;
    if (!settings_set(&how, setting, text, &st))
        explorer_say(x, TONE_BAD, "%s", st.text);
    else if (!session_change(&x->session, &how))
        explorer_say(x, TONE_DIM, "%s is that already", settings_row(setting).name);
}

static void step(struct explorer *x, int setting, int direction)
{
    struct what_if how = x->session.now;
    if (!settings_step(&how, setting, direction, session_actual(&x->session, setting)))
        explorer_say(x, TONE_WARN, "%s cannot go further", settings_row(setting).name);
    else if (session_change(&x->session, &how)) {
        struct text value = {0};
        settings_show(&how, setting, &value);
        explorer_say(x, TONE_PLAIN, "%s: %s (u takes it back)", settings_row(setting).name,
                     value.at ? value.at : "");
        text_free(&value);
    }
}

/* "cores 16" of `:set cores 16`. */
static void set_named(struct explorer *x, const char *argument)
{
    char name[40];
    size_t n = strcspn(argument, " =");
    snprintf(name, sizeof name, "%.*s", (int)(n < 39 ? n : 39), argument);
    int setting = settings_find(name);
    if (setting < 0)
        explorer_say(x, TONE_BAD, "there is no setting \"%s\"; w shows all of them", name);
    else
        change(x, setting, argument[n] ? argument + n + 1 : "");
}

static void back(struct explorer *x)
{
    if (x->overlay != VIEW_COUNT)
        x->overlay = VIEW_COUNT;
    else if (x->view != VIEW_PATTERNS)
        x->view = VIEW_PATTERNS;
    else
        x->quit = true;
}

static void escape(struct explorer *x)
{
    if (x->overlay != VIEW_COUNT)
        x->overlay = VIEW_COUNT;
    else
        x->search[0] = x->filter[x->view][0] = 0;
    x->map.playing = false;
}

static void next_theme(struct explorer *x)
{
    x->theme = x->theme[1].name ? x->theme + 1 : themes;
    explorer_say(x, TONE_PLAIN, "theme %s: %s", x->theme->name, x->theme->help);
    x->redraw_all = true;
}

static void take_theme(struct explorer *x, const char *name)
{
    const struct theme *t = theme_find(name);
    lx_status st;
    if (!t) {
        theme_unknown(name, &st);
        explorer_say(x, TONE_BAD, "%s", st.text);
    } else {
        x->theme = t;
        x->redraw_all = true;
    }
}

static void open_by_name(struct explorer *x, const char *name)
{
    struct session *s = &x->session;
    for (size_t i = 0; i < s->patterns.count; i++)
        if (strcmp(s->patterns.at[i].shown, name) == 0 || strcmp(s->patterns.at[i].path, name) == 0) {
            session_open(s, (int)i);
            show_view(x, VIEW_MAP);
            return;
        }
    lx_status st;
    if (session_add(s, name, &st)) {
        session_open(s, (int)s->patterns.count - 1);
        show_view(x, VIEW_MAP);
    } else
        explorer_say(x, TONE_BAD, "%s: %s", name, st.text);
}

/* The next of the buffers that are off chip, beginning with the dearest. */
static void next_off_chip(struct explorer *x)
{
    struct session *s = &x->session;
    const struct outcome *o = &s->shown;
    if (!session_plan(s) || o->off_chip_count == 0) {
        explorer_say(x, TONE_GOOD, "nothing is off chip");
        return;
    }
    int at = -1;
    for (int i = 0; i < o->off_chip_count; i++)
        if (o->off_chip[i] == s->buffer) at = i;
    session_select_buffer(s, o->off_chip[(at + 1) % o->off_chip_count]);
    map_window_to_buffer(x);
}

/* Requests whose argument is missing: the command line asks for it. */
static bool ask_for_argument(struct explorer *x, enum request r)
{
    char line[200];
    char *name = NULL;
    if (r == REQ_SEARCH) return prompt_open(x, '/', ""), true;
    if (r == REQ_FILTER) return prompt_open(x, 'f', x->filter[top_view(x)]), true;
    if (request_rows[r].argument == ARG_NONE || r == REQ_OPEN) return false;
    if (r == REQ_SAVE) name = take_name(x, ".plan.json");
    if (r == REQ_EXPORT) name = take_name(x, ".svg");
    snprintf(line, sizeof line, "%s %s", request_rows[r].name, name ? name : "");
    free(name);
    prompt_open(x, ':', line);
    return true;
}

static const struct {
    enum request request;
    int setting, direction;
} steps[] = {
    {REQ_NEXT_SOLVER, SET_SOLVER, 1}, {REQ_PREVIOUS_SOLVER, SET_SOLVER, -1},
    {REQ_FEWER_CORES, SET_CORES, -1}, {REQ_MORE_CORES, SET_CORES, 1},
    {REQ_LESS_LX, SET_LX, -1},        {REQ_MORE_LX, SET_LX, 1},
};

static const struct {
    enum request request;
    int setting;
} sets[] = {
    {REQ_SOLVER, SET_SOLVER},       {REQ_CORES_SET, SET_CORES}, {REQ_LX_SET, SET_LX},
    {REQ_OBJECTIVE, SET_OBJECTIVE}, {REQ_LEVEL, SET_LEVEL},     {REQ_SEED, SET_SEED},
};

static bool request_setting(struct explorer *x, enum request r, const char *argument)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].request == r) return step(x, steps[i].setting, steps[i].direction), true;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (sets[i].request == r) return change(x, sets[i].setting, argument ? argument : ""), true;
    return false;
}

void explorer_request(struct explorer *x, enum request r, const char *argument)
{
    struct session *s = &x->session;
    const struct view *v = all_views[top_view(x)];
    bool usable = !v->needs_plan || session_plan(s);
    if (!argument && ask_for_argument(x, r)) return;
    if (usable && v->request && v->request(x, r, argument)) return;
    if (request_setting(x, r, argument)) return;
    switch (r) {
    case REQ_PATTERNS:
    case REQ_GRAPH:
    case REQ_CORES:
    case REQ_MAP:
    case REQ_COMPARE:
    case REQ_LOOPS:
    case REQ_RUN:
    case REQ_TEAM:
        show_view(x, (enum view_id)(r - REQ_PATTERNS));
        break;
    case REQ_NEXT_VIEW:
        show_view(x, (x->view + 1) % NUMBERED_VIEWS);
        break;
    case REQ_PREVIOUS_VIEW:
        show_view(x, (x->view + NUMBERED_VIEWS - 1) % NUMBERED_VIEWS);
        break;
    case REQ_HELP:
        x->overlay = x->overlay == VIEW_HELP ? VIEW_COUNT : VIEW_HELP;
        break;
    case REQ_WELCOME:
        x->overlay = VIEW_WELCOME;
        break;
    case REQ_WHAT_IF:
        x->overlay = x->overlay == VIEW_WHATIF ? VIEW_COUNT : VIEW_WHATIF;
        break;
    case REQ_COMMAND:
        prompt_open(x, ':', "");
        break;
    case REQ_SEARCH:
        snprintf(x->search, sizeof x->search, "%s", argument);
        search_step(x, 1);
        break;
    case REQ_SEARCH_NEXT:
        search_step(x, 1);
        break;
    case REQ_SEARCH_PREVIOUS:
        search_step(x, -1);
        break;
    case REQ_FILTER:
        snprintf(x->filter[top_view(x)], sizeof x->filter[0], "%s", argument);
        break;
    case REQ_GOTO:
        if (!session_goto(s, argument))
            explorer_say(x, TONE_BAD, "no buffer or op is called \"%s\"", argument);
        else
            map_window_to_buffer(x);
        break;
    case REQ_OPEN:
        if (argument) open_by_name(x, argument);
        break;
    case REQ_BACK:
        back(x);
        break;
    case REQ_ESCAPE:
        escape(x);
        break;
    case REQ_QUIT:
        x->quit = true;
        break;
    case REQ_OFF_CHIP:
        next_off_chip(x);
        break;
    case REQ_HEX:
        x->decimal = !x->decimal;
        break;
    case REQ_RACE:
        session_race(s);
        break;
    case REQ_STOP:
        session_stop(s);
        break;
    case REQ_TEAM_SET:
        team_resize(x, argument);
        show_view(x, VIEW_TEAM);
        break;
    case REQ_SET:
        set_named(x, argument);
        break;
    case REQ_UNDO:
        if (!session_undo(s)) explorer_say(x, TONE_DIM, "nothing to take back");
        break;
    case REQ_REDO:
        if (!session_redo(s)) explorer_say(x, TONE_DIM, "nothing to make again");
        break;
    case REQ_RELOAD:
        session_reload(s);
        break;
    case REQ_SAVE:
        take_save(x, argument);
        break;
    case REQ_EXPORT:
        take_export(x, argument);
        break;
    case REQ_COPY:
        take_copy(x);
        break;
    case REQ_THEME:
        take_theme(x, argument);
        break;
    case REQ_NEXT_THEME:
        next_theme(x);
        break;
    case REQ_ASCII:
        x->glyphs = x->glyphs->ascii ? &glyphs_unicode : &glyphs_ascii;
        x->redraw_all = true;
        break;
    case REQ_REDRAW:
        x->redraw_all = true;
        break;
    case REQ_NEXT_ITEM:
        session_select_op(s, s->op + 1);
        break;
    case REQ_PREVIOUS_ITEM:
        session_select_op(s, s->op - 1);
        break;
    default:
        break; /* a movement that means nothing here */
    }
}

static void mouse(struct explorer *x, const struct key *k)
{
    const struct view *v = all_views[top_view(x)];
    if (k->row == 0 && k->code == AT_CLICK) {
        for (int i = 0; i < NUMBERED_VIEWS; i++)
            if (k->column >= x->tabs[i].from && k->column < x->tabs[i].to) show_view(x, (enum view_id)i);
        return;
    }
    if (v->mouse && (!v->needs_plan || session_plan(&x->session)))
        v->mouse(x, k);
    else if (k->code == AT_WHEEL_UP || k->code == AT_WHEEL_DOWN)
        explorer_request(x, k->code == AT_WHEEL_UP ? REQ_UP : REQ_DOWN, NULL);
}

void explorer_key(struct explorer *x, struct key key)
{
    x->keep_message = false;
    switch (key.code) {
    case AT_RESIZE:
        cells_resize(&x->cells, key.row, key.column);
        x->redraw_all = true;
        return;
    case AT_WAIT:
        worker_wait(x->session.worker);
        session_take_results(&x->session);
        return;
    case AT_TICK:
        x->spin++;
        if (x->map.playing) explorer_request(x, REQ_RIGHT, NULL);
        return;
    case AT_NOTHING:
        return;
    case AT_CLICK:
    case AT_WHEEL_UP:
    case AT_WHEEL_DOWN:
        if (!x->prompt.open) mouse(x, &key);
        return;
    default:
        break;
    }
    if (x->prompt.open) {
        prompt_key(x, key.code);
    } else {
        enum request r = request_of_key(key.code, top_view(x));
        if (r != REQ_COUNT)
            explorer_request(x, r, NULL);
        else {
            char name[16];
            explorer_say(x, TONE_WARN, "%s does nothing here; ? lists the keys", name_of_key(key.code, name));
        }
    }
    if (!x->keep_message) text_free(&x->message);
}

bool explorer_is_lively(struct explorer *x)
{
    return x->map.playing || session_is_stale(&x->session) || worker_busy(x->session.worker, JOB_KINDS) > 0;
}

void explorer_draw(struct explorer *x)
{
    struct box area = {0, 0, x->cells.rows, x->cells.columns};
    cells_clear(&x->cells);
    x->cells.ascii = x->glyphs->ascii;
    struct box title = box_cut_top(&area, 1), hints = box_cut_bottom(&area, 1),
               status = box_cut_bottom(&area, x->cells.rows >= 8);
    const struct view *v = all_views[x->view];
    if (v->needs_plan && !session_plan(&x->session))
        frame_no_plan(x, area);
    else
        v->draw(x, area);
    if (x->overlay != VIEW_COUNT) all_views[x->overlay]->draw(x, area);
    frame_draw_title(x, title);
    frame_draw_status(x, status);
    frame_draw_hints(x, hints);
}
