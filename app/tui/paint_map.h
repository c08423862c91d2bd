/* Cells of a raster as cells of the grid: half blocks in colour, or letters where colours do not tell buffers
 * apart. Shared by the map and by the two maps of a comparison. */
#ifndef LX_APP_TUI_PAINT_MAP_H
#define LX_APP_TUI_PAINT_MAP_H

#include "tui/explorer.h"
#include "picture/raster.h"

/* Raster rows that fit into so many rows of the grid: twice as many in half blocks. */
int map_rows(const struct scene *on, int rows);

struct map_paint {
    const struct outcome *outcome;
    const struct raster *raster;
    int32_t selected;         /* buffer, or -1 */
    const uint8_t *different; /* per buffer: 1 to draw attention to it; NULL: none */
    const char *filter;       /* only buffers with this in their names are coloured; NULL or empty: all */
};

void map_paint(const struct scene *on, struct box area, const struct map_paint *m);

#endif
