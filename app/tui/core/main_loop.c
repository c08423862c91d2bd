/* The main loop, and the same without a terminal for scripts. */
#include "tui/core/main_loop.h"
#include "tui/draw/screen.h"
#include "base/file.h"

#include <locale.h>
#include <langinfo.h>
#include <unistd.h>

/* Milliseconds between two frames of an animation, between two checks of the open file, and that jobs have to end. */
enum { FRAME = 120, WATCH = 1000, GRACE = 20 };

static bool write_dump(struct explorer *x, const char *path, lx_status *st)
{
    SCOPED(text_free) struct text out = {0};
    size_t n = strlen(path);
    explorer_draw(x);
    if (n > 4 && strcmp(path + n - 4, ".svg") == 0)
        cells_to_svg(&x->cells, x->theme, &out);
    else
        cells_to_text(&x->cells, &out);
    return file_write(path, out.at, out.length, st);
}

static void run_terminal(struct explorer *x)
{
    int descriptor = worker_descriptor(x->session.worker);
    while (!x->quit) {
        explorer_watch(x);
        explorer_draw(x);
        screen_show(&x->cells, x->theme, x->redraw_all);
        x->redraw_all = false;
        if (x->edit.wanted) {
            edit_now(x);
            continue;
        }
        if (x->copied.at) {
            screen_copy(x->copied.at);
            text_free(&x->copied);
        }
        struct key k = input_next(descriptor, explorer_is_lively(x) ? FRAME : WATCH);
        /* All keys in the queue come before the next frame. */
        for (int n = 0; n < 100 && !x->quit && k.code != AT_NOTHING; n++) {
            if (k.code == AT_LAST) return;
            explorer_key(x, k);
            if (k.code == AT_TICK) break;
            k = input_next(descriptor, 0);
            if (k.code == AT_TICK) break;
        }
        worker_take(x->session.worker);
    }
}

/* A single file is opened at once, the plan of a team in the team's view. */
static bool add_paths(struct explorer *x, const struct explore_options *o, lx_status *st)
{
    lx_status ignored = {0};
    size_t length = 0;
    x->session.models = o->models;
    for (int i = 0; i < o->path_count; i++)
        if (!session_add(&x->session, o->paths[i], st)) return false;
    x->session.models = NULL; /* for files that the user opens */
    if (o->team) session_team_resize(&x->session, o->team);
    if (x->session.patterns.count != 1) return true;
    session_open(&x->session, 0);
    OWNED char *text = o->team ? NULL : file_read(x->session.patterns.at[0].path, &length, &ignored);
    explorer_show(x, o->team || (text && lx_is_team_plan(text, length)) ? VIEW_TEAM : VIEW_MAP);
    return true;
}

static void main_loop_leave_screen(void *unused)
{
    if (screen_end) screen_end(unused);
}

bool explore(const struct explore_options *o, bool *interrupted, lx_status *st)
{
    struct explorer x;
    bool ok = explorer_begin(&x, &o->how, o->rows ? o->rows : 24, o->columns ? o->columns : 80);
    if (!ok) status_set(st, LX_E_LIMIT, "the system has no thread left");
    ok = ok && add_paths(&x, o, st);
    struct deferred screen;
    if (ok && !o->script && !screen_begin)
        ok = status_set(st, LX_E_UNSUPPORTED,
                        "this program was built without ncurses, which the explorer needs; build it without "
                        "-DLXPLAN_BARE=ON");
    defer(&screen, main_loop_leave_screen, NULL);
    if (ok && !o->script) ok = screen_begin(st);
    /* The terminal's background decides between dark and light, where it is known. */
    const char *set = getenv("COLORFGBG"), *last = set ? strrchr(set, ';') : NULL;
    bool light = last && (strcmp(last, ";7") == 0 || strcmp(last, ";15") == 0);
    if (ok)
        x.theme = o->theme       ? theme_find(o->theme)
                  : o->no_colour ? theme_find("mono")
                                 : theme_for(o->script ? 0 : screen_colours(), light);
    if (ok && !x.theme) ok = theme_unknown(o->theme, st);
    if (!o->script) x.glyphs = glyphs_for(getenv("TERM"));
    if (o->ascii || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) x.glyphs = &glyphs_ascii;
    if (o->welcome) x.overlay = VIEW_WELCOME;
    if (ok && o->script) {
        explorer_draw(&x);
        const char *script = o->script;
        struct key k;
        while (!x.quit && key_parse(&script, &k, st)) {
            explorer_key(&x, k);
            worker_take(x.session.worker);
            explorer_draw(&x); /* views get their boxes by being drawn */
        }
        ok = (st->code == LX_OK) && (!o->dump || write_dump(&x, o->dump, st));
    } else if (ok) {
        struct key size = {.code = AT_RESIZE};
        screen_size(&size.row, &size.column);
        explorer_key(&x, size);
        run_terminal(&x);
    }
    defer_end(&screen);
    *interrupted = input_was_interrupted && input_was_interrupted();
    /* A job that does not end at once keeps nobody at the terminal: it ends with the program. */
    if (ok && !o->script && !worker_stopped_within(x.session.worker, GRACE))
        _exit(*interrupted ? EXIT_INTERRUPTED : EXIT_YES);
    explorer_end(&x);
    return ok;
}
