/* The grid on a terminal. Only this knows ncurses.
 *
 * The terminal is restored on return, on a signal that ends the program, and on a crash. */
#pragma once

#include "tui/core/explorer.h"

/* Weak: a program of LXPLAN_BARE is without screen.c, and so are the tests. */
#pragma weak screen_begin
#pragma weak screen_end
#pragma weak screen_leave
#pragma weak screen_return
#pragma weak screen_colours
#pragma weak screen_size
#pragma weak screen_show
#pragma weak screen_copy
#pragma weak input_next
#pragma weak input_was_interrupted

/* False, with `st`: this terminal cannot be used. */
bool screen_begin(lx_status *st);
void screen_end(void *unused);
/* Gives the terminal to another program, and takes it back. */
void screen_leave(void);
void screen_return(void);
int screen_colours(void);
void screen_size(int *rows, int *columns);
/* Shows what changed since the last time; `all`: everything. */
void screen_show(const struct cells *g, const struct theme *t, bool all);
/* Text for the terminal's clipboard (OSC 52), where it has one. */
void screen_copy(const char *text);

/* The next key; waits at most `milliseconds` (-1: for ever) or until `wake` is readable. AT_NOTHING:
 * there was none; AT_LAST: the program is to end. */
struct key input_next(int wake, int milliseconds);
/* Did Ctrl-C end it? */
bool input_was_interrupted(void);
