/* The address-time map as SVG.
 *
 * * From top to bottom: title, the map with one rectangle per life of a buffer, occupancy over time, and
 * the lives of spilled buffers. Several pools are bands one below the other. The colour of a buffer comes
 * from its tensor's name and is the same in every drawing. Each rectangle has a tooltip. */
#include "export/plan_map.h"
#include "export/nest_words.h"
#include "export/plan_words.h"
#include "plan/occupancy.h"

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
    NEST_ROW = 20,
    HEADING_HEIGHT = 18,
    LEAST_BAND = 24
};
enum { LEAST_APART = 12 }; /* between two op names */

/* The frame of the map (or of a part below it), and the ranges of its axes. */
struct frame {
    const struct lx_plan *plan;
    double x, y, width, height;
    int64_t first, last;
    struct bands bands; /* each with a heading if there are several */
    struct svg_band {
        double y, height;
    } * at;
};

static double svg_x_of(const struct frame *f, int64_t tick)
{
    return f->x + f->width * (double)(tick - f->first) / (double)max_i64(f->last - f->first, 1);
}

static double svg_y_of(const struct frame *f, int32_t pool, int64_t address)
{
    const struct svg_band *b = &f->at[pool];
    return b->y + b->height * (1 - (double)address / (double)f->bands.at[pool].shown);
}

void text_xml_name(struct text *t, const char *s, int columns)
{
    OWNED char *clean = printable(s ? s : "", columns);
    text_xml(t, clean);
}

/* A light colour with a hue by name, as RGB, which every viewer knows. */
static void svg_add_colour(struct text *t, const struct lx_plan *p, int32_t buffer)
{
    const struct lx_graph *g = p->layouts ? p->layouts->graph : NULL;
    int32_t tensor = g && p->stays ? p->stays[buffer].tensor : -1;
    const char *name =
        tensor >= 0 && tensor < g->tensor_count ? g->tensors[tensor].name : p->problem.buffers[buffer].name;
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

static void svg_add_tooltip(const struct lx_plan *p, int32_t i, struct text *t)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    text_add(t, "<title>");
    text_xml_name(t, b->name, 0);
    text_format(t, ": %s, ticks %lld to %lld", in_bytes(b->size).at, (long long)b->start, (long long)b->end);
    if (p->answer.address[i] >= 0) text_format(t, ", at 0x%llx", (long long)p->answer.address[i]);
    if (p->answer.address[i] >= 0 && p->problem.pool_count) {
        text_add(t, " of pool ");
        text_xml_name(t, p->problem.pools[lx_pool_of(p, i)].name, 0);
    }
    text_format(t, ", cost off chip %s", in_bytes(b->spill_cost).at);
    if (is_tile(p, i)) {
        SCOPED(text_free) struct text words = {0};
        add_tile_words(p, i, 0, &words);
        text_add(t, "; ");
        text_xml(t, words.at);
    }
    if (p->took_slot_of[i] >= 0) {
        text_add(t, ", in place of ");
        text_xml_name(t, p->problem.buffers[p->took_slot_of[i]].name, 0);
    }
    if (p->reason[i]) {
        text_add(t, "; ");
        text_xml_name(t, p->reason[i], 0);
    }
    text_add(t, "</title>");
}

/* About 6.3 units per character; smaller letters in a low rectangle. */
void svg_add_label(const char *name, double x, double y, double width, double height, struct text *t)
{
    double size = height >= 12 ? 11 : fmax(height - 1, 0);
    if (size < 6) return;
    int fits = (int)((width - 4) / (6.3 * size / 11)), columns = columns_of(name);
    if (fits < 1 || (fits < columns && fits < 4)) return;
    text_format(t, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\"", x + width / 2,
                y + height / 2 + 0.345 * size);
    if (size < 11) text_format(t, " style=\"font-size:%.1fpx\"", size);
    text_add(t, ">");
    text_xml_name(t, name, fits);
    text_add(t, "</text>");
}

/* Opens a rectangle in a pool's band, at least half a unit wide and high; the caller closes the tag. */
static void svg_open_rect(const struct frame *f, int32_t pool, struct lx_life life, int64_t from, int64_t to,
                          struct text *t)
{
    double x = svg_x_of(f, life.start), y = svg_y_of(f, pool, to);
    text_format(t, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"", x, y,
                fmax(svg_x_of(f, life.end) - x, 0.5), fmax(svg_y_of(f, pool, from) - y, 0.5));
}

