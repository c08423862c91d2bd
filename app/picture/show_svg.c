/* The address-time map as a drawing that stands alone: no scripts, no fonts or files from elsewhere.
 *
 * From top to bottom: title, the map with one rectangle per buffer, occupancy over time, and the lives of the
 * buffers that were spilled. A buffer's colour comes from its name, so it is the same in every drawing; each
 * rectangle carries a tooltip with all that is known. */
#include "planning/plan_words.h"
#include "picture/picture.h"
#include "picture/lanes.h"
#include "base/checked.h"
#include "base/hash.h"
#include "text/format.h"

#include <math.h>
#include <stdlib.h>
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
    NAMED_OPS = 40,
    OP_NAMES = 76,
};

/* Where the map lies, and what its sides mean. */
struct frame {
    double x, y, width, height;
    int64_t first, last, top;
};

static double x_of(const struct frame *f, int64_t tick)
{
    return f->x + f->width * (double)(tick - f->first) / (double)max_i64(f->last - f->first, 1);
}

static double y_of(const struct frame *f, int64_t address)
{
    return f->y + f->height * (1 - (double)address / (double)f->top);
}

static void add_xml(struct text *t, const char *s, int columns)
{
    char *clean = printable(s, columns);
    if (clean)
        text_xml(t, clean);
    else
        t->failed = true;
    free(clean);
}

/* A light colour of the name's own hue; written as RGB, which every viewer knows. */
static void add_colour(struct text *t, const char *name)
{
    uint64_t h = hash_bytes(HASH_START, name, strlen(name));
    h ^= h >> 29;
    double hue = (double)(h % 360) / 60, lightness = 0.66 + 0.12 * (double)(h / 360 % 7) / 6,
           saturation = 0.62;
    double chroma = (1 - fabs(2 * lightness - 1)) * saturation, base = lightness - chroma / 2;
    double second = chroma * (1 - fabs(fmod(hue, 2) - 1)), rgb[3] = {0};
    static const int major[] = {0, 1, 1, 2, 2, 0}, minor[] = {1, 0, 2, 1, 0, 2};
    rgb[major[(int)hue]] = chroma;
    rgb[minor[(int)hue]] = second;
    text_add(t, "#");
    for (int i = 0; i < 3; i++) text_format(t, "%02x", (unsigned)lround((rgb[i] + base) * 255));
}

static void add_tooltip(const struct lx_plan *p, int32_t i, struct text *t)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    text_add(t, "<title>");
    add_xml(t, b->name, 0);
    text_format(t, ": %s, ticks %lld to %lld", in_bytes(b->size).at, (long long)b->start, (long long)b->end);
    if (p->answer.address[i] >= 0) text_format(t, ", at 0x%llx", (long long)p->answer.address[i]);
    text_format(t, ", cost off chip %s", in_bytes(b->spill_cost).at);
    if (p->took_slot_of[i] >= 0) {
        text_add(t, ", in place of ");
        add_xml(t, p->problem.buffers[p->took_slot_of[i]].name, 0);
    }
    if (p->reason[i]) {
        text_add(t, "; ");
        add_xml(t, p->reason[i], 0);
    }
    text_add(t, "</title>");
}

