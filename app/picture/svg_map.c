/* The map of a drawing: one rectangle per life of a buffer, reserved bytes, and the axes. */
#include "picture/svg_frame.h"
#include "base/checked.h"
#include "base/memory.h"
#include "export/nest_words.h"
#include "text/format.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_APART = 12 }; /* between two names of ops */

/* Opens a rectangle in a pool's band, at least half a unit wide and high; the caller closes the tag. */
static void open_rect(const struct frame *f, int32_t pool, struct lx_life life, int64_t from, int64_t to,
                      struct text *t)
{
    double x = x_of(f, life.start), y = y_of(f, pool, to);
    text_format(t, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"", x, y,
                fmax(x_of(f, life.end) - x, 0.5), fmax(y_of(f, pool, from) - y, 0.5));
}

static void svg_map_add_life(const struct frame *f, int32_t i, int32_t heir, struct lx_life life,
                             struct text *t)
{
    const struct lx_plan *p = f->index->plan;
    const struct lx_buffer *b = &p->problem.buffers[i];
    int64_t at = p->answer.address[i];
    int32_t parent = p->took_slot_of[i], pool = lx_pool_of(p, i);
    double y = y_of(f, pool, at + b->size), h = y_of(f, pool, at) - y;
    text_add(t, "<g>");
    open_rect(f, pool, life, at, at + b->size, t);
    text_add(t, " class=\"buffer\" fill=\"");
    add_colour(t, p, i);
    text_add(t, "\">");
    add_tooltip(p, i, t);
    text_add(t, "</rect>");
    if (parent >= 0 && life.start == b->start) {
        struct lx_life shared = {life.start, min_i64(p->problem.buffers[parent].end, life.end)};
        open_rect(f, pool, shared, at, at + b->size, t);
        text_add(t, " fill=\"url(#hatch)\" pointer-events=\"none\"/>");
    }
    if (is_tile(p, i)) {
        open_rect(f, pool, life, at, at + b->size, t);
        text_add(t, " class=\"tile\" fill=\"url(#tile)\" pointer-events=\"none\"/>");
    }
    /* The label stands in the part of the life that no other rectangle covers, if there is one. */
    struct lx_life seen = life;
    if (heir >= 0) seen.end = min_i64(seen.end, max_i64(p->problem.buffers[heir].start, life.start));
    if (parent >= 0) seen.start = max_i64(seen.start, min_i64(p->problem.buffers[parent].end, life.end));
    if (seen.end <= seen.start) seen.start = life.start;
    if (seen.end <= seen.start) seen = life;
    add_label(b->name, x_of(f, seen.start), y, x_of(f, seen.end) - x_of(f, seen.start), h, t);
    text_add(t, "</g>\n");
}

void svg_buffers(const struct frame *f, struct text *t)
{
    const struct lx_plan *p = f->index->plan;
    int32_t n = p->problem.count,
            *heir = mem_alloc(((size_t)n + 1) * sizeof *heir); /* who took the slot over, or -1 */
    for (int32_t i = 0; i < n; i++) heir[i] = -1;
    for (int32_t i = 0; i < n; i++)
        if (p->took_slot_of[i] >= 0) heir[p->took_slot_of[i]] = i;
    text_add(t, "<g id=\"on-chip\">\n");
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; p->answer.address[i] >= 0 && k < lx_life_count(&p->problem.buffers[i]); k++)
            svg_map_add_life(f, i, heir[i], lx_life_at(&p->problem.buffers[i], k), t);
    text_add(t, "</g>\n");
    mem_free(heir);
}

