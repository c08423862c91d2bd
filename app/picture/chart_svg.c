/* Line charts as SVG. */
#include "picture/chart_svg.h"
#include "export/plan_map.h"

enum { LEFT = 90, RIGHT = 150, TOP = 48, BOTTOM = 54, TICK_ROOM_X = 90, TICK_ROOM_Y = 44 };

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#8c6d1f", "#5b5b5b"};
enum { COLOURS = sizeof colours / sizeof *colours };

struct sheet {
    double left, right, top, bottom;
};

static double chart_svg_x(const struct svg_panel *p, const struct sheet *s, double v)
{
    return s->left + scale_share(&p->x, v) * (s->right - s->left);
}

static double chart_svg_y(const struct svg_panel *p, const struct sheet *s, double v)
{
    return s->bottom - scale_share(&p->y, v) * (s->bottom - s->top);
}

static void chart_svg_add_axes(const struct svg_panel *p, const struct sheet *s, struct text *out)
{
    struct tick ticks[SCALE_TICKS];
    int n = ticks_make(&p->x, (int)((s->right - s->left) / TICK_ROOM_X) + 1, ticks);
    for (int i = 0; i < n; i++) {
        double x = chart_svg_x(p, s, ticks[i].at);
        text_format(out,
                    "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" text-anchor=\"middle\" "
                    "x=\"%.1f\" y=\"%.1f\">%s</text>\n",
                    x, s->top, s->bottom, x, s->bottom + 18, ticks[i].words.at);
    }
    n = ticks_make(&p->y, (int)((s->bottom - s->top) / TICK_ROOM_Y) + 1, ticks);
    for (int i = 0; i < n; i++) {
        double y = chart_svg_y(p, s, ticks[i].at);
        text_format(
            out,
            "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"tick\" text-anchor=\"end\" x=\"%.1f\" "
            "y=\"%.1f\">%s</text>\n",
            s->left, y, s->right, s->left - 8, y + 4, ticks[i].words.at);
    }
    text_format(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", s->left, s->top, s->bottom,
                s->right);
    text_format(out, "<text text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">", (s->left + s->right) / 2,
                s->bottom + 40);
    text_xml_name(out, p->x_name, 0);
    text_format(out, "</text>\n<text text-anchor=\"middle\" transform=\"translate(18 %.1f) rotate(-90)\">",
                (s->top + s->bottom) / 2);
    text_xml_name(out, p->y_name, 0);
    text_add(out, "</text>\n");
}

static void chart_svg_add_line(const struct svg_panel *p, const struct sheet *s, size_t k, struct text *out)
{
    const struct svg_line *l = &p->lines[k];
    const char *colour = l->dashed ? "#777" : colours[k % COLOURS], *dash = l->dashed ? "5 4" : "none";
    bool pen_down = false;
    text_format(out, "<path class=\"line\" stroke=\"%s\" stroke-dasharray=\"%s\" d=\"", colour, dash);
    for (size_t i = 0; i < l->count; i++) {
        bool here = isfinite(l->y[i]);
        if (here && pen_down && l->stairs)
            text_format(out, "H%.1fV%.1f", chart_svg_x(p, s, l->x[i]), chart_svg_y(p, s, l->y[i]));
        else if (here)
            text_format(out, "%c%.1f %.1f", pen_down ? 'L' : 'M', chart_svg_x(p, s, l->x[i]),
                        chart_svg_y(p, s, l->y[i]));
        pen_down = here;
    }
    if (pen_down && l->stairs) text_format(out, "H%.1f", s->right);
    text_add(out, "\"/>\n");
    for (size_t i = 0; l->points && i < l->count; i++)
        if (isfinite(l->y[i]))
            text_format(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"/>",
                        chart_svg_x(p, s, l->x[i]), chart_svg_y(p, s, l->y[i]), colour);
    double row = s->top + 8 + 20 * (double)k;
    text_format(out,
                "\n<path class=\"line\" stroke=\"%s\" stroke-dasharray=\"%s\" d=\"M%.1f %.1fh22\"/><text "
                "x=\"%.1f\" y=\"%.1f\">",
                colour, dash, s->right + 14, row, s->right + 42, row + 4);
    text_xml_name(out, l->name, 0);
    text_add(out, "</text>\n");
}

void svg_add_panel(const struct svg_panel *p, int top, int width, int height, struct text *out)
{
    struct sheet s = {LEFT, width - RIGHT, top + TOP, top + height - BOTTOM};
    text_format(out, "<g><text class=\"title\" x=\"%d\" y=\"%d\">", LEFT, top + 26);
    text_xml_name(out, p->title, 0);
    text_add(out, "</text>\n");
    chart_svg_add_axes(p, &s, out);
    for (size_t k = 0; k < p->mark_count; k++) {
        double x = chart_svg_x(p, &s, p->marks[k].x), y = s.top + 14 + 16 * (double)k;
        bool left = x > (s.left + s.right) / 2;
        text_format(out,
                    "<path class=\"mark\" d=\"M%.1f %.1fV%.1f\"/><text class=\"words\" text-anchor=\"%s\" "
                    "x=\"%.1f\" y=\"%.1f\">",
                    x, s.top, s.bottom, left ? "end" : "start", left ? x - 6 : x + 6, y);
        text_xml_name(out, p->marks[k].words, 0);
        text_add(out, "</text>\n");
    }
    for (size_t k = p->line_count; k-- > 0;) chart_svg_add_line(p, &s, k, out); /* the first on top */
    text_add(out, "</g>\n");
}

void svg_begin(int width, int height, const char *title, struct text *out)
{
    text_format(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
        "height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
        width, height, width, height);
    text_xml_name(out, title, 0);
    text_add(out,
             "</title>\n<style>text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu "
             "Sans',sans-serif;fill:#1f2933}"
             ".title{font-size:16px;font-weight:600}.tick{font-size:11px;fill:#52606d}.grid{stroke:#e4e7eb}"
             ".axis{stroke:#7b8794;fill:none}.line{fill:none;stroke-width:2}"
             ".mark{stroke:#b7791f;stroke-dasharray:3 3}.words{fill:#8a5a12;font-size:11px}</style>\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
}

void svg_end(struct text *out)
{
    text_add(out, "</svg>\n");
}
