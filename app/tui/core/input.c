/* Keys, mouse and resizing from ncurses, and the signals that it does not handle. Handlers only set a flag. */
#include "tui/draw/screen.h"

#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

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

bool input_was_interrupted(void)
{
    return must_end == SIGINT;
}

void input_signals(void)
{
    /* ncurses handles resizing. Its handler of Ctrl-Z ignores the signal while it draws; it installs none where there is
     * one already. */
    struct sigaction noted = {.sa_handler = input_note_signal}, old;
    sigaction(SIGTERM, &noted, NULL);
    sigaction(SIGHUP, &noted, NULL);
    sigaction(SIGINT, &noted, NULL);
    sigaction(SIGCONT, &noted, NULL);
    if (sigaction(SIGTSTP, NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(SIGTSTP, &noted, NULL);
}

void input_begin(void)
{
    set_escdelay(25);
    nodelay(stdscr, TRUE);
    mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
    mouseinterval(0);
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
        case OK:
            return (struct key){.code = c == '\n' ? AT_ENTER : c == 8 ? AT_BACKSPACE : (uint32_t)c};
        case KEY_CODE_YES:
            return input_named(c);
        default:
            break;
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
