/* What the explorer itself does for a request that the view on top does not answer: one row per request. */
#include "tui/core/explorer.h"
#include "base/memory.h"
#include "tui/team/team_picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `argument` is never NULL where the request takes one; `what` and `by` are those of the row. */
typedef void act(struct explorer *x, const char *argument, int what, int by);

static void change_setting(struct explorer *x, const char *argument, int setting, int by)
{
    struct what_if how = x->session.now;
    lx_status st;
    (void)by;
    if (!settings_set(&how, setting, argument, &st))
        explorer_say(x, TONE_BAD, "%s", st.text);
    else if (!session_change(&x->session, &how))
        explorer_say(x, TONE_DIM, "%s is that already", settings_row(setting).name);
}

static void step_setting(struct explorer *x, const char *argument, int setting, int direction)
{
    struct what_if how = x->session.now;
    (void)argument;
    if (!settings_step(&how, setting, direction, session_actual(&x->session, setting)))
        explorer_say(x, TONE_WARN, "%s cannot go further", settings_row(setting).name);
    else if (session_change(&x->session, &how)) {
        struct text value = {0};
        settings_show(&how, setting, &value);
        explorer_say(x, TONE_PLAIN, "%s: %s (%s takes it back)", settings_row(setting).name,
                     value.at ? value.at : "", KEY_OF(UNDO));
        text_free(&value);
    }
}

/* "cores 16" of `:set cores 16`. */
static void set_named(struct explorer *x, const char *argument, int what, int by)
{
    char name[40];
    size_t n = strcspn(argument, " ="), blanks = strspn(argument + n, " =");
    (void)what, (void)by;
    snprintf(name, sizeof name, "%.*s", (int)(n < 39 ? n : 39), argument);
    int setting = settings_find(name);
    if (setting < 0)
        explorer_say(x, TONE_BAD, "there is no setting \"%s\"; %s shows all of them", name, KEY_OF(WHAT_IF));
    else
        change_setting(x, argument + n + blanks, setting, 0);
}

static void explorer_acts_undo(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    if (!session_undo(&x->session)) explorer_say(x, TONE_DIM, "nothing to take back");
}

static void redo(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    if (!session_redo(&x->session)) explorer_say(x, TONE_DIM, "nothing to make again");
}

static void show_page(struct explorer *x, const char *argument, int page, int by)
{
    (void)argument, (void)by;
    explorer_show(x, (enum view_id)page);
}

/* Onto the page, or away from it. */
static void lay_panel(struct explorer *x, const char *argument, int panel, int by)
{
    (void)argument, (void)by;
    x->overlay = (int)x->overlay == panel ? VIEW_COUNT : (enum view_id)panel;
    if (x->overlay != VIEW_COUNT && all_views[panel]->shown) all_views[panel]->shown(x, x->states[panel]);
}

static void explorer_acts_turn_page(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what;
    explorer_show(x, (enum view_id)(((int)x->view + by + PAGE_COUNT) % PAGE_COUNT));
}

static void go_back(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    if (x->overlay != VIEW_COUNT)
        x->overlay = VIEW_COUNT;
    else if (x->view != VIEW_PATTERNS)
        explorer_show(x, VIEW_PATTERNS);
    else
        x->quit = true;
}

static void stop_all(struct explorer *x)
{
    if (session_stop(&x->session))
        explorer_say(x, TONE_PLAIN, "stopping; the best so far is kept");
    else
        explorer_say(x, TONE_DIM, "nothing runs");
}

static void escape(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    if (x->overlay != VIEW_COUNT)
        x->overlay = VIEW_COUNT;
    else if (session_is_stale(&x->session))
        stop_all(x);
    else
        x->search[0] = x->filter[x->view][0] = 0;
}

static void go_where_one_was(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    place_back(x);
}

static void explorer_acts_leave(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    x->quit = true;
}

static void type_command(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    prompt_open(x, ':', "");
}

static void explorer_acts_search(struct explorer *x, const char *argument, int what, int direction)
{
    (void)what;
    if (argument) snprintf(x->search, sizeof x->search, "%s", argument);
    search_step(x, direction, argument != NULL);
}

static void filter(struct explorer *x, const char *argument, int what, int by)
{
    (void)what, (void)by;
    snprintf(x->filter[explorer_top(x)], sizeof x->filter[0], "%s", argument);
}

