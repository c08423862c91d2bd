/* The selected tensor as bars on the axis of the sharded dimension: the part that each device owns, and
 * the halos of an exchange. */
#pragma once

#include "tui/core/explorer.h"

/* The selection in the graph of the team. */
struct team_look {
    const struct team_cut *cut;
    int32_t op, tensor, exchange; /* exchange -1: nothing of the tensor is sent */
    int32_t
        core_op; /* the op whose inner part is shown: the selected one, or else the reader of the exchange */
    int member;
};

struct team_view {
    struct list list;
    struct box members; /* where they were drawn last, for the mouse */
    int first_member;
    bool times;  /* the time line instead of the tensor */
    int zoom;    /* halvings of the time around the selected op */
    int rows_of; /* rows of a device; the selected one has two */
};

/* Draws bounds in the first row, then as many devices as there is room for, the selected one among them.
 * Returns the first one. */
int team_picture_draw(const struct scene *on, struct box area, const struct team_look *k);
/* Devices in rows and columns, in at most `rows` rows, which are cut off the area. Returns
 * the box of the devices. Each has its number, the extents of its own part, and the bytes it receives. */
struct box team_grid_draw(const struct scene *on, struct box *area, const struct team_look *k, int rows);
/* The selected device in words: its place, its part, its messages. */
void team_grid_member(const struct scene *on, struct box area, const struct team_look *k);
/* The device at a place of that box; -1: none. */
int team_grid_at(const struct team_look *k, const struct box *members, int row, int column);
/* team_words.c: "2x4"; the size of the team and its traffic; the tensor; a device in a row of devices, and
 * its plan */
void team_add_grid(const struct lx_team_grid *grid, const char *between, struct text *t);
void team_totals_draw(const struct scene *on, struct box row, const struct lx_team_plan *p);
void team_tensor_draw(const struct scene *on, struct box row, const struct team_look *k);
void team_member_draw(const struct scene *on, struct box area, const struct team_look *k);
void team_device_draw(const struct scene *on, struct box row, const struct team_look *k);
/* team_time.c: lanes with computing, waiting and receiving of devices, and their sums; cut off the area. */
void team_time_draw(const struct scene *on, struct team_view *v, struct box *area, const struct team_look *k);
/* False: the time line does not have this request. */
bool team_time_request(struct team_view *v, enum request r);
/* The device whose lane is in a row of the screen; -1: none. */
int team_time_member(const struct team_view *v, const struct team_look *k, int row);
void team_list_draw(const struct scene *on, struct list *l, struct box area, const struct team_look *k);
/* The state of the run, in the last row of the area or in two; cuts them off. */
void team_result_draw(const struct scene *on, struct box *area);
/* view_team.c: another size of the team, as text */
void team_resize(struct explorer *x, const char *text);
