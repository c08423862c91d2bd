/* The part of the map that is seen, and the cursor in it: moving, panning, zooming, playing. */
#ifndef LX_APP_TUI_MAP_WINDOW_H
#define LX_APP_TUI_MAP_WINDOW_H

#include "tui/explorer.h"

/* After a new plan, or when nothing was looked at yet: all of it. Keeps window and cursor inside the plan. */
void map_window_fit(struct explorer *x);
/* The cursor on the selected buffer, the window around it. */
void map_window_to_buffer(struct explorer *x);
bool map_window_request(struct explorer *x, enum request r, const char *argument);
void map_window_mouse(struct explorer *x, const struct key *k);

#endif
