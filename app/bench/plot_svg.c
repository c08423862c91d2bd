/* Figures as SVG: one panel below the other (picture/chart_svg.h), steps as stairs. */
#include "bench/report.h"
#include "base/memory.h"
#include "picture/chart_svg.h"

#include <stdlib.h>

enum { PANEL_WIDTH = 760, PANEL_HEIGHT = 400 };

static void plot_svg_add_panel(const struct figure *f, int top, struct text *out)
{
    struct svg_line *lines = mem_zeroed(f->curves.count + 1, sizeof *lines);
    out->failed |= !lines;
    for (size_t k = 0; lines && k < f->curves.count; k++) {
        const struct curve *c = &f->curves.at[k];
        lines[k] = (struct svg_line){.name = c->name,
                                     .x = c->x.at,
                                     .y = c->y.at,
                                     .count = c->x.count,
                                     .stairs = !f->y_is_log,
                                     .points = f->y_is_log && c->x.count <= 60};
    }
    if (lines)
        svg_add_panel(&(struct svg_panel){.title = f->title,
                                          .x_name = f->x_label,
                                          .y_name = f->y_label,
                                          .x = {f->x_low, f->x_high, f->x_is_log, SCALE_PLAIN, false},
                                          .y = {f->y_low, f->y_high, f->y_is_log,
                                                f->y_is_log ? SCALE_SECONDS : SCALE_PLAIN, false},
                                          .lines = lines,
                                          .line_count = f->curves.count},
                      top, PANEL_WIDTH, PANEL_HEIGHT, out);
    mem_free(lines);
}

void plots_as_svg(const struct figure *figures, size_t count, struct text *out)
{
    svg_begin(PANEL_WIDTH, (int)count * PANEL_HEIGHT, "Benchmark", out);
    for (size_t i = 0; i < count; i++) plot_svg_add_panel(&figures[i], (int)i * PANEL_HEIGHT, out);
    svg_end(out);
}
