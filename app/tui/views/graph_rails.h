/* Lanes of a plan's graph: one per tensor that is used by several ops, from the first of them to the last. */
#ifndef LX_APP_TUI_GRAPH_RAILS_H
#define LX_APP_TUI_GRAPH_RAILS_H

#include "tui/draw/rails.h"
#include "tui/core/views.h"

/* How many columns lanes have in a list of that width, and how many the numbers of folded ones behind them. */
struct rail_room {
    int lanes, step; /* step: columns of a lane */
    int folded;
    int columns; /* of all of it */
};
struct rail_room rails_fit(const struct outcome *o, int columns);

/* The lanes beside op `op`, from the left of the box on: thick where the tensor is on chip, dotted where it is not,
 * a mark where it is laid out anew, joined to the op by a line. */
void put_rails(const struct scene *on, struct box at, struct rail_room room, int32_t op);

#endif