/* Reserved bytes, hatched. */
void svg_reserved(const struct frame *f, struct text *t)
{
    const struct lx_problem *p = &f->index->plan->problem;
    for (int32_t k = 0; k < p->pool_count; k++)
        for (int32_t i = 0; i < p->pools[k].reserved_count; i++) {
            const struct lx_reserved *r = &p->pools[k].reserved[i];
            struct lx_life life = {max_i64(r->start, f->first), min_i64(r->end, f->last)};
            int64_t to = min_i64(r->to, f->index->bands.at[k].shown);
            if (life.start >= life.end || r->from >= to) continue;
            open_rect(f, k, life, r->from, to, t);
            text_format(t,
                        " class=\"reserved\" fill=\"url(#reserved)\"><title>reserved: 0x%llx to "
                        "0x%llx</title></rect>\n",
                        (long long)r->from, (long long)r->to);
        }
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

void svg_addresses(const struct frame *f, struct text *t)
{
    for (int32_t k = 0; k < f->index->bands.count; k++) {
        const struct band *b = &f->index->bands.at[k];
        const struct svg_band *at = &f->bands[k];
        text_format(t, "<rect class=\"panel\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", f->x,
                    at->y, f->width, at->height);
        if (f->index->bands.count >= 2) {
            text_format(t, "<text class=\"pool\" x=\"%.1f\" y=\"%.1f\">", f->x, at->y - 5);
            add_xml(t, b->name ? b->name : "?", 60);
            if (b->capacity > 0)
                text_format(t, " <tspan class=\"dim\">%s, %s in use at most</tspan>",
                            in_bytes(b->capacity).at, in_percent((double)b->peak / (double)b->capacity).at);
            text_add(t, "</text>\n");
        }
        int64_t top = f->index->bands.at[k].shown,
                step = nice_step(top, (int)(f->bands[k].height / 40) + 1, true);
        for (int64_t a = 0; a <= top; a += step) {
            double y = y_of(f, k, a);
            text_format(t, "<line class=\"grid\" x1=\"%.1f\" y1=\"%.2f\" x2=\"%.1f\" y2=\"%.2f\"/>", f->x, y,
                        f->x + f->width, y);
            text_format(t, "<text class=\"address\" x=\"%.1f\" y=\"%.1f\">0x%llx", f->x - 8, y + 3.5,
                        (long long)a);
            if (a >= 1024) text_format(t, " <tspan class=\"dim\">%.4g KiB</tspan>", (double)a / 1024);
            text_add(t, "</text>\n");
            if (a > INT64_MAX - step) break;
        }
        if (b->capacity <= 0 || b->capacity > b->shown) continue;
        double y = y_of(f, k, b->capacity);
        text_format(t, "<line class=\"limit\" x1=\"%.1f\" y1=\"%.2f\" x2=\"%.1f\" y2=\"%.2f\"/>", f->x, y,
                    f->x + f->width, y);
        text_format(t, "<text class=\"limit-text\" x=\"%.1f\" y=\"%.1f\">capacity %s</text>\n",
                    f->x + f->width, y - 5, in_bytes(b->capacity).at);
    }
}

bool svg_names_ops(const struct lx_plan *p)
{
    return p->layouts && p->layouts->graph->op_count > 0;
}

void svg_nests(const struct frame *f, double y, struct text *t)
{
    const struct lx_plan *p = f->index->plan;
    if (p->nest_count == 0) return;
    text_format(
        t, "<g id=\"nests\"><text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">nests</text>\n",
        f->x - 8, y + 12);
    for (int32_t i = 0; i < p->nest_count; i++) {
        struct text words = {0};
        double from = x_of(f, p->nests[i].first) + 1, to = x_of(f, (int64_t)p->nests[i].last + 1) - 1;
        add_nest_words(p, &p->nests[i], &words);
        text_format(t, "<path class=\"nest\" d=\"M%.2f %.1fv5H%.2fv-5\"><title>", from, y, to);
        text_xml(t, words.at);
        text_add(t, "</title></path>");
        add_label(words.at, from, y + 4, to - from, NEST_ROW - 6, t);
        text_add(t, "\n");
        text_free(&words);
    }
    text_add(t, "</g>\n");
}

void svg_ticks(const struct frame *f, struct text *t)
{
    int64_t step = nice_step(f->last - f->first, (int)(f->width / 60) + 1, false);
    double bottom = f->y + f->height;
    bool named = svg_names_ops(f->index->plan);
    for (int64_t tick = f->first + (step - f->first % step) % step; tick <= f->last; tick += step) {
        double x = x_of(f, tick);
        text_format(t, "<line class=\"grid\" x1=\"%.2f\" y1=\"%.1f\" x2=\"%.2f\" y2=\"%.1f\"/>", x,
                    f->bands[0].y, x, bottom + 4);
        text_format(t, "<text class=\"tick\" x=\"%.2f\" y=\"%.1f\">%lld</text>\n", x, bottom + 16,
                    (long long)tick);
    }
    text_format(t, "<text class=\"dim\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">tick%s</text>\n", f->x - 8,
                bottom + 16, named ? ", op" : "");
    const struct lx_graph *g = named ? f->index->plan->layouts->graph : NULL;
    double free_from = f->x;
    for (int32_t i = 0; g && i < g->op_count; i++) { /* as many ops as can be read */
        double x = (x_of(f, i) + x_of(f, (int64_t)i + 1)) / 2;
        if (i < f->first || i >= f->last || x < free_from) continue;
        text_format(t, "<text class=\"op\" transform=\"translate(%.1f %.1f) rotate(40)\">", x - 2,
                    bottom + 28);
        add_xml(t, g->ops[i].name, 16);
        text_add(t, "</text>\n");
        free_from = x + LEAST_APART;
    }
}

enum { HEADING_HEIGHT = 18, LEAST_BAND = 24 };

double x_of(const struct frame *f, int64_t tick)
{
    return f->x + f->width * (double)(tick - f->first) / (double)max_i64(f->last - f->first, 1);
}

double y_of(const struct frame *f, int32_t pool, int64_t address)
{
    const struct svg_band *b = &f->bands[pool];
    return b->y + b->height * (1 - (double)address / (double)f->index->bands.at[pool].shown);
}

void svg_bands(struct frame *f)
{
    const struct bands *b = &f->index->bands;
    double heading = b->count > 1 ? HEADING_HEIGHT : 0, y = f->y, all = 0;
    f->bands = mem_alloc((size_t)b->count * sizeof *f->bands);
    for (int32_t k = 0; k < b->count; k++) all += (double)b->at[k].shown;
    double least = fmin(LEAST_BAND, (f->height / b->count - heading) / 2),
           spare = f->height - b->count * (heading + least);
    for (int32_t k = 0; k < b->count; k++) {
        f->bands[k].height = least + spare * (double)b->at[k].shown / all;
        f->bands[k].y = y + heading;
        y += heading + f->bands[k].height;
    }
}

void add_xml(struct text *t, const char *s, int columns)
{
    char *clean = printable(s, columns);
    text_xml(t, clean);
    mem_free(clean);
}

/* A light colour of the name's own hue; written as RGB, which every viewer knows. */
void add_colour(struct text *t, const struct lx_plan *p, int32_t buffer)
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

void add_tooltip(const struct lx_plan *p, int32_t i, struct text *t)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    text_add(t, "<title>");
    add_xml(t, b->name, 0);
    text_format(t, ": %s, ticks %lld to %lld", in_bytes(b->size).at, (long long)b->start, (long long)b->end);
    if (p->answer.address[i] >= 0) text_format(t, ", at 0x%llx", (long long)p->answer.address[i]);
    if (p->answer.address[i] >= 0 && p->problem.pool_count) {
        text_add(t, " of pool ");
        add_xml(t, p->problem.pools[lx_pool_of(p, i)].name, 0);
    }
    text_format(t, ", cost off chip %s", in_bytes(b->spill_cost).at);
    if (is_tile(p, i)) {
        struct text words = {0};
        add_tile_words(p, i, 0, &words);
        text_add(t, "; ");
        text_xml(t, words.at);
        text_free(&words);
    }
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

/* About 6.3 units a character at this size; in a low rectangle smaller letters. */
void add_label(const char *name, double x, double y, double width, double height, struct text *t)
{
    double size = height >= 12 ? 11 : fmax(height - 1, 0);
    if (size < 6) return;
    int fits = (int)((width - 4) / (6.3 * size / 11)), columns = columns_of(name);
    if (fits < 1 || (fits < columns && fits < 4)) return;
    text_format(t, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\"", x + width / 2,
                y + height / 2 + 0.345 * size);
    if (size < 11) text_format(t, " style=\"font-size:%.1fpx\"", size);
    text_add(t, ">");
    add_xml(t, name, fits);
    text_add(t, "</text>");
}