static void svg_add_life(const struct frame *f, int32_t i, int32_t heir, struct lx_life life, struct text *t)
{
    const struct lx_plan *p = f->plan;
    const struct lx_buffer *b = &p->problem.buffers[i];
    int64_t at = p->answer.address[i];
    int32_t parent = p->took_slot_of[i], pool = lx_pool_of(p, i);
    double y = svg_y_of(f, pool, at + b->size), h = svg_y_of(f, pool, at) - y;
    text_add(t, "<g>");
    svg_open_rect(f, pool, life, at, at + b->size, t);
    text_add(t, " class=\"buffer\" fill=\"");
    svg_add_colour(t, p, i);
    text_add(t, "\">");
    svg_add_tooltip(p, i, t);
    text_add(t, "</rect>");
    if (parent >= 0 && life.start == b->start) {
        struct lx_life shared = {life.start, min_i64(p->problem.buffers[parent].end, life.end)};
        svg_open_rect(f, pool, shared, at, at + b->size, t);
        text_add(t, " fill=\"url(#hatch)\" pointer-events=\"none\"/>");
    }
    if (is_tile(p, i)) {
        svg_open_rect(f, pool, life, at, at + b->size, t);
        text_add(t, " class=\"tile\" fill=\"url(#tile)\" pointer-events=\"none\"/>");
    }
    /* The label goes into the part of the life that no other rectangle covers, if any. */
    struct lx_life seen = life;
    if (heir >= 0) seen.end = min_i64(seen.end, max_i64(p->problem.buffers[heir].start, life.start));
    if (parent >= 0) seen.start = max_i64(seen.start, min_i64(p->problem.buffers[parent].end, life.end));
    if (seen.end <= seen.start) seen.start = life.start;
    if (seen.end <= seen.start) seen = life;
    svg_add_label(b->name, svg_x_of(f, seen.start), y, svg_x_of(f, seen.end) - svg_x_of(f, seen.start), h, t);
    text_add(t, "</g>\n");
}

static void svg_buffers(const struct frame *f, int32_t most, struct text *t)
{
    const struct lx_plan *p = f->plan;
    int32_t n = p->problem.count, count, *chosen = largest_buffers(p, most, &count),
            *heir = mem_alloc(((size_t)n + 1) * sizeof *heir); /* the buffer that took over the slot, or -1 */
    for (int32_t i = 0; i < n; i++) heir[i] = -1;
    for (int32_t i = 0; i < n; i++)
        if (p->took_slot_of[i] >= 0) heir[p->took_slot_of[i]] = i;
    text_add(t, "<g id=\"on-chip\">\n");
    for (int32_t c = 0; c < count; c++) {
        const struct lx_buffer *b = &p->problem.buffers[chosen[c]];
        for (int32_t k = 0; p->answer.address[chosen[c]] >= 0 && k < lx_life_count(b); k++)
            svg_add_life(f, chosen[c], heir[chosen[c]], lx_life_at(b, k), t);
    }
    text_add(t, "</g>\n");
    mem_free(heir);
    mem_free(chosen);
}

/* Reserved bytes, hatched. */
static void svg_reserved(const struct frame *f, struct text *t)
{
    const struct lx_problem *p = &f->plan->problem;
    for (int32_t k = 0; k < p->pool_count; k++)
        for (int32_t i = 0; i < p->pools[k].reserved_count; i++) {
            const struct lx_reserved *r = &p->pools[k].reserved[i];
            struct lx_life life = {max_i64(r->start, f->first), min_i64(r->end, f->last)};
            int64_t to = min_i64(r->to, f->bands.at[k].shown);
            if (life.start >= life.end || r->from >= to) continue;
            svg_open_rect(f, k, life, r->from, to, t);
            text_format(t,
                        " class=\"reserved\" fill=\"url(#reserved)\"><title>reserved: 0x%llx to "
                        "0x%llx</title></rect>\n",
                        (long long)r->from, (long long)r->to);
        }
}

/* 1, 2 or 5 times a power of ten (for addresses a power of two), for about `lines` lines. */
static int64_t svg_nice_step(int64_t span, int lines, bool binary)
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

