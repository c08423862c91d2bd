/* The explorer, from its options to its end. */
#ifndef LX_APP_TUI_MAIN_LOOP_H
#define LX_APP_TUI_MAIN_LOOP_H

#include "tui/views/what_if.h"

struct explore_options {
    const char *const *paths;
    int path_count;
    struct what_if how;
    const struct model_options *models; /* how the files at `paths` are read; NULL: as they are */
    bool ascii, no_colour;
    const char *theme;               /* NULL: by the terminal */
    const char *script;              /* keys instead of a terminal; NULL: a terminal */
    const char *dump;                /* where the last screen goes; NULL: nowhere */
    int rows, columns;               /* of a script's screen; 0: 80 x 24 */
    const struct lx_team_grid *team; /* asked for, and shown first; NULL: as patterns say */
    bool welcome;
};

/* Until the person leaves; *interrupted: by Ctrl-C. False, with `st`, when it cannot begin, or the script is not one. */
bool explore(const struct explore_options *options, bool *interrupted, lx_status *st);

#endif
