/* Lines on cells: every cell of a box is 2 x 4 dots of the Braille block, or one character where the font has none.
 *
 * A canvas is made for one drawing. Dots have places from the left and from below; what lies outside is cut off. A cell
 * has one colour, that of the last line through it; ASCII has one dot per cell, and the character says whose it is. */
#ifndef LX_APP_TUI_BRAILLE_H
#define LX_APP_TUI_BRAILLE_H

#include "tui/draw/cells.h"

struct dots {
    int columns, rows;   /* in cells */
    int across, up;      /* dots of a cell: 2 and 4, or 1 and 1 */
    struct dot_cell *at; /* row by row from the top */
};

struct dot_cell {
    uint8_t bits, tone;
    char letter;
};

/* What a line is drawn with. */
struct pen {
    uint8_t tone;
    char letter; /* in ASCII */
    bool dashed;
};

/* False when memory is out. */
bool dots_begin(struct dots *d, int rows, int columns, bool ascii);
void dots_free(struct dots *d);
static inline int dots_across(const struct dots *d)
{
    return d->columns * d->across;
}
static inline int dots_up(const struct dots *d)
{
    return d->rows * d->up;
}
void dots_point(struct dots *d, int x, int y, const struct pen *pen);
/* `along`: dots that the line has so far, so that dashes go on around corners; may be NULL. */
void dots_line(struct dots *d, int x0, int y0, int x1, int y1, const struct pen *pen, int *along);
/* Onto the grid, with its left upper cell there; cells without a dot stay as they are. */
void dots_put(const struct dots *d, struct cells *g, int row, int column);

#endif