static void svg_addresses(const struct frame *f, struct text *t)
{
    for (int32_t k = 0; k < f->bands.count; k++) {
        const struct band *b = &f->bands.at[k];
        const struct svg_band *at = &f->at[k];
        text_format(t, "<rect class=\"panel\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", f->x,
                    at->y, f->width, at->height);
        if (f->bands.count >= 2) {
            text_format(t, "<text class=\"pool\" x=\"%.1f\" y=\"%.1f\">", f->x, at->y - 5);
            text_xml_name(t, b->name ? b->name : "?", 60);
            if (b->capacity > 0)
                text_format(t, " <tspan class=\"dim\">%s, %s in use at most</tspan>",
                            in_bytes(b->capacity).at, in_percent((double)b->peak / (double)b->capacity).at);
            text_add(t, "</text>\n");
        }
        int64_t top = f->bands.at[k].shown, step = svg_nice_step(top, (int)(f->at[k].height / 40) + 1, true);
        for (int64_t a = 0; a <= top; a += step) {
            double y = svg_y_of(f, k, a);
            text_format(t, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.2f\" x2=\"%.1f\" y2=\"%.2f\"/>", f->x, y,
                        f->x + f->width, y);
            text_format(t, "<text class=\"address\" x=\"%.1f\" y=\"%.1f\">0x%llx", f->x - 8, y + 3.5,
                        (long long)a);
            if (a >= 1024) text_format(t, " <tspan class=\"dim\">%.4g KiB</tspan>", (double)a / 1024);
            text_add(t, "</text>\n");
            if (a > INT64_MAX - step) break;
        }
        if (b->capacity <= 0 || b->capacity > b->shown) continue;
        double y = svg_y_of(f, k, b->capacity);
        text_format(t, "<line class=\"limit\" x1=\"%.1f\" y1=\"%.2f\" x2=\"%.1f\" y2=\"%.2f\"/>", f->x, y,
                    f->x + f->width, y);
        text_format(t, "<text class=\"limit-text\" x=\"%.1f\" y=\"%.1f\">capacity %s</text>\n",
                    f->x + f->width, y - 5, in_bytes(b->capacity).at);
    }
}

static void svg_nests(const struct frame *f, double y, struct text *t)
{
    const struct lx_plan *p = f->plan;
    if (p->nest_count == 0) return;
    text_format(
        t, "<g id=\"nests\"><text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">nests</text>\n",
        f->x - 8, y + 12);
    for (int32_t i = 0; i < p->nest_count; i++) {
        SCOPED(text_free) struct text words = {0};
        double from = svg_x_of(f, p->nests[i].first) + 1, to = svg_x_of(f, (int64_t)p->nests[i].last + 1) - 1;
        add_nest_words(p, &p->nests[i], &words);
        text_format(t, "<path class=\"nest\" d=\"M%.2f %.1fv5H%.2fv-5\"><title>", from, y, to);
        text_xml(t, words.at);
        text_add(t, "</title></path>");
        svg_add_label(words.at, from, y + 4, to - from, NEST_ROW - 6, t);
        text_add(t, "\n");
    }
    text_add(t, "</g>\n");
}

static void svg_ticks(const struct frame *f, struct text *t)
{
    int64_t step = svg_nice_step(f->last - f->first, (int)(f->width / 60) + 1, false);
    double bottom = f->y + f->height;
    const struct lx_graph *g = f->plan->layouts ? f->plan->layouts->graph : NULL;
    bool named = g && g->op_count > 0;
    for (int64_t tick = f->first + (step - f->first % step) % step; tick <= f->last; tick += step) {
        double x = svg_x_of(f, tick);
        text_format(t, "<line class=\"grid\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\"/>", x,
                    f->at[0].y, x, bottom + 4);
        text_format(t, "<text class=\"tick\" x=\"%.2f\" y=\"%.1f\">%lld</text>\n", x, bottom + 16,
                    (long long)tick);
    }
    text_format(t, "<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">tick%s</text>\n", f->x - 8,
                bottom + 16, named ? ", op" : "");
    double free_from = f->x;
    for (int32_t i = 0; g && i < g->op_count; i++) { /* as many ops as are readable */
        double x = (svg_x_of(f, i) + svg_x_of(f, (int64_t)i + 1)) / 2;
        if (i < f->first || i >= f->last || x < free_from) continue;
        text_format(t, "<text class=\"op\" transform=\"translate(%.1f %.1f) rotate(40)\">", x - 2,
                    bottom + 28);
        text_xml_name(t, g->ops[i].name, 16);
        text_add(t, "</text>\n");
        free_from = x + LEAST_APART;
    }
}

static void svg_occupancy(const struct lx_plan *p, const struct frame *f, const struct lx_occupancy *time,
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
        text_format(t, "H%.2fV%.2f", svg_x_of(f, time->tick[i]), y);
    }
    text_format(t, "H%.2fV%.2fZ\"/>\n", f->x + f->width, bottom);
    text_format(t, "<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">in use</text>\n", f->x - 8,
                f->y + 14);
    text_format(t, "<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">peak %s</text></g>\n",
                f->x - 8, f->y + 30, in_percent((double)time->peak / (double)whole).at);
}

static void svg_spilled(const struct lx_plan *p, const struct frame *f, const struct lanes *l, struct text *t)
{
    for (int32_t k = 0; k < l->count; k++) {
        const struct lx_buffer *b = &p->problem.buffers[l->at[k].who];
        double x = svg_x_of(f, b->start), w = svg_x_of(f, b->end) - x, y = f->y + l->at[k].lane * LANE;
        text_format(t,
                    "<g><rect class=\"spilled\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"",
                    x, y + 1, fmax(w, 1), LANE - 2);
        svg_add_colour(t, p, l->at[k].who);
        text_add(t, "\">");
        svg_add_tooltip(p, l->at[k].who, t);
        text_add(t, "</rect>");
        svg_add_label(b->name, x, y, w, LANE, t);
        text_add(t, "</g>\n");
    }
}

