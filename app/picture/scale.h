/* A range of numbers (ticks or addresses) along a row of cells: in proportion, event by event, or cut at the edges of an
 * axis. What is drawn where is asked here and nowhere else, so that all parts of a picture agree to the cell.
 *
 * Edges are rounded to the nearest cell, so that neighbours never fight for one; what would vanish gets the cell it is
 * in. With `step` cells go in groups: every edge lies between two groups. */
#ifndef LX_APP_PICTURE_SCALE_H
#define LX_APP_PICTURE_SCALE_H

#include "picture/axis.h"

struct scale {
    int64_t from, to;
    int cells;
    struct axis axis;     /* with by_edges: the cells */
    bool by_edges;        /* else they are of equal length, in numbers or in events */
    int step;             /* cells of a group; 0: 1 */
    const int64_t *event; /* rising, borrowed; NULL: in numbers */
    int32_t events;
};

/* The first cell of [from, to) and the last; false where it lies outside. `*thin`: it would have vanished. */
bool scale_cells(const struct scale *s, int64_t from, int64_t to, int *first, int *last, bool *thin);
/* What a cell begins at. */
int64_t scale_value(const struct scale *s, int cell);
/* The numbers that `count` cells from `cell` on stand for: those that are drawn there, at least one. */
void scale_range(const struct scale *s, int cell, int count, int64_t *from, int64_t *to);
/* Where a number lies, in cells and parts of a cell; not rounded, not cut. */
double scale_place(const struct scale *s, int64_t v);
/* Numbers, or stretches between events, from one end to the other. */
double scale_length(const struct scale *s);
/* Cells of a number. */
double scale_each(const struct scale *s);

#endif
