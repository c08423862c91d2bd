/* Scales, colours, names and tooltips of a drawing. */
#include "picture/svg_frame.h"
#include "base/checked.h"
#include "base/hash.h"
#include "base/memory.h"
#include "export/nest_words.h"
#include "text/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

bool svg_bands(struct frame *f)
{
    const struct bands *b = &f->index->bands;
    double heading = b->count > 1 ? HEADING_HEIGHT : 0, y = f->y, all = 0;
    f->bands = mem_alloc((size_t)b->count * sizeof *f->bands);
    if (!f->bands) return false;
    for (int32_t k = 0; k < b->count; k++) all += (double)b->at[k].shown;
    double least = fmin(LEAST_BAND, (f->height / b->count - heading) / 2),
           spare = f->height - b->count * (heading + least);
    for (int32_t k = 0; k < b->count; k++) {
        f->bands[k].height = least + spare * (double)b->at[k].shown / all;
        f->bands[k].y = y + heading;
        y += heading + f->bands[k].height;
    }
    return true;
}

void add_xml(struct text *t, const char *s, int columns)
{
    char *clean = printable(s, columns);
    if (clean)
        text_xml(t, clean);
    else
        t->failed = true;
    mem_free(clean);
}

/* A light colour of the name's own hue; written as RGB, which every viewer knows. */
void add_colour(struct text *t, const struct lx_plan *p, int32_t buffer)
{
    /* What a colour goes by: the tensor's name, or that of a list's buffer. */
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
        text_xml(t, words.at ? words.at : "");
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
