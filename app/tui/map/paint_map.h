/* Cells of a raster as cells of the grid: quarter or half blocks in colour, or letters where colours do
 * not tell buffers apart. Cells of several buffers are shaded (heat.h). Shared by the map and by the two
 * maps of a comparison. */
#pragma once

#include "tui/core/explorer.h"
#include "picture/heat.h"

/* Raster rows that fit into rows of the grid: twice as many in blocks. */
int map_rows(const struct scene *on, int rows);
/* Raster columns that make a column of the grid: two in quarter blocks. */
int map_across(const struct scene *on);

/* The tones of dense cells: colours if most cells are dense; else greys, which no buffer has. */
uint8_t map_ramp(const struct raster *r);

struct map_paint {
    const struct outcome *outcome;
    const struct raster *raster;
    int32_t selected;         /* buffer, or -1 */
    const uint8_t *different; /* per buffer: 1 marks it; NULL: none */
    const char *filter;       /* only buffers with this in their names are coloured; NULL or empty: all */
    enum heat_kind heat;      /* the heats by which dense cells are shaded */
    int64_t iteration;        /* the selected iteration of nests */
    struct heat *heats;       /* of the raster, kept by the caller, made on demand; NULL: not kept */
};

void map_paint(const struct scene *on, struct box area, const struct map_paint *m);

/* Upper left, upper right, lower left, lower right. A cell shows two tones: the most important ones. */
void put_blocks(struct cells *g, const struct theme *t, const struct glyphs *glyphs, int row, int column,
                const uint8_t tone[4]);
/* A share from 0 to 1 as a shade, from tone `ramp` on (HEAT0 or GREY0): by colours, by fewer colours and
 * shades, or by letters. */
void put_heat(struct cells *g, const struct theme *t, const struct glyphs *glyphs, int row, int column,
              uint8_t ramp, double share);
