/* A sweep as a chart on cells: on the screen of the explorer, and as text. */
#pragma once

#include "sweep/sweep_lines.h"
#include "tui/draw/chart.h"

/* The lines of one number of cores (0: of all). */
struct plot sweep_draw(const struct scene *on, struct box area, const struct sweep *s, int64_t cores);
/* The same as lines of text, in colours where there are any. */
void sweep_add_chart(const struct sweep *s, int64_t cores, int rows, int columns, bool ascii,
                     struct text *out);
