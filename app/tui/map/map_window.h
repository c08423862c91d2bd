/* The map's own state: the part of it that is seen. Moving, panning, zooming, playing; the cursor itself is
 * the session's selection. */
#ifndef LX_APP_TUI_MAP_WINDOW_H
#define LX_APP_TUI_MAP_WINDOW_H

#include "tui/core/explorer.h"
#include "picture/heat.h"

/* The scale of time: as it suits the plan, or as was asked for. */
enum time_scale { TIME_AS_IT_SUITS, TIME_LINEAR, TIME_BY_EVENTS };

struct map_window {
    int64_t from_tick, to_tick, from_address, to_address; /* to_tick 0: all of it; picture addresses */
    bool playing, shows_all;
    enum time_scale scale;
    enum heat_kind heat; /* what dense cells are shaded by */
    int32_t buffer;      /* that was selected when it was looked at last */
    int pattern;
    uint64_t of;             /* the plan that the window belongs to */
    uint64_t followed;       /* moves of the cursor that it has followed */
    struct box map;          /* where it was drawn last, for the mouse */
    struct raster_view view; /* and what was drawn */
    /* Drawn once for a view of a plan: moving the cursor needs no new one. */
    struct raster raster;
    struct heat heats; /* of its dense cells, made when it is needed */
    bool has_raster;
    uint64_t raster_of;
    struct raster_view raster_view;
    enum heat_kind heats_of;
};

/* After a new plan, or when nothing was looked at yet: all of it. The cursor is where the selected buffer is, unless it
 * was moved to a place where none is; the window follows it where it was moved, has what was found in its middle, and
 * both are kept inside the plan. */
void map_window_fit(struct map_window *w, struct session *s);
/* What it shows, in so many columns and rows of the grid. */
struct raster_view map_window_view(const struct map_window *w, const struct scene *on, struct box map);
/* The raster of the last view; made again when the plan or the window changes. */
const struct raster *map_window_raster(struct map_window *w, const struct session *s);
void map_window_forget(void *state);
/* Is a column a stretch between events? */
bool map_window_by_events(const struct map_window *w, const struct session *s);
/* Is the cursor at a place where no buffer is? */
bool map_window_on_hole(const struct session *s);
bool map_window_request(struct explorer *x, void *state, enum request r, const char *argument);
void map_window_mouse(struct explorer *x, void *state, const struct key *k);
/* One tick further, and not beyond the last. */
void map_window_play(struct explorer *x, void *state);

/* What stands below a map in its columns: the ticks, brackets over runs of them, what is in use, and where the window
 * lies. All of them ask the raster where a tick is. */
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
/* The kernel bundles of the plan in the window. */
void axis_draw_bundles(const struct scene *on, struct box area, const struct raster *r);
/* The nests of the plan, with their loops; where there is room, the nest at the cursor with its iteration. */
void axis_draw_nests(const struct scene *on, struct box area, const struct raster *r);
/* All of time in one row, with the part that is seen. */
void axis_draw_minimap(const struct scene *on, struct box area, const struct map_window *w);

/* Beside the map, where there is room: the selected buffer, what is on chip at this tick,
 * what is off chip. */
void map_panel_draw(const struct scene *on, struct box area, const struct map_window *w);
/* The free bytes at the cursor's tick in words; returns the rows it took. */
int map_panel_hole(const struct scene *on, struct box area);

#endif
