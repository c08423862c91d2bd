/* What a person wants of every explorer: ~/.config/lxplan/config. */
#ifndef LX_APP_TUI_CONFIG_H
#define LX_APP_TUI_CONFIG_H

#include "tui/draw/theme.h"
#include "tui/views/what_if.h"

struct config {
    const struct theme *theme; /* NULL: none was named */
    bool ascii;
    struct what_if how; /* what was set */
};

/* The file's name, malloc'ed: in $XDG_CONFIG_HOME, else in ~/.config. NULL: there is neither. */
char *config_path(void);
/* Reads it, binds its keys, and fills `c`. No file is no error; anything else that is wrong is, with its place. */
bool config_read(const char *path, struct config *c, lx_status *st);
/* What the file set and the command line did not. */
void config_apply(const struct config *c, struct what_if *how);

#endif
