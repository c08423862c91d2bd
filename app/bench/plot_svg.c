/* Figures as SVG: one panel below the other, steps as polylines,
 * colours that a colour-blind reader can tell. */
#include "bench/report.h"

#include <math.h>
#include <stdio.h>

enum { PANEL_WIDTH = 760, PANEL_HEIGHT = 400, LEFT = 80, RIGHT = 180, TOP = 40, BOTTOM = 56, DIVISIONS = 5 };

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#000000", "#8c6d1f"};
static const char *const dashes[] = {"none", "7 3", "2 3", "9 3 2 3"};

enum { COLOURS = sizeof colours / sizeof *colours, DASHES = sizeof dashes / sizeof *dashes };

static double share_of(double v, double low, double high, bool is_log)
{
    double s = is_log ? (log(v) - log(low)) / (log(high) - log(low)) : (v - low) / (high - low);
    return s < 0 ? 0 : s > 1 ? 1 : s;
}

static double x_of(const struct figure *f, double v)
{
    return LEFT + share_of(v, f->x_low, f->x_high, f->x_is_log) * (PANEL_WIDTH - LEFT - RIGHT);
}

static double y_of(const struct figure *f, double v)
{
    return PANEL_HEIGHT - BOTTOM -
           share_of(v, f->y_low, f->y_high, f->y_is_log) * (PANEL_HEIGHT - TOP - BOTTOM);
}

static double mark_at(int i, double low, double high, bool is_log)
{
    double s = (double)i / DIVISIONS;
    return is_log ? exp(log(low) + s * (log(high) - log(low))) : low + s * (high - low);
}

static void add_axes(const struct figure *f, struct text *out)
{
    double bottom = PANEL_HEIGHT - BOTTOM, right = PANEL_WIDTH - RIGHT;
    text_format(out, "<text x=\"%d\" y=\"24\" font-size=\"16\" font-weight=\"bold\">", LEFT);
    text_xml(out, f->title);
    text_add(out, "</text>\n");
    for (int i = 0; i <= DIVISIONS; i++) {
        double v = mark_at(i, f->x_low, f->x_high, f->x_is_log),
               w = mark_at(i, f->y_low, f->y_high, f->y_is_log);
        text_format(out,
                    "<path d=\"M%.1f %d V%.1f\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%.1f\" "
                    "text-anchor=\"middle\">%.3g</text>\n",
                    x_of(f, v), TOP, bottom, x_of(f, v), bottom + 18, v);
        text_format(out,
                    "<path d=\"M%d %.1f H%.1f\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" "
                    "text-anchor=\"end\">%.3g</text>\n",
                    LEFT, y_of(f, w), right, LEFT - 8, y_of(f, w) + 4, w);
    }
    text_format(out, "<path d=\"M%d %d V%.1f H%.1f\" fill=\"none\" stroke=\"#333\"/>\n", LEFT, TOP, bottom,
                right);
    text_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", (LEFT + right) / 2, bottom + 40);
    text_xml(out, f->x_label);
    text_format(out, "</text>\n<text transform=\"translate(20 %.1f) rotate(-90)\" text-anchor=\"middle\">",
                (TOP + bottom) / 2);
    text_xml(out, f->y_label);
    text_add(out, "</text>\n");
}

static void add_curve(const struct figure *f, size_t k, struct text *out)
{
    const struct curve *c = &f->curves.at[k];
    const char *colour = colours[k % COLOURS], *dash = dashes[k / COLOURS % DASHES];
    bool steps = !f->y_is_log;
    if (c->x.count)
        text_format(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"",
                    colour, dash);
    for (size_t i = 0; i < c->x.count; i++) {
        double x = x_of(f, c->x.at[i]), y = y_of(f, c->y.at[i]);
        if (i == 0)
            text_format(out, "M%.1f %.1f", x, y);
        else if (steps)
            text_format(out, "H%.1fV%.1f", x, y);
        else
            text_format(out, "L%.1f %.1f", x, y);
    }
    if (c->x.count) text_add(out, "\"/>\n");
    if (c->x.count && steps) /* the share stays as it is to the right of its last point */
        text_format(out,
                    "<path stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"M%.1f %.1fH%d\"/>\n",
                    colour, dash, x_of(f, c->x.at[c->x.count - 1]), y_of(f, c->y.at[c->y.count - 1]),
                    PANEL_WIDTH - RIGHT);
    for (size_t i = 0; !steps && i < c->x.count && c->x.count <= 60; i++)
        text_format(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", x_of(f, c->x.at[i]),
                    y_of(f, c->y.at[i]), colour);
    double row = TOP + 8 + 20 * (double)k;
    text_format(out,
                "<path stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" d=\"M%d %.1fh24\"/><text "
                "x=\"%d\" y=\"%.1f\">",
                colour, dash, PANEL_WIDTH - RIGHT + 16, row, PANEL_WIDTH - RIGHT + 48, row + 4);
    text_xml(out, c->name);
    text_add(out, "</text>\n");
}

void plots_as_svg(const struct figure *figures, size_t count, struct text *out)
{
    text_format(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" viewBox=\"0 0 %d %zu\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"#fff\"/>\n",
        PANEL_WIDTH, count * PANEL_HEIGHT, PANEL_WIDTH, count * PANEL_HEIGHT);
    for (size_t i = 0; i < count; i++) {
        text_format(out, "<g transform=\"translate(0 %zu)\">\n", i * PANEL_HEIGHT);
        add_axes(&figures[i], out);
        for (size_t k = 0; k < figures[i].curves.count; k++) add_curve(&figures[i], k, out);
        text_add(out, "</g>\n");
    }
    text_add(out, "</svg>\n");
}
