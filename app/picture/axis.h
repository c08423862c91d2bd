/* One side of a text map: a range of integers cut into cells.
 *
 * Where the events (edges of buffers) are fewer than the cells, the cuts are put on them, so that no cell
 * holds two things; the room left over goes to the longest stretches. Else the cells are of equal length. */
#ifndef LX_APP_PICTURE_AXIS_H
#define LX_APP_PICTURE_AXIS_H

#include <stdbool.h>
#include <stdint.h>

struct axis {
    int64_t *edge; /* cells + 1 of them, strictly increasing */
    int cells;
    bool exact; /* every event is an edge */
    bool even;  /* all cells but the last are of one length */
};

/* Cuts that no event asks for are put on multiples of `grain` where they can be. `events` is sorted in place.
 * False when memory is out. */
bool axis_make(struct axis *a, int64_t from, int64_t to, int most_cells, int64_t grain, int64_t *events,
               int event_count);
/* The cell that holds `v`, from <= v < to. */
int axis_cell(const struct axis *a, int64_t v);
void axis_free(struct axis *a);

#endif
