/* A plan as a picture of addresses against time, without colours: which buffer owns which cell.
 *
 * Edges are rounded to the nearest cell, so that neighbours never fight for one; a buffer that would vanish
 * gets the cell it is in, and where another is there already the cell says that it holds several. O(buffers +
 * cells). */
#ifndef LX_APP_PICTURE_RASTER_H
#define LX_APP_PICTURE_RASTER_H

#include "lxplan.h"
#include "picture/axis.h"

enum raster_state { CELL_FREE, CELL_ONE, CELL_HANDOVER, CELL_MANY };

struct raster_cell {
    int32_t owner; /* in a handover the child */
    uint8_t state;
};

/* A range of numbers along a row of cells. */
struct scale {
    int64_t from, to;
    int cells;
    struct axis axis; /* of edges, where `exact`; else the cells are of equal length */
    bool by_edges;
};

/* A placed buffer that is in the picture: its cells, both ends included. */
struct raster_rect {
    int32_t buffer;
    int16_t left, right, bottom, top; /* bottom, top: counted from the lowest address */
    bool thin;
};

struct raster {
    struct scale time, address;
    struct raster_rect *rects;
    int32_t rect_count;
    struct raster_cell *at; /* row 0 at the highest address */
};

/* The first cell of [from, to) and the last; false where it lies outside. `*thin`: it would have vanished. */
bool scale_cells(const struct scale *s, int64_t from, int64_t to, int *first, int *last, bool *thin);
/* What a cell begins at. */
int64_t scale_value(const struct scale *s, int cell);

/* A window onto a plan and how finely it is seen. */
struct raster_view {
    int64_t from_tick, to_tick, from_address, to_address;
    int columns, rows;
    bool by_edges; /* rows are cut where buffers begin and end, not to scale */
};

/* False when memory is out. */
bool raster_make(const struct lx_plan *p, const struct raster_view *view, struct raster *out);
/* The same where the scales are made already; they then belong to the raster, also when it fails. */
bool raster_fill(const struct lx_plan *p, struct raster *out);
void raster_free(struct raster *r);

static inline const struct raster_cell *raster_at(const struct raster *r, int row, int column)
{
    return &r->at[row * r->time.cells + column];
}

#endif
