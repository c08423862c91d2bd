/* The map's own state: the part of it that is seen. Moving, panning, zooming, playing; the cursor itself is
 * the session's selection. */
#ifndef LX_APP_TUI_MAP_WINDOW_H
#define LX_APP_TUI_MAP_WINDOW_H

#include "tui/explorer.h"

struct map_window {
    int64_t from_tick, to_tick, from_address, to_address; /* to_tick 0: all of it */
    bool playing, shows_all;
    int pattern;
    uint64_t of;       /* the plan that the window belongs to */
    uint64_t followed; /* moves of the cursor that it has followed */
    struct box map;    /* where it was drawn last, for the mouse */
    int factor;        /* and rows of its raster in a row of the grid */
};

/* After a new plan, or when nothing was looked at yet: all of it. Follows the cursor where it was moved, and
 * keeps both inside the plan. */
void map_window_fit(struct map_window *w, struct session *s);
bool map_window_request(struct explorer *x, void *state, enum request r, const char *argument);
void map_window_mouse(struct explorer *x, void *state, const struct key *k);
/* One tick further, and not beyond the last. */
void map_window_play(struct explorer *x, void *state);

#endif
