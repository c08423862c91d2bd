/* The address-time map as an SVG file without scripts, fonts or other files.
 *
 * From top to bottom: title, the map with one rectangle per buffer, occupancy over time, and the lives of
 * spilled buffers. Several pools are bands one below the other. The colour of a buffer comes from its
 * tensor's name and is the same in every drawing. Each rectangle has a tooltip. */
#include "export/plan_words.h"
#include "picture/picture.h"
#include "picture/svg_frame.h"
#include "base/checked.h"
#include "base/memory.h"
#include "text/format.h"

#include <math.h>
#include <string.h>

enum {
    DEFAULT_WIDTH = 1200,
    DEFAULT_HEIGHT = 760,
    LEFT = 150,
    RIGHT = 24,
    TOP = 64,
    AXIS = 40,
    CURVE = 56,
    GAP = 22,
    LANE = 15,
    OP_NAMES = 76,
};

static void show_svg_occupancy(const struct lx_plan *p, const struct frame *f,
                               const struct lx_occupancy *time, struct text *t)
{
    int64_t whole =
        max_i64(p->problem.objective == LX_HEIGHT ? p->figures.height_bytes : p->problem.capacity, 1);
    double bottom = f->y + f->height;
    text_format(
        t,
        "<g id=\"occupancy\"><rect class=\"panel\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n"
        "<path class=\"curve\" d=\"M%.2f %.2f",
        f->x, f->y, f->width, f->height, f->x, bottom);
    for (size_t i = 0; i < time->count; i++) {
        double y = bottom - f->height * (double)time->bytes[i] / (double)whole;
        text_format(t, "H%.2fV%.2f", x_of(f, time->tick[i]), y);
    }
    text_format(t, "H%.2fV%.2fZ\"/>\n", f->x + f->width, bottom);
    text_format(t, "<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">in use</text>\n", f->x - 8,
                f->y + 14);
    text_format(t, "<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">peak %s</text></g>\n",
                f->x - 8, f->y + 30, in_percent((double)time->peak / (double)whole).at);
}

static void show_svg_spilled(const struct lx_plan *p, const struct frame *f, const struct lanes *l,
                             struct text *t)
{
    for (int32_t k = 0; k < l->count; k++) {
        const struct lx_buffer *b = &p->problem.buffers[l->at[k].who];
        double x = x_of(f, b->start), w = x_of(f, b->end) - x, y = f->y + l->at[k].lane * LANE;
        text_format(t,
                    "<g><rect class=\"spilled\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"",
                    x, y + 1, fmax(w, 1), LANE - 2);
        add_colour(t, p, l->at[k].who);
        text_add(t, "\">");
        add_tooltip(p, l->at[k].who, t);
        text_add(t, "</rect>");
        add_label(b->name, x, y, w, LANE, t);
        text_add(t, "</g>\n");
    }
}

static void show_svg_title(const struct lx_plan *p, struct text *t)
{
    text_format(t, "<text class=\"title\" x=\"%d\" y=\"28\">", 20);
    add_xml(t, p->graph->name, 80);
    text_format(t, "</text>\n<text class=\"subtitle\" x=\"%d\" y=\"48\">", 20);
    add_xml(t, p->solver, 30);
    /* add_least_words writes "optimal" below */
    bool said_below =
        p->problem.objective == LX_SPILL && p->answer.status == LX_OPTIMAL && lx_plan_gap(p) <= 0;
    text_format(t, ": %s%s%s of %s", said_below ? "" : lx_verdict_word(p->answer.status),
                said_below ? "" : ", ", in_bytes(p->figures.hbm_bytes).at,
                p->graph->list ? "spill cost" : "HBM traffic");
    if (p->figures.baseline_hbm_bytes > 0)
        text_format(t, " (%s saved)",
                    in_percent((double)(p->figures.baseline_hbm_bytes - p->figures.hbm_bytes) /
                               (double)p->figures.baseline_hbm_bytes)
                        .at);
    if (p->problem.objective == LX_SPILL) add_least_words(p, true, t);
    if (p->problem.objective == LX_HEIGHT)
        text_format(t, ", height %s", in_bytes(p->figures.height_bytes).at);
    if (p->graph->target_hbm_bytes >= 0)
        text_format(t, ", target %s", lx_plan_meets_target(p) ? "met" : "missed");
    text_add(t, "</text>\n");
}