/* A name inside a rectangle, if it fits: about 6.3 units a character at this size. */
static void add_label(const char *name, double x, double y, double width, double height, struct text *t)
{
    int fits = (int)((width - 6) / 6.3);
    if (height < 11 || fits < 2) return;
    text_format(t, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", x + width / 2, y + height / 2 + 3.8);
    add_xml(t, name, fits);
    text_add(t, "</text>");
}

static void add_rectangle(const struct lx_plan *p, const struct frame *f, int32_t i, int32_t heir,
                          struct text *t)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    int64_t at = p->answer.address[i];
    double x = x_of(f, b->start), y = y_of(f, at + b->size), w = x_of(f, b->end) - x, h = y_of(f, at) - y;
    double seen_from = x, seen_to = heir < 0 ? x + w : x_of(f, p->problem.buffers[heir].start);
    text_format(t, "<g><rect class=\"buffer\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"",
                x, y, fmax(w, 0.5), fmax(h, 0.5));
    add_colour(t, b->name);
    text_add(t, "\">");
    add_tooltip(p, i, t);
    text_add(t, "</rect>");
    int32_t parent = p->took_slot_of[i];
    if (parent >= 0) {
        seen_from = x_of(f, p->problem.buffers[parent].end);
        text_format(t,
                    "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"url(#hatch)\" "
                    "pointer-events=\"none\"/>",
                    x, y, fmax(seen_from - x, 0.5), fmax(h, 0.5));
    }
    add_label(b->name, seen_from, y, seen_to - seen_from, h, t);
    text_add(t, "</g>\n");
}

static void add_buffers(const struct lx_plan *p, const struct frame *f, struct text *t)
{
    int32_t n = p->problem.count,
            *heir = malloc(((size_t)n + 1) * sizeof *heir); /* who took the slot over, or -1 */
    if (!heir) {
        t->failed = true;
        return;
    }
    for (int32_t i = 0; i < n; i++) heir[i] = -1;
    for (int32_t i = 0; i < n; i++)
        if (p->took_slot_of[i] >= 0) heir[p->took_slot_of[i]] = i;
    text_add(t, "<g id=\"on-chip\">\n");
    for (int32_t i = 0; i < n; i++)
        if (p->answer.address[i] >= 0) add_rectangle(p, f, i, heir[i], t);
    text_add(t, "</g>\n");
    free(heir);
}

/* 1, 2 or 5 times a power of ten (or a power of two for addresses), so that about `lines` fit in. */
static int64_t nice_step(int64_t span, int lines, bool binary)
{
    int64_t step = 1;
    while (step < INT64_MAX / 16 && span / step > lines) {
        if (binary)
            step *= 2;
        else
            step = step % 9 == 1 ? step * 2 : step % 9 == 2 ? step / 2 * 5 : step * 2;
    }
    return step;
}

static void add_address_axis(const struct lx_plan *p, const struct frame *f, struct text *t)
{
    int64_t step = nice_step(f->top, (int)(f->height / 40) + 1, true);
    for (int64_t a = 0; a <= f->top; a += step) {
        double y = y_of(f, a);
        text_format(t, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.2f\" x2=\"%.1f\" y2=\"%.2f\"/>", f->x, y,
                    f->x + f->width, y);
        text_format(t, "<text class=\"address\" x=\"%.1f\" y=\"%.1f\">0x%llx", f->x - 8, y + 3.5,
                    (long long)a);
        if (a >= 1024) text_format(t, " <tspan class=\"dim\">%.4g KiB</tspan>", (double)a / 1024);
        text_add(t, "</text>\n");
        if (a > INT64_MAX - step) break;
    }
    if (p->problem.objective == LX_HEIGHT || p->problem.capacity > f->top) return;
    double y = y_of(f, p->problem.capacity);
    text_format(t,
                "<line class=\"limit\" x1=\"%.1f\" y1=\"%.2f\" x2=\"%.1f\" y2=\"%.2f\"/>"
                "<text class=\"limit-text\" x=\"%.1f\" y=\"%.1f\">capacity %s</text>\n",
                f->x, y, f->x + f->width, y, f->x + f->width, y - 5, in_bytes(p->problem.capacity).at);
}

static bool names_ops(const struct lx_plan *p)
{
    return !p->graph->is_list && p->graph->op_count <= NAMED_OPS;
}

static void add_time_axis(const struct lx_plan *p, const struct frame *f, struct text *t)
{
    int64_t step = nice_step(f->last - f->first, (int)(f->width / 60) + 1, false);
    double bottom = f->y + f->height;
    for (int64_t tick = f->first + (step - f->first % step) % step; tick <= f->last; tick += step) {
        double x = x_of(f, tick);
        text_format(t,
                    "<line class=\"grid\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\"/>"
                    "<text class=\"tick\" x=\"%.2f\" y=\"%.1f\">%lld</text>\n",
                    x, f->y, x, bottom + 4, x, bottom + 16, (long long)tick);
    }
    text_format(t, "<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">tick%s</text>\n", f->x - 8,
                bottom + 16, names_ops(p) ? ", op" : "");
    for (int32_t i = 0; names_ops(p) && i < p->graph->op_count; i++) {
        if (i < f->first || i >= f->last) continue;
        double x = (x_of(f, i) + x_of(f, i + 1)) / 2, y = bottom + 28;
        text_format(t, "<text class=\"op\" transform=\"translate(%.1f %.1f) rotate(40)\">", x - 2, y);
        add_xml(t, p->graph->ops[i].name, 16);
        text_add(t, "</text>\n");
    }
}

static void add_occupancy(const struct lx_plan *p, const struct frame *f, const struct lx_occupancy *time,
                          struct text *t)
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

static void add_spilled(const struct lx_plan *p, const struct frame *f, const struct lanes *l, struct text *t)
{
    for (int32_t k = 0; k < l->count; k++) {
        const struct lx_buffer *b = &p->problem.buffers[l->at[k].who];
        double x = x_of(f, b->start), w = x_of(f, b->end) - x, y = f->y + l->at[k].lane * LANE;
        text_format(t,
                    "<g><rect class=\"spilled\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"",
                    x, y + 1, fmax(w, 1), LANE - 2);
        add_colour(t, b->name);
        text_add(t, "\">");
        add_tooltip(p, l->at[k].who, t);
        text_add(t, "</rect>");
        add_label(b->name, x, y, w, LANE, t);
        text_add(t, "</g>\n");
    }
}

static void add_title(const struct lx_plan *p, struct text *t)
{
    text_format(t, "<text class=\"title\" x=\"%d\" y=\"28\">", 20);
    add_xml(t, p->graph->name, 80);
    text_format(t, "</text>\n<text class=\"subtitle\" x=\"%d\" y=\"48\">", 20);
    add_xml(t, p->solver, 30);
    text_format(t, ": %s, %s of %s", lx_verdict_word(p->answer.status), in_bytes(p->figures.hbm_bytes).at,
                p->graph->is_list ? "spill cost" : "HBM traffic");
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
    ".curve{fill:#9fb3c8;stroke:#627d98;stroke-width:.8}</style>\n"
    "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\">"
    "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#1f2933\" stroke-opacity=\".55\" "
    "stroke-width=\"1.6\"/></pattern></defs>\n";

void show_svg(const struct lx_plan *p, const struct picture *how, struct text *t)
{
    struct lx_occupancy time;
    int32_t count = 0, *spilled = off_chip_by_cost(p, &count), barred = 0;
    if (!spilled || !lx_occupancy_make(p, &time)) {
        free(spilled);
        t->failed = true;
        return;
    }
    while (count > 0 && p->problem.buffers[spilled[count - 1]].reason)
        count--, barred++; /* they stand last */
    int width = how->width ? how->width : DEFAULT_WIDTH, height = how->height ? how->height : DEFAULT_HEIGHT;
    struct lanes lanes;
    lanes_begin(&lanes, MOST_LANES);
    for (int32_t k = 0; k < count; k++)
        lanes_place(&lanes, spilled[k], p->problem.buffers[spilled[k]].start,
                    p->problem.buffers[spilled[k]].end);
    int axis = AXIS + (names_ops(p) ? OP_NAMES : 0);
    double below = axis + CURVE + GAP + lanes.used * LANE + 24, map = fmax(height - TOP - below, 120);
    struct frame f = {
        LEFT, TOP, width - LEFT - RIGHT, map, time.first, max_i64(time.last, time.first + 1), picture_top(p)};
    height = (int)(TOP + map + below);
    text_format(
        t,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
        "height=\"%d\" viewBox=\"0 0 %d %d\">\n<title>",
        width, height, width, height);
    add_xml(t, p->graph->name, 0);
    text_format(t, "</title>\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", styles, width, height);
    add_title(p, t);
    text_format(t, "<rect class=\"panel\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", f.x, f.y,
                f.width, f.height);
    add_address_axis(p, &f, t);
    add_time_axis(p, &f, t);
    add_buffers(p, &f, t);
    struct frame curve = f, strip = f;
    curve.y = f.y + f.height + axis;
    curve.height = CURVE;
    add_occupancy(p, &curve, &time, t);
    strip.y = curve.y + CURVE + GAP;
    text_format(
        t,
        "<g id=\"off-chip\"><text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">spilled</text>\n",
        f.x - 8, strip.y + 11);
    add_spilled(p, &strip, &lanes, t);
    text_format(t, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">%s spilled, %s", f.x,
                strip.y + lanes.used * LANE + 14, counted(count, "buffer").at,
                in_bytes(p->figures.spill_bytes).at);
    if (lanes.left_over) text_format(t, " (%s not drawn)", grouped(lanes.left_over).at);
    if (barred) text_format(t, "; %s may not be on chip", grouped(barred).at);
    text_add(t, "</text></g>\n</svg>\n");
    lx_occupancy_free(&time);
    free(spilled);
}
