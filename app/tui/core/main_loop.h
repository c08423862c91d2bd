/* The explorer, from its options to its end. */
#pragma once

#include "tui/views/what_if.h"
#include "tui/draw/theme.h"

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
    const struct lx_team_grid *team; /* shown first; NULL: as patterns say */
    bool welcome;
};

/* Until the user leaves; *interrupted: by Ctrl-C. False, with `st`, when it cannot begin, or the script is
 * wrong. */
bool explore(const struct explore_options *options, bool *interrupted, lx_status *st);

/* The user's settings for every explorer: ~/.config/lxplan/config. */
struct config {
    const struct theme *theme; /* NULL: none was named */
    bool ascii;
    struct what_if how; /* settings of the file */
};

/* The name of the file, allocated: in $XDG_CONFIG_HOME, else in ~/.config. NULL: neither is set. */
char *config_path(void);
/* Reads it, binds its keys, and fills `c`. A missing file is no error; errors have their place. */
bool config_read(const char *path, struct config *c, lx_status *st);
/* Settings of the file that the command line does not set. */
void config_apply(const struct config *c, struct what_if *how);