static const char styles[] =
    "<style>text{font:11px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2933}"
    ".title{font-size:18px;font-weight:600}.subtitle{font-size:12px;fill:#52606d}.dim{fill:#7b8794}"
    ".name{text-anchor:middle;pointer-events:none}.address{text-anchor:end;font-family:ui-monospace,"
    "monospace;font-size:10px}"
    ".address "
    ".dim{font-family:system-ui,sans-serif}.tick{text-anchor:middle;font-size:10px}.op{font-size:10px;fill:#"
    "52606d}"
    ".panel{fill:#f8fafc;stroke:#cbd2d9}.grid{stroke:#e4e7eb}.buffer{stroke:#52606d;stroke-width:.6}"
    ".buffer:hover,.spilled:hover{stroke:#000;stroke-width:2}"
    ".spilled{stroke:#52606d;stroke-width:.8;stroke-dasharray:3 2;fill-opacity:.45}"
    ".limit{stroke:#cf1124;stroke-width:1.2;stroke-dasharray:6 "
    "3}.limit-text{text-anchor:end;fill:#cf1124;font-size:10px}"
    ".pool{font-weight:600}.pool .dim{font-weight:400}.reserved{stroke:#9aa5b1;stroke-width:.6}"
    ".tile{stroke:#1f2933;stroke-width:1;stroke-dasharray:4 "
    "2}.nest{fill:none;stroke:#52606d;stroke-width:1.2}"
    ".curve{fill:#9fb3c8;stroke:#627d98;stroke-width:.8}</style>\n"
    "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\">"
    "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#1f2933\" stroke-opacity=\".55\" "
    "stroke-width=\"1.6\"/></pattern>"
    "<pattern id=\"tile\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
    "<circle cx=\"2.5\" cy=\"2.5\" r=\"0.9\" fill=\"#1f2933\" fill-opacity=\".5\"/></pattern>"
    "<pattern id=\"reserved\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(-45)\"><rect width=\"8\" height=\"8\" fill=\"#e4e7eb\"/>"
    "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"8\" stroke=\"#9aa5b1\" stroke-width=\"3\"/></pattern></defs>\n";

void show_svg(const struct lx_plan *p, const struct picture *how, struct text *t)
{
    struct lx_occupancy time = {0};
    struct plan_index index = {0};
    int32_t count = 0, *spilled = off_chip_by_cost(p, &count), barred = 0;
    lx_occupancy_make(p, LX_ALL_POOLS, &time);
    plan_index_make(p, &index);
    while (count > 0 && p->problem.buffers[spilled[count - 1]].reason)
        count--, barred++; /* they stand last */
    int width = how->width ? how->width : DEFAULT_WIDTH, height = how->height ? how->height : DEFAULT_HEIGHT;
    struct lanes lanes = {.most = MOST_LANES};
    for (int32_t k = 0; k < count; k++)
        lanes_place(&lanes, spilled[k], p->problem.buffers[spilled[k]].start,
                    p->problem.buffers[spilled[k]].end);
    int axis = AXIS + (svg_names_ops(p) ? OP_NAMES : 0) + (p->nest_count > 0 ? NEST_ROW : 0);
    double below = axis + CURVE + GAP + lanes.used * LANE + 24, map = fmax(height - TOP - below, 120);
    struct frame f = {.x = LEFT, .y = TOP, .width = width - LEFT - RIGHT, .height = map, .index = &index};
    f.first = time.first;
    f.last = max_i64(time.last, time.first + 1);
    if (svg_names_ops(p)) { /* all ops are on the axis */
        f.first = min_i64(f.first, 0);
        f.last = max_i64(f.last, p->layouts->graph->op_count);
    }
    height = (int)(TOP + map + below);
    text_format(
        t,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
        "height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
        width, height, width, height);
    add_xml(t, p->graph->name, 0);
    text_format(t, "</title>\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", styles, width, height);
    show_svg_title(p, t);
    svg_bands(&f);
    svg_addresses(&f, t);
    svg_ticks(&f, t);
    svg_nests(&f, f.y + f.height + axis - NEST_ROW - 6, t);
    svg_reserved(&f, t);
    svg_buffers(&f, t);
    mem_free(f.bands);
    struct frame curve = f, strip = f;
    curve.y = f.y + f.height + axis;
    curve.height = CURVE;
    show_svg_occupancy(p, &curve, &time, t);
    strip.y = curve.y + CURVE + GAP;
    text_format(
        t,
        "<g id=\"off-chip\"><text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">spilled</text>\n",
        f.x - 8, strip.y + 11);
    show_svg_spilled(p, &strip, &lanes, t);
    text_format(t, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">", f.x, strip.y + lanes.used * LANE + 14);
    text_format(t, "%s spilled", counted(count, "buffer").at);
    if (lanes.left_over) text_format(t, " (%s not drawn)", grouped(lanes.left_over).at);
    if (barred) text_format(t, "; %s must stay in HBM", grouped(barred).at);
    if (p->nest_count > 0) text_add(t, "; dotted: a tile of a nest");
    text_format(t, p->graph->list ? "; cost %s" : "; %s more traffic than the perfect plan has",
                in_bytes(p->figures.spill_bytes).at);
    text_add(t, "</text></g>\n</svg>\n");
    lx_occupancy_free(&time);
    plan_index_free(&index);
    mem_free(spilled);
}
