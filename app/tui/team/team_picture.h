/* The tensor that is looked at as bars on the axis of the dimension that is cut: what each member owns of it,
 * and the halos that an exchange brings. */
#ifndef LX_APP_TUI_TEAM_PICTURE_H
#define LX_APP_TUI_TEAM_PICTURE_H

#include "tui/core/explorer.h"

/* What is selected, in the graph of the team. */
struct team_look {
    const struct team_cut *cut;
    int32_t op, tensor, exchange; /* exchange -1: nothing of the tensor is sent */
    int32_t core_op; /* the op whose core is told: the selected one, or else who reads the exchange */
    int member;
};

struct team_view {
    struct list list;
    struct box members; /* where they were drawn last, for the mouse */
    int first_member;
    bool times;  /* the time line instead of the tensor */
    int zoom;    /* of it: how often the part around the selected op was halved */
    int rows_of; /* rows of a member in it; the selected one has two */
};

/* Draws bounds in the first row, then as many members as there is room for, the selected one among them.
 * Returns the first of these. */
int team_picture_draw(const struct scene *on, struct box area, const struct team_look *k);
/* team_grid.c: members in rows and columns, in at most so many rows, which are cut off the area; where the members are. Each
 * has its number, the extents of what it owns of the tensor, and what it gets in the exchange. */
struct box team_grid_draw(const struct scene *on, struct box *area, const struct team_look *k, int rows);
/* The selected member in words: where it stands, what it owns, from whom it gets what, and to whom it sends. */
void team_grid_member(const struct scene *on, struct box area, const struct team_look *k);
/* The member at a place of that box; -1: none. */
int team_grid_at(const struct team_look *k, const struct box *members, int row, int column);
/* team_words.c: "2x4"; how large the team is and what it exchanges; the tensor; a member in a row of members, and its device */
void team_add_grid(const struct lx_team_grid *grid, const char *between, struct text *t);
void team_totals_draw(const struct scene *on, struct box row, const struct lx_team_plan *p);
void team_tensor_draw(const struct scene *on, struct box row, const struct team_look *k);
void team_member_draw(const struct scene *on, struct box area, const struct team_look *k);
void team_device_draw(const struct scene *on, struct box row, const struct team_look *k);
/* team_time.c: lanes of what members compute, wait for and receive, and what that comes to; cut off the area. */
void team_time_draw(const struct scene *on, struct team_view *v, struct box *area, const struct team_look *k);
/* False: that is no request of the time line. */
bool team_time_request(struct team_view *v, enum request r);
/* The member whose lane is in a row of the screen; -1: none. */
int team_time_member(const struct team_view *v, const struct team_look *k, int row);
/* team_list.c */
void team_list_draw(const struct scene *on, struct list *l, struct box area, const struct team_look *k);
/* team_result.c: in the last row of the area, or in two of them; cuts them off. */
void team_result_draw(const struct scene *on, struct box *area);
/* view_team.c: another size of the team, as typed */
void team_resize(struct explorer *x, const char *text);

#endif
