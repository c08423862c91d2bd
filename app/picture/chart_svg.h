/* Line charts as SVG files: panels one below the other, each with its axes (ticks.h), lines, marks and a
 * legend. Colour-blind readers can tell the colours apart. */
#pragma once

#include "picture/ticks.h"

struct svg_line {
    const char *name;
    const double *x, *y; /* a y that is no number breaks the line */
    size_t count;
    bool dashed, points;
    bool stairs; /* a value holds until the next one, the last to the end */
};

struct svg_mark {
    double x;
    const char *words;
};

struct svg_panel {
    const char *title, *x_name, *y_name;
    struct scale x, y;
    const struct svg_line *lines;
    size_t line_count;
    const struct svg_mark *marks;
    size_t mark_count;
};

void svg_begin(int width, int height, const char *title, struct text *out);
/* `top`: its upper edge. */
void svg_add_panel(const struct svg_panel *p, int top, int width, int height, struct text *out);
void svg_end(struct text *out);
