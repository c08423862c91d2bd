/* A range of numbers (ticks or addresses) along a row of cells: in proportion, event by event, or cut at
 * the edges of an axis. All parts of a picture use it, so that they agree to the cell.
 *
 * Edges are rounded to the nearest cell; a stretch that would vanish gets the cell it is in. With `step`
 * cells go in groups, and every edge lies between two groups. */
#pragma once

#include "base/base.h"

/* One side of a text map: a range of integers cut into cells.
 *
 * If there are fewer events (edges of buffers) than cells, cuts are put on the events, so that no cell
 * holds two buffers; the longest stretches get the remaining cells. Otherwise all cells have the same
 * length. */
struct axis {
    int64_t *edge; /* cells + 1 of them, strictly increasing */
    int cells;
    bool exact; /* every event is an edge */
    bool even;  /* all cells but the last are of one length */
};

/* Other cuts are put on multiples of `grain` where possible. `events` is sorted in place. */
void axis_make(struct axis *a, int64_t from, int64_t to, int most_cells, int64_t grain, int64_t *events,
               int event_count);

struct cell_scale {
    int64_t from, to;
    int cells;
    struct axis axis;     /* with by_edges: the cells */
    bool by_edges;        /* else they are of equal length, in numbers or in events */
    int step;             /* cells of a group; 0: 1 */
    const int64_t *event; /* rising, borrowed; NULL: in numbers */
    int32_t events;
    double begin, each; /* scale_ready: the unit of `from`, and cells per unit (a number or an event) */
};

/* Must be called when all else is set, before the functions below. */
void scale_ready(struct cell_scale *s);

/* The first cell of [from, to) and the last; false where it lies outside. `*thin`: it would have vanished. */
bool scale_cells(const struct cell_scale *s, int64_t from, int64_t to, int *first, int *last, bool *thin);
/* The first number of a cell. */
int64_t scale_value(const struct cell_scale *s, int cell);
/* The numbers of `count` cells from `cell` on; at least one. */
void scale_range(const struct cell_scale *s, int cell, int count, int64_t *from, int64_t *to);
/* Where a number lies, in cells and parts of a cell; not rounded, not cut. */
double scale_place(const struct cell_scale *s, int64_t v);
/* The same of an event by its number, without a search; only by events. */
static inline double scale_place_event(const struct cell_scale *s, int32_t event)
{
    return (event - s->begin) * s->each;
}
/* Both ends of a stretch that lies in the scale, rounded: its first and last cell. */
void scale_round(const struct cell_scale *s, double from, double to, int *first, int *last, bool *thin);
/* Numbers, or stretches between events, from one end to the other. */
double scale_length(const struct cell_scale *s);