static void open_by_name(struct explorer *x, const char *name, int what, int by)
{
    struct session *s = &x->session;
    lx_status st;
    size_t i = 0;
    (void)what, (void)by;
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

static void go_to(struct explorer *x, const char *argument, int what, int by)
{
    (void)what, (void)by;
    if (!session_goto(&x->session, argument))
        explorer_say(x, TONE_BAD, "no buffer or op is called \"%s\"", argument);
}

static void next_op(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what;
    session_select_op(&x->session, x->session.selection.op + by);
}

/* The next of the buffers that are off chip, beginning with the dearest. */
static void next_off_chip(struct explorer *x, const char *argument, int what, int by)
{
    struct session *s = &x->session;
    const struct outcome *o = &s->shown;
    int at = -1;
    (void)argument, (void)what, (void)by;
    if (!session_plan(s) || o->off_chip_count == 0) {
        explorer_say(x, TONE_GOOD, "nothing is off chip");
        return;
    }
    for (int i = 0; i < o->off_chip_count; i++)
        if (o->off_chip[i] == s->selection.buffer) at = i;
    session_select_buffer(s, o->off_chip[(at + 1) % o->off_chip_count]);
    session_show_buffer(s);
}

static void swap_hex(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    x->decimal = !x->decimal;
}

static void race(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    session_race(&x->session);
}

/* In the list of patterns a plan file is meant. */
static void pin(struct explorer *x, const char *argument, int what, int by)
{
    int marked = explorer_top(x) == VIEW_PATTERNS ? marked_pattern(x) : -1;
    (void)argument, (void)what, (void)by;
    if (marked >= 0 && x->session.patterns.at[marked].facts.is_plan &&
        session_hold_file(&x->session, x->session.patterns.at[marked].path))
        explorer_say(x, TONE_GOOD, "%s shows this plan beside others", KEY_OF(COMPARE));
    else if (session_pin(&x->session))
        explorer_say(x, TONE_GOOD, "pinned as A; %s shows it beside others", KEY_OF(COMPARE));
    else
        explorer_say(x, TONE_WARN, "there is no plan to pin");
}

static void open_plan(struct explorer *x, const char *path, int what, int by)
{
    (void)what, (void)by;
    if (session_hold_file(&x->session, path)) explorer_show(x, VIEW_COMPARE);
}

static void explorer_acts_stop(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    stop_all(x);
}

static void set_team(struct explorer *x, const char *argument, int what, int by)
{
    (void)what, (void)by;
    team_resize(x, argument);
    explorer_show(x, VIEW_TEAM);
}

static void reload(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    session_reload(&x->session);
}

static void edit(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    edit_ask(x);
}

static void save(struct explorer *x, const char *argument, int what, int by)
{
    (void)what, (void)by;
    take_save(x, argument);
}

static void export_view(struct explorer *x, const char *argument, int what, int by)
{
    (void)what, (void)by;
    take_export(x, argument);
}

static void explorer_acts_copy(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    take_copy(x);
}

static void take_theme(struct explorer *x, const char *name, int what, int by)
{
    const struct theme *t = theme_find(name);
    lx_status st;
    (void)what, (void)by;
    if (!t) {
        theme_unknown(name, &st);
        explorer_say(x, TONE_BAD, "%s", st.text);
    } else {
        x->theme = t;
        x->redraw_all = true;
    }
}

static void next_theme(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    x->theme = x->theme[1].name ? x->theme + 1 : themes;
    explorer_say(x, TONE_PLAIN, "theme %s: %s", x->theme->name, x->theme->help);
    x->redraw_all = true;
}

static void swap_glyphs(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    x->glyphs = glyphs_next(x->glyphs, x->theme);
    x->redraw_all = true;
}

static void redraw(struct explorer *x, const char *argument, int what, int by)
{
    (void)argument, (void)what, (void)by;
    x->redraw_all = true;
}

/* "graph <F2>" of `:bind graph <F2>`; without keys those of the table again. */
static void bind(struct explorer *x, const char *argument, int what, int by)
{
    char name[40];
    size_t n = strcspn(argument, " ");
    lx_status st;
    (void)what, (void)by;
    snprintf(name, sizeof name, "%.*s", (int)(n < 39 ? n : 39), argument);
    enum request r = request_find(name);
    if (r == REQ_COUNT)
        explorer_say(x, TONE_BAD, "there is no request \"%s\"; %s lists all of them", name, KEY_OF(HELP));
    else if (!request_bind(r, argument + n + strspn(argument + n, " "), &st))
        explorer_say(x, TONE_BAD, "%s", st.text);
    else
        explorer_say(x, TONE_GOOD, "%s: %s", request_rows[r].name, request_keys(r));
}

#define PAGE_ACT(R, id, file, name, keys, group, help)  [REQ_##id] = {show_page, VIEW_##id, 0},
#define PANEL_ACT(R, id, file, name, keys, group, help) [REQ_##id] = {lay_panel, VIEW_##id, 0},

/* A request without a row means nothing but to a view. */
static const struct {
    act *act;
    int what, by;
} acts[REQ_COUNT] = {
    /* clang-format off */
    PAGES(PAGE_ACT, )
    PANELS(PANEL_ACT, )
        /* clang-format on */
        [REQ_NEXT_VIEW] = {explorer_acts_turn_page, 0, 1},
    [REQ_PREVIOUS_VIEW] = {explorer_acts_turn_page, 0, -1},
    [REQ_BACK] = {go_back, 0, 0},
    [REQ_ESCAPE] = {escape, 0, 0},
    [REQ_GO_BACK] = {go_where_one_was, 0, 0},
    [REQ_QUIT] = {explorer_acts_leave, 0, 0},
    [REQ_COMMAND] = {type_command, 0, 0},
    [REQ_SEARCH] = {explorer_acts_search, 0, 1},
    [REQ_SEARCH_NEXT] = {explorer_acts_search, 0, 1},
    [REQ_SEARCH_PREVIOUS] = {explorer_acts_search, 0, -1},
    [REQ_FILTER] = {filter, 0, 0},
    [REQ_GOTO] = {go_to, 0, 0},
    [REQ_OPEN] = {open_by_name, 0, 0},
    [REQ_NEXT_ITEM] = {next_op, 0, 1},
    [REQ_PREVIOUS_ITEM] = {next_op, 0, -1},
    [REQ_OFF_CHIP] = {next_off_chip, 0, 0},
    [REQ_NEXT_ITERATION] = {nest_step, NEST_INNER, 1},
    [REQ_PREVIOUS_ITERATION] = {nest_step, NEST_INNER, -1},
    [REQ_NEXT_OUTER] = {nest_step, NEST_OUTER, 1},
    [REQ_PREVIOUS_OUTER] = {nest_step, NEST_OUTER, -1},
    [REQ_ITERATION] = {nest_iterate, 0, 0},
    [REQ_NEXT_NEST] = {nest_go, 0, 1},
    [REQ_PREVIOUS_NEST] = {nest_go, 0, -1},
    [REQ_HEX] = {swap_hex, 0, 0},
    [REQ_RACE] = {race, 0, 0},
    [REQ_STOP] = {explorer_acts_stop, 0, 0},
    [REQ_PIN] = {pin, 0, 0},
    [REQ_OPEN_PLAN] = {open_plan, 0, 0},
    [REQ_TEAM_SET] = {set_team, 0, 0},
    [REQ_NEXT_SOLVER] = {step_setting, SET_SOLVER, 1},
    [REQ_PREVIOUS_SOLVER] = {step_setting, SET_SOLVER, -1},
    [REQ_FEWER_CORES] = {step_setting, SET_CORES, -1},
    [REQ_MORE_CORES] = {step_setting, SET_CORES, 1},
    [REQ_LESS_LX] = {step_setting, SET_LX, -1},
    [REQ_MORE_LX] = {step_setting, SET_LX, 1},
    [REQ_SOLVER] = {change_setting, SET_SOLVER, 0},
    [REQ_CORES_SET] = {change_setting, SET_CORES, 0},
    [REQ_LX_SET] = {change_setting, SET_LX, 0},
    [REQ_OBJECTIVE] = {change_setting, SET_OBJECTIVE, 0},
    [REQ_LEVEL] = {change_setting, SET_LEVEL, 0},
    [REQ_SEED] = {change_setting, SET_SEED, 0},
    [REQ_SET] = {set_named, 0, 0},
    [REQ_UNDO] = {explorer_acts_undo, 0, 0},
    [REQ_REDO] = {redo, 0, 0},
    [REQ_RELOAD] = {reload, 0, 0},
    [REQ_EDIT] = {edit, 0, 0},
    [REQ_SAVE] = {save, 0, 0},
    [REQ_EXPORT] = {export_view, 0, 0},
    [REQ_COPY] = {explorer_acts_copy, 0, 0},
    [REQ_THEME] = {take_theme, 0, 0},
    [REQ_NEXT_THEME] = {next_theme, 0, 0},
    [REQ_ASCII] = {swap_glyphs, 0, 0},
    [REQ_REDRAW] = {redraw, 0, 0},
    [REQ_BIND] = {bind, 0, 0},
};

/* Requests whose argument is missing: the command line asks for it. */
static bool ask_for_argument(struct explorer *x, enum request r)
{
    char line[60];
    char *name = NULL;
    if (r == REQ_SEARCH) return prompt_open(x, '/', ""), true;
    if (r == REQ_FILTER) return prompt_open(x, 'f', x->filter[explorer_top(x)]), true;
    if (request_rows[r].argument == ARG_NONE || r == REQ_OPEN) return false;
    if (r == REQ_SAVE) name = take_name(x, ".plan.json");
    if (r == REQ_EXPORT) name = take_name(x, ".svg");
    snprintf(line, sizeof line, "%s ", request_rows[r].name);
    prompt_propose(x, line, name ? name : "");
    mem_free(name);
    return true;
}

void explorer_request(struct explorer *x, enum request r, const char *argument)
{
    if (r != REQ_FILTER) filter_settle(x); /* one that is given up has moved nothing */
    struct place before = place_now(x);
    enum view_id page = x->view;
    uint64_t plan = x->session.shown.number;
    if (!argument && ask_for_argument(x, r)) return;
    if (!view_request(x, explorer_top(x), r, argument) && acts[r].act)
        acts[r].act(x, argument, acts[r].what, acts[r].by);
    if (r != REQ_FILTER) filter_yield(x, page, plan);
    place_left(x, before, r);
}
