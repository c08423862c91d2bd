/* Writes changed cells to the terminal, restores the terminal in all cases, and reads keys, mouse and
 * resizing. Signal handlers only set a flag. */
#include "tui/draw/screen.h"

#include <curses.h>
#include <locale.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>
#include <poll.h>

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

/* Set by handlers, read between keys. */
static volatile sig_atomic_t must_end, must_stop, came_back;

static void input_note_signal(int number)
{
    if (number == SIGTSTP)
        must_stop = 1;
    else if (number == SIGCONT)
        came_back = 1;
    else
        must_end = number;
}

static void input_signals(void)
{
    /* ncurses handles resizing. Its handler of Ctrl-Z ignores the signal while it draws; it installs none
     * where there is one already. */
    struct sigaction noted = {.sa_handler = input_note_signal}, old;
    sigaction(SIGTERM, &noted, NULL);
    sigaction(SIGHUP, &noted, NULL);
    sigaction(SIGINT, &noted, NULL);
    sigaction(SIGCONT, &noted, NULL);
    if (sigaction(SIGTSTP, NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(SIGTSTP, &noted, NULL);
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
    set_escdelay(25);
    nodelay(stdscr, TRUE);
    mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    mouseinterval(0);
    return true;
}

void screen_end(void *unused)
{
    (void)unused;
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
            if (now->code) {
                const struct look *ink = &t->look[now->style.ink], *paper = &t->look[now->style.paper];
                unsigned marks = now->style.marks | ink->ink_marks | paper->paper_marks;
                attr_t attributes = 0;
                if (marks & MARK_BOLD) attributes |= A_BOLD;
                if (marks & MARK_UNDERLINE) attributes |= A_UNDERLINE;
                if (marks & MARK_REVERSE) attributes |= A_REVERSE;
                wchar_t text[3] = {(wchar_t)(now->code ? now->code : ' '), (wchar_t)now->combining, 0};
                cchar_t out;
                int pair = it.most_pairs > 0 ? screen_pair_of(look_ink(t, now->style), paper->paper) : 0;
                setcchar(&out, text, attributes, (short)(pair < 32767 ? pair : 0), &pair);
                mvadd_wch(r, c, &out);
            } /* the right half of a wide one comes with its left */
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
    SCOPED(text_free) struct text out = {0};
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
}

bool input_was_interrupted(void)
{
    return must_end == SIGINT;
}

static const struct {
    wint_t curses;
    uint32_t code;
} table[] = {
    {KEY_UP, AT_UP},        {KEY_DOWN, AT_DOWN}, {KEY_LEFT, AT_LEFT},           {KEY_RIGHT, AT_RIGHT},
    {KEY_HOME, AT_HOME},    {KEY_END, AT_END},   {KEY_PPAGE, AT_PAGE_UP},       {KEY_NPAGE, AT_PAGE_DOWN},
    {KEY_BTAB, AT_BACKTAB}, {KEY_DC, AT_DELETE}, {KEY_BACKSPACE, AT_BACKSPACE}, {KEY_ENTER, AT_ENTER},
    {KEY_F(1), AT_F1},
};

static struct key input_named(wint_t c)
{
    struct key k = {.code = AT_NOTHING};
    MEVENT m;
    if (c == KEY_RESIZE) {
        k.code = AT_RESIZE;
        screen_size(&k.row, &k.column);
    } else if (c == KEY_MOUSE && getmouse(&m) == OK) {
        k.row = m.y;
        k.column = m.x;
        k.code = m.bstate & BUTTON4_PRESSED   ? AT_WHEEL_UP
                 : m.bstate & BUTTON5_PRESSED ? AT_WHEEL_DOWN
                                              : AT_CLICK;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].curses == c) k.code = table[i].code;
    return k;
}

/* Stops the program, as Ctrl-Z asks, until it is continued. */
static void screen_suspend(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, ours;
    screen_leave();
    sigaction(SIGTSTP, &usual, &ours);
    raise(SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
    screen_return();
}

struct key input_next(int wake, int milliseconds)
{
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = wake, .events = POLLIN}};
    wint_t c;
    for (int turn = 0; turn < 2; turn++) {
        if (must_end) return (struct key){.code = AT_LAST};
        if (must_stop) {
            must_stop = 0;
            screen_suspend();
        }
        if (came_back) {
            came_back = 0;
            return (struct key){.code = 12}; /* as Ctrl-L: another program has written here */
        }
        switch (get_wch(&c)) {
        case OK: return (struct key){.code = c == '\n' ? AT_ENTER : c == 8 ? AT_BACKSPACE : (uint32_t)c};
        case KEY_CODE_YES: return input_named(c);
        default: break;
        }
        if (turn == 1) break;
        int n = poll(fds, 2, milliseconds);
        if (n < 0 && errno != EINTR) return (struct key){.code = AT_LAST};
        if (n > 0 && (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) && !(fds[0].revents & POLLIN))
            return (struct key){.code = AT_LAST}; /* the terminal is gone */
        if (n == 0) return (struct key){.code = AT_TICK};
    }
    return (struct key){.code = must_end ? AT_LAST : AT_NOTHING};
}
