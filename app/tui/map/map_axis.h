/* What stands below a map in its columns: the ticks, brackets over runs of them, what is in use, and where the window
 * lies. All of them ask the raster where a tick is. */
#ifndef LX_APP_TUI_MAP_AXIS_H
#define LX_APP_TUI_MAP_AXIS_H

#include "tui/map/map_window.h"

enum { GUTTER = 10 };

/* A run of ticks with a name, as a bracket shows it. */
struct tick_run {
    int64_t from, to; /* [from, to) */
    char label[120];
};

/* `area`: rows whose first columns are the gutter; the raster's columns begin behind it. */
void axis_draw_ruler(const struct scene *on, struct box area, const struct raster *r);
void axis_draw_curve(const struct scene *on, struct box area, const struct raster *r);
/* One row of brackets; runs are in order and do not meet. `what` stands in the gutter. */
void axis_draw_runs(const struct scene *on, struct box area, const struct raster *r, const char *what,
                    const struct tick_run *runs, int32_t count);
/* The kernel bundles of the plan in the window, where there are several; rows of one line. */
int axis_bundle_rows(const struct session *s);
void axis_draw_bundles(const struct scene *on, struct box area, const struct raster *r);
/* The nests of the plan, with their loops; that at the cursor also with the iteration it is seen in, where there is
 * room. */
int axis_nest_rows(const struct session *s);
void axis_draw_nests(const struct scene *on, struct box area, const struct raster *r);
/* All of time in one row, with the part that is seen. */
void axis_draw_minimap(const struct scene *on, struct box area, const struct map_window *w);

#endif
