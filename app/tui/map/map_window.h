/* The state of the map: its window. Moving, panning, zooming, playing; the cursor is the session's
 * selection. */
#pragma once

#include "tui/core/explorer.h"
#include "picture/heat.h"

/* The scale of time: by the plan, or by the user. */
enum time_scale { TIME_AS_IT_SUITS, TIME_LINEAR, TIME_BY_EVENTS };

struct map_window {
    int64_t from_tick, to_tick, from_address, to_address; /* to_tick 0: everything; picture addresses */
    bool shows_all;
    enum time_scale scale;
    enum heat_kind heat; /* the heat by which dense cells are shaded */
    int32_t buffer;      /* selected at the last drawing */
    int pattern;
    uint64_t of;             /* the plan of the window */
    uint64_t followed;       /* moves of the cursor that the window has followed */
    struct box map;          /* where it was drawn last, for the mouse */
    struct raster_view view; /* and the view that was drawn */
    /* Kept for a view of a plan: moving the cursor needs no new one. */
    struct raster raster;
    struct heat heats; /* of its dense cells, made on demand */
    bool has_raster;
    uint64_t raster_of;
    struct raster_view raster_view;
    enum heat_kind heats_of;
};

/* Shows everything after a new plan. The cursor is on the selected buffer, unless it was moved to a hole.
 * The window follows the cursor, with buffers that were selected elsewhere in its middle. Both are kept
 * inside the plan. */
void map_window_fit(struct map_window *w, struct session *s);
/* The present view, for a box of the grid. */
struct raster_view map_window_view(const struct map_window *w, const struct scene *on, struct box map);
/* The raster of the last view; made again when the plan or the window changes. */
const struct raster *map_window_raster(struct map_window *w, const struct session *s);
void map_window_forget(void *state);
/* Is a column a stretch between events? */
bool map_window_by_events(const struct map_window *w, const struct session *s);
/* Is the cursor on a free place? */
bool map_window_on_hole(const struct session *s);
bool map_window_request(struct explorer *x, void *state, enum request r, const char *argument);
void map_window_mouse(struct explorer *x, void *state, const struct key *k);
/* One tick on, up to the last. */
void map_window_play(struct explorer *x, void *state);

/* The rows below a map: ticks, brackets over runs of ticks, occupancy, and the place of the window. The
 * raster gives their columns. */
enum { GUTTER = 10 };

/* `area`: rows whose first columns are the gutter; the raster's columns begin behind it. */
void axis_draw_ruler(const struct scene *on, struct box area, const struct raster *r);
void axis_draw_curve(const struct scene *on, struct box area, const struct raster *r);
/* The kernel bundles of the plan in the window. */
void axis_draw_bundles(const struct scene *on, struct box area, const struct raster *r);
/* The nests of the plan, with their loops; where there is room, the nest at the cursor with its iteration. */
void axis_draw_nests(const struct scene *on, struct box area, const struct raster *r);
/* All of time in one row, with the part that is seen. */
void axis_draw_minimap(const struct scene *on, struct box area, const struct map_window *w);

/* Beside the map, where there is room: the selected buffer, buffers on chip at this tick, buffers off
 * chip. */
void map_panel_draw(const struct scene *on, struct box area, const struct map_window *w);
/* The free bytes at the cursor's tick in words; returns the rows it took. */
int map_panel_hole(const struct scene *on, struct box area);
