/* Four tones in one cell of the grid: blocks of a half or a quarter of it. */
#ifndef LX_APP_TUI_PAINT_BLOCKS_H
#define LX_APP_TUI_PAINT_BLOCKS_H

#include "tui/draw/theme.h"

/* Upper left, upper right, lower left, lower right. A cell shows two tones; of more, the ones that matter most. */
void put_blocks(struct cells *g, const struct theme *t, const struct glyphs *glyphs, int row, int column,
                const uint8_t tone[4]);
/* A share from 0 to 1 as a shade, from tone `ramp` on (HEAT0 or GREY0): by colours, by fewer colours and shades, or by
 * letters. */
void put_heat(struct cells *g, const struct theme *t, const struct glyphs *glyphs, int row, int column,
              uint8_t ramp, double share);

#endif
