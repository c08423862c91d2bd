/* Beside the map, where there is room: the selected buffer, what is on chip at this tick,
 * what is off chip. */
#ifndef LX_APP_TUI_MAP_PANEL_H
#define LX_APP_TUI_MAP_PANEL_H

#include "tui/map/map_window.h"

void map_panel_draw(const struct scene *on, struct box area, const struct map_window *w);
/* The free bytes at the cursor's tick in words; returns the rows it took. */
int map_panel_hole(const struct scene *on, struct box area);

#endif
