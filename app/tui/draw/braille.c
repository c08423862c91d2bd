/* Dots in cells, and lines of dots; see braille.h. */
#include "tui/draw/braille.h"
#include "base/memory.h"

#include <stdlib.h>

enum { DASH = 3 }; /* dots that a dash and the gap behind it have */

bool dots_begin(struct dots *d, int rows, int columns, bool ascii)
{
    *d = (struct dots){.columns = columns > 0 ? columns : 0,
                       .rows = rows > 0 ? rows : 0,
                       .across = ascii ? 1 : 2,
                       .up = ascii ? 1 : 4};
    d->at = mem_zeroed((size_t)d->rows * (size_t)d->columns + 1, sizeof *d->at);
    return d->at != NULL;
}

void dots_free(struct dots *d)
{
    mem_free(d->at);
    *d = (struct dots){0};
}

void dots_point(struct dots *d, int x, int y, const struct pen *pen)
{
    /* Bits of the Braille block, by row from the top and column. */
    static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= dots_across(d) || y >= dots_up(d)) return;
    int from_top = dots_up(d) - 1 - y;
    struct dot_cell *c = &d->at[from_top / d->up * d->columns + x / d->across];
    c->bits |= bits[from_top % d->up][x % d->across];
    c->tone = pen->tone;
    c->letter = pen->letter;
}

void dots_line(struct dots *d, int x0, int y0, int x1, int y1, const struct pen *pen, int *along)
{
    int dx = abs(x1 - x0), dy = abs(y1 - y0), right = x0 < x1 ? 1 : -1, up = y0 < y1 ? 1 : -1;
    int error = dx - dy, n = along ? *along : 0, dash = d->across > 1 ? DASH : 1;
    for (;; n++) {
        if (!pen->dashed || n / dash % 2 == 0) dots_point(d, x0, y0, pen);
        if (x0 == x1 && y0 == y1) break;
        int twice = 2 * error;
        if (twice > -dy) error -= dy, x0 += right;
        if (twice < dx) error += dx, y0 += up;
    }
    if (along) *along = n;
}

void dots_put(const struct dots *d, struct cells *g, int row, int column)
{
    for (int r = 0; r < d->rows; r++)
        for (int c = 0; c < d->columns; c++) {
            const struct dot_cell *at = &d->at[r * d->columns + c];
            uint32_t code = d->across > 1 ? 0x2800u + at->bits : (uint32_t)(unsigned char)at->letter;
            if (at->bits) put(g, row + r, column + c, code, (struct style){.ink = at->tone});
        }
}