static void svg_title(const struct lx_plan *p, struct text *t)
{
    text_format(t, "<text class=\"title\" x=\"%d\" y=\"28\">", 20);
    text_xml_name(t, p->graph->name, 80);
    text_format(t, "</text>\n<text class=\"subtitle\" x=\"%d\" y=\"48\">", 20);
    text_xml_name(t, p->solver, 30);
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
    "<style>svg text{font:11px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2933}"
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

/* Divides the map's height among the pools. */
static void svg_stack_bands(struct frame *f)
{
    const struct bands *b = &f->bands;
    double heading = b->count > 1 ? HEADING_HEIGHT : 0, y = f->y, all = 0;
    f->at = mem_alloc((size_t)b->count * sizeof *f->at);
    for (int32_t k = 0; k < b->count; k++) all += (double)b->at[k].shown;
    double least = fmin(LEAST_BAND, (f->height / b->count - heading) / 2),
           spare = f->height - b->count * (heading + least);
    for (int32_t k = 0; k < b->count; k++) {
        f->at[k].height = least + spare * (double)b->at[k].shown / all;
        f->at[k].y = y + heading;
        y += heading + f->at[k].height;
    }
}

void plan_svg(const struct lx_plan *p, int width, int height, bool in_page, int32_t most, struct text *t)
{
    SCOPED(lx_occupancy_free) struct lx_occupancy time = {0};
    int32_t count = 0, *spilled = off_chip_by_cost(p, &count), barred = 0;
    lx_occupancy_make(p, LX_ALL_POOLS, &time);
    while (count > 0 && p->problem.buffers[spilled[count - 1]].reason) count--, barred++; /* they come last */
    if (!width) width = DEFAULT_WIDTH;
    struct lanes lanes = {.most = MOST_LANES};
    for (int32_t k = 0; k < count; k++) {
        const struct lx_buffer *b = &p->problem.buffers[spilled[k]];
        lanes_place(&lanes, spilled[k], b->start, b->end);
    }
    int32_t ops = p->layouts ? p->layouts->graph->op_count : 0;
    int axis = AXIS + (ops ? OP_NAMES : 0) + (p->nest_count > 0 ? NEST_ROW : 0);
    double below = axis + CURVE + GAP + lanes.used * LANE + 24,
           map = fmax((height ? height : DEFAULT_HEIGHT) - TOP - below, 120);
    struct frame f = {.plan = p, .x = LEFT, .y = TOP, .width = width - LEFT - RIGHT, .height = map};
    bands_make(p, &f.bands);
    f.first = ops ? min_i64(time.first, 0) : time.first; /* the axis shows all ops */
    f.last = max_i64(max_i64(time.last, time.first + 1), ops);
    height = (int)(TOP + map + below);
    if (in_page)
        text_format(t,
                    "<svg role=\"img\" aria-label=\"addresses against time\" width=\"100%%\" "
                    "viewBox=\"0 0 %d %d\">\n<title>",
                    width, height);
    else
        text_format(t,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg "
                    "xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\">\n<title>",
                    width, height, width, height);
    text_xml_name(t, p->graph->name, 0);
    text_format(t, "</title>\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", styles, width, height);
    svg_title(p, t);
    svg_stack_bands(&f);
    svg_addresses(&f, t);
    svg_ticks(&f, t);
    svg_nests(&f, f.y + f.height + axis - NEST_ROW - 6, t);
    svg_reserved(&f, t);
    svg_buffers(&f, most, t);
    f.y += f.height + axis;
    f.height = CURVE;
    svg_occupancy(p, &f, &time, t);
    f.y += CURVE + GAP;
    text_format(
        t,
        "<g id=\"off-chip\"><text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">spilled</text>\n",
        f.x - 8, f.y + 11);
    svg_spilled(p, &f, &lanes, t);
    text_format(t, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">", f.x, f.y + lanes.used * LANE + 14);
    text_format(t, "%s spilled", counted(count, "buffer").at);
    if (lanes.left_over) text_format(t, " (%s not drawn)", grouped(lanes.left_over).at);
    if (barred) text_format(t, "; %s must stay in HBM", grouped(barred).at);
    if (p->nest_count > 0) text_add(t, "; dotted: a tile of a nest");
    text_format(t, p->graph->list ? "; cost %s" : "; %s more traffic than the perfect plan has",
                in_bytes(p->figures.spill_bytes).at);
    text_add(t, "</text></g>\n</svg>\n");
    mem_free(f.at);
    bands_free(&f.bands);
    mem_free(spilled);
}
