/* Shades of cells that hold several buffers: from 0 to 1 per cell of the grid. */
#pragma once

#include "picture/raster.h"

/* X(id, name, help). */
#define HEATS(X)                                                                                             \
    X(OCCUPANCY, "occupancy", "the share of the cell that is in use")                                        \
    X(COST, "cost", "bytes saved per byte on chip, relative to the cell with most")                          \
    X(FRAGMENTATION, "fragmentation", "number of pieces, relative to the cell with most")                    \
    X(AGE, "age", "time since its buffers began, relative to the oldest")

#define HEAT_ENUM(id, name, help) HEAT_##id,
enum heat_kind { HEATS(HEAT_ENUM) HEAT_COUNT };
#undef HEAT_ENUM
extern const char *const heat_names[HEAT_COUNT], *const heat_helps[HEAT_COUNT];

/* The characters of shares without colours, from nothing to full. The first two look like a free place: a
 * share above 0 gets neither. */
extern const char heat_ramp[];
char heat_letter(double share);

struct heat {
    int rows, columns;
    float *at; /* row 0 at the highest address */
};

/* `across`, `down`: cells of the raster in a cell of the grid. */
void heat_make(const struct raster *r, enum heat_kind kind, int across, int down, struct heat *out);
void heat_free(struct heat *h);
