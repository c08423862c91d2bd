/* A plan as a picture of addresses against time, without colours: the owner of each cell.
 *
 * A cell of several buffers has a state of its own, so no buffer vanishes. Buffers are drawn while they
 * live, in the band of their pool; reserved bytes and headings of pools are cells of their own kind.
 * O(lives in the window + cells). */
#pragma once

#include "picture/plan_index.h"

enum raster_state { CELL_FREE, CELL_ONE, CELL_HANDOVER, CELL_MANY, CELL_RESERVED, CELL_HEADING };

struct raster_cell {
    int32_t owner; /* in a handover the child; of a heading the pool */
    uint8_t state;
};

/* A life in the picture: its cells, both ends included. */
struct raster_rect {
    int32_t buffer;
    int16_t left, right, bottom, top; /* bottom, top: counted from the lowest address */
    bool thin;
    float from, to, low, high; /* the same, not rounded */
};

struct raster {
    const struct plan_index *index;
    struct cell_scale time, address;
    int across; /* cells of the time scale that make a column of the picture */
    struct raster_rect *rects;
    int32_t rect_count;
    struct raster_cell *at; /* row 0 at the highest address */
    int32_t dense;          /* cells that hold several */
};

/* A window onto a plan, and its resolution. */
struct raster_view {
    int64_t from_tick, to_tick, from_address, to_address; /* picture addresses */
    int columns, rows;
    bool by_edges;    /* rows are cut where buffers begin and end, not to scale */
    bool by_events;   /* columns are stretches between events, not to scale */
    int across, down; /* cells of a column, and of a row that is not to be cut; 0: 1. `rows` counts cells */
};

void raster_make(const struct plan_index *x, const struct raster_view *view, struct raster *out);
/* The same where the scales are made already; the raster then owns them. */
void raster_fill(const struct plan_index *x, struct raster *out);
void raster_free(struct raster *r);

static inline const struct raster_cell *raster_at(const struct raster *r, int row, int column)
{
    return &r->at[row * r->time.cells + column];
}

/* The columns of [from, to) (false: none is visible), and the ticks of a column. Every part of a picture
 * uses these. */
bool raster_columns(const struct raster *r, int64_t from, int64_t to, int *first, int *last);
void raster_ticks(const struct raster *r, int column, int64_t *from, int64_t *to);
/* The columns of one tick; by events, of the stretch around it. */
bool raster_tick_columns(const struct raster *r, int64_t tick, int *first, int *last);
static inline int raster_width(const struct raster *r)
{
    return r->time.cells / (r->across > 1 ? r->across : 1);
}
