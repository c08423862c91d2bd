/* Writes changed cells to the terminal, and restores the terminal in all cases. */
#include "tui/draw/screen.h"
#include "base/fail.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { MOST_PAIRS = 4096 };

/* The cells on the terminal, so that only changes are written; colour pairs, made when they are first
 * needed. There is one terminal: this is the only state of the program that is not in a struct. */
static struct {
    SCREEN *screen;
    struct cells shown;
    const struct theme *theme;
    struct {
        int16_t ink, paper;
    } pair[MOST_PAIRS];
    int pairs, most_pairs;
    bool on;
    struct termios before;
    bool has_before;
    char restore[128]; /* restores the terminal, for a signal handler */
    size_t restore_length;
} it;

static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/* Only calls that a signal handler may make. */
static void crashed(int number)
{
    if (it.on) {
        ssize_t n = write(STDOUT_FILENO, it.restore, it.restore_length);
        (void)n;
        if (it.has_before) tcsetattr(STDIN_FILENO, TCSANOW, &it.before);
    }
    raise(number); /* the handler was reset: now it kills */
}

static void keep_restore(const char *capability)
{
    const char *s = tigetstr(capability);
    if (!s || s == (const char *)-1) return;
    size_t n = strlen(s);
    if (it.restore_length + n >= sizeof it.restore) return;
    memcpy(it.restore + it.restore_length, s, n);
    it.restore_length += n;
}

bool screen_begin(lx_status *st)
{
    const char *term = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return status_set(
            st, LX_E_USAGE,
            "explore needs a terminal; without one, --script KEYS --dump-screen FILE draws into a file "
            "and `lxplan show` prints a plan");
    it.has_before = tcgetattr(STDIN_FILENO, &it.before) == 0;
    input_signals();
    it.screen = newterm(NULL, stdout, stdin);
    const char *move = it.screen ? tigetstr("cup") : NULL;
    if (!it.screen || !move || move == (const char *)-1) {
        if (it.screen) {
            endwin();
            delscreen(it.screen);
            it.screen = NULL;
        }
        return status_set(
            st, LX_E_USAGE,
            "the terminal \"%s\" cannot move its cursor; set TERM to what it is, or use `lxplan show`",
            term ? term : "(TERM is not set)");
    }
    it.on = true;
    keep_restore("rmkx");
    keep_restore("sgr0");
    keep_restore("cnorm");
    keep_restore("rmcup");
    struct sigaction crash = {.sa_handler = crashed, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction old; /* a sanitizer's handler says more than ours */
        if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(deadly[i], &crash, NULL);
    }
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    if (has_colors() && start_color() == OK) {
        use_default_colors();
        it.most_pairs = COLOR_PAIRS < MOST_PAIRS ? COLOR_PAIRS : MOST_PAIRS;
    }
    input_begin();
    return true;
}

void screen_end(void)
{
    if (!it.on) return;
    endwin();
    delscreen(it.screen);
    cells_free(&it.shown);
    it.on = false;
    it.screen = NULL;
}

void screen_leave(void)
{
    if (!it.on) return;
    def_prog_mode();
    endwin();
}

void screen_return(void)
{
    if (!it.on) return;
    reset_prog_mode();
    refresh();
}

void screen_suspend(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, ours;
    screen_leave();
    sigaction(SIGTSTP, &usual, &ours);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
    screen_return();
}

int screen_colours(void)
{
    return has_colors() ? COLORS : 0;
}

void screen_size(int *rows, int *columns)
{
    getmaxyx(stdscr, *rows, *columns);
}

static int screen_pair_of(int16_t ink, int16_t paper)
{
    if (ink < 0 && paper < 0) return 0;
    for (int i = 0; i < it.pairs; i++)
        if (it.pair[i].ink == ink && it.pair[i].paper == paper) return i + 1;
    if (it.pairs + 1 >= it.most_pairs || init_extended_pair(it.pairs + 1, ink, paper) != OK) return 0;
    it.pair[it.pairs].ink = ink;
    it.pair[it.pairs].paper = paper;
    return ++it.pairs;
}

static void screen_show_cell(const struct cell_glyph *c, const struct theme *t, int row, int column)
{
    const struct look *ink = &t->look[c->style.ink], *paper = &t->look[c->style.paper];
    unsigned marks = c->style.marks | ink->ink_marks | paper->paper_marks;
    attr_t attributes = 0;
    if (marks & MARK_BOLD) attributes |= A_BOLD;
    if (marks & MARK_UNDERLINE) attributes |= A_UNDERLINE;
    if (marks & MARK_REVERSE) attributes |= A_REVERSE;
    wchar_t text[3] = {(wchar_t)(c->code ? c->code : ' '), (wchar_t)c->combining, 0};
    cchar_t out;
    int pair = it.most_pairs > 0 ? screen_pair_of(look_ink(t, c->style), paper->paper) : 0;
    setcchar(&out, text, attributes, (short)(pair < 32767 ? pair : 0), &pair);
    mvadd_wch(row, column, &out);
}

void screen_show(const struct cells *g, const struct theme *t, bool all)
{
    if (!it.on) return;
    if (all || it.theme != t || it.shown.rows != g->rows || it.shown.columns != g->columns) {
        cells_resize(&it.shown, g->rows, g->columns);
        for (int i = 0; i < g->rows * g->columns; i++) it.shown.at[i].code = UINT32_MAX;
        it.theme = t;
        clear();
    }
    for (int r = 0; r < g->rows; r++)
        for (int c = 0; c < g->columns; c++) {
            const struct cell_glyph *now = &g->at[r * g->columns + c];
            struct cell_glyph *was = &it.shown.at[r * g->columns + c];
            if (now->code == was->code && now->combining == was->combining &&
                now->style.ink == was->style.ink && now->style.paper == was->style.paper &&
                now->style.marks == was->style.marks)
                continue;
            *was = *now;
            if (now->code)
                screen_show_cell(now, t, r, c); /* the right half of a wide one comes with its left */
        }
    if (g->cursor_row >= 0) {
        curs_set(1);
        move(g->cursor_row, g->cursor_column);
    } else
        curs_set(0);
    refresh();
}

void screen_copy(const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *term = getenv("TERM");
    struct text out = {0};
    if (!it.on || !term || strncmp(term, "vt", 2) == 0 || strncmp(term, "linux", 5) == 0) return;
    text_add(&out, "\033]52;c;");
    size_t n = strlen(text);
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)(unsigned char)text[i] << 16;
        if (i + 1 < n) v |= (uint32_t)(unsigned char)text[i + 1] << 8;
        if (i + 2 < n) v |= (unsigned char)text[i + 2];
        char four[4] = {digits[v >> 18], digits[v >> 12 & 63], i + 1 < n ? digits[v >> 6 & 63] : '=',
                        i + 2 < n ? digits[v & 63] : '='};
        text_add_n(&out, four, 4);
    }
    text_add(&out, "\a");
    ssize_t written = write(STDOUT_FILENO, out.at, out.length);
    (void)written;
    text_free(&out);
}
