/* Both maps of a page without scripts. A box has the name of its buffer, or its number in the table where there is room for no
 * more, so that nobody needs to tell colours; all of it when the mouse rests on it. */
#include "export/page.h"
#include "base/checked.h"
#include "base/words/human_words.h"
#include "export/plan_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 1200, LEFT = 96, RIGHT = 12, TOP = 8, MAP = 420, AXIS = 28, USE = 90, LETTER = 7 };

static double still_map_x_of(const struct still *s, int64_t tick)
{
    int64_t first = s->use->first, last = max_i64(s->use->last, first + 1);
    return LEFT + (double)(tick - first) / (double)(last - first) * (WIDTH - LEFT - RIGHT);
}

static double still_map_y_of(const struct still *s, int64_t address)
{
    return TOP + MAP - (double)address / (double)max_i64(s->bands->top, 1) * MAP;
}

static void add_svg(const char *what, int height, struct text *out)
{
    text_format(out, "<svg role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %d %d\" width=\"100%%\">\n", what,
                (int)WIDTH, height);
}

static void still_map_add_line(double x1, double y1, double x2, double y2, const char *class,
                               struct text *out)
{
    text_format(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1,
                x2, y2);
}

static void still_map_add_label(double x, double y, const char *anchor, const char *words, struct text *out)
{
    text_format(out, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    text_xml(out, words);
    text_add(out, "</text>\n");
}

static void add_time_axis(const struct still *s, double y, struct text *out)
{
    enum { MARKS = 10 };
    int64_t first = s->use->first, span = max_i64(s->use->last - first, 1), step = (span + MARKS - 1) / MARKS;
    for (int64_t t = first; t < first + span; t += step)
        still_map_add_label(still_map_x_of(s, t), y + 16, "middle", grouped(t).at, out);
}

static void add_address_axis(const struct still *s, struct text *out)
{
    enum { MARKS = 4 };
    char words[40];
    for (int32_t k = 0; k < s->bands->count; k++) {
        const struct band *b = &s->bands->at[k];
        for (int i = 0; i <= MARKS; i++) {
            int64_t at = b->shown / MARKS * i;
            double y = still_map_y_of(s, b->base + at);
            snprintf(words, sizeof words, "0x%06" PRIx64, (uint64_t)at);
            still_map_add_line(LEFT, y, WIDTH - RIGHT, y, "gridline", out);
            still_map_add_label(LEFT - 6, y + 4, "end", words, out);
        }
        if (b->name && s->bands->count > 1)
            still_map_add_label(LEFT + 4, still_map_y_of(s, b->base + b->shown) - 3, "start", b->name, out);
        if (b->capacity >= 0 && b->capacity <= b->shown)
            still_map_add_line(LEFT, still_map_y_of(s, b->base + b->capacity), WIDTH - RIGHT,
                               still_map_y_of(s, b->base + b->capacity), "knee", out);
    }
}

static void add_hover(const struct still *s, int32_t i, struct text *out)
{
    const struct lx_buffer *b = &s->p->problem.buffers[i];
    text_add(out, "<title>");
    add_still_words(b->name, out);
    text_format(out, ": %s at 0x%06" PRIx64 ", ticks %" PRId64 " to %" PRId64 ", costs %s off chip",
                in_bytes(b->size).at, (uint64_t)s->p->answer.address[i], b->start, b->end - 1,
                grouped(b->spill_cost).at);
    if (s->p->took_slot_of[i] >= 0) {
        text_add(out, ", in place of ");
        add_still_words(s->p->problem.buffers[s->p->took_slot_of[i]].name, out);
    }
    text_add(out, "</title>");
}

/* The name where it has room, else the number in the table. */
static void add_box_words(const struct still *s, int32_t i, double x, double y, double w, double h,
                          struct text *out)
{
    char number[16];
    const char *name = s->p->problem.buffers[i].name;
    snprintf(number, sizeof number, "%d", (int)i);
    const char *words = (double)strlen(name) * LETTER < w - 4 ? name : number;
    if (h < 12 || (double)strlen(words) * LETTER > w - 2) return;
    text_format(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", x + w / 2, y + h / 2 + 4);
    add_still_words(words, out);
    text_add(out, "</text>");
}

static void add_map(const struct still *s, struct text *out)
{
    add_svg("addresses against time", TOP + MAP + AXIS, out);
    add_address_axis(s, out);
    for (int32_t k = 0; k < s->count; k++) {
        int32_t i = s->chosen[k];
        const struct lx_buffer *b = &s->p->problem.buffers[i];
        for (int32_t l = 0; s->p->answer.address[i] >= 0 && l < lx_life_count(b); l++) {
            struct lx_life life = lx_life_at(b, l);
            const struct lx_plan *p = s->p;
            int64_t address = p->answer.address[i] + s->bands->at[lx_pool_of(p, i)].base;
            double x = still_map_x_of(s, life.start), w = still_map_x_of(s, life.end) - x;
            double y = still_map_y_of(s, address + p->problem.buffers[i].size),
                   h = still_map_y_of(s, address) - y;
            double hue = fmod(buffer_identity(p, i) * 137.508 + 205, 360);
            text_format(out,
                        "<g><rect class=\"box\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                        "style=\"fill:hsl(%.0f,var(--fill-s),var(--fill-l))\">",
                        x, y, fmax(w, .6), fmax(h, .6), hue);
            add_hover(s, i, out);
            text_add(out, "</rect>");
            /* When whoever takes its slot covers it; its end where nobody does. */
            int64_t end = life.end;
            for (int32_t n = 0; n < p->problem.count; n++)
                if (p->took_slot_of[n] == i) end = min_i64(end, p->problem.buffers[n].start);
            add_box_words(s, i, x, y, still_map_x_of(s, end) - x, h, out);
            text_add(out, "</g>\n");
        }
    }
    add_time_axis(s, TOP + MAP, out);
    text_add(out, "</svg>\n");
}

static void still_map_add_use(const struct still *s, struct text *out)
{
    int64_t capacity = s->p->problem.capacity, most = max_i64(max_i64(s->use->peak, 1), capacity);
    add_svg("bytes in use against time", TOP + USE + AXIS, out);
    /* A staircase, thinned out where there are more steps than a picture shows: of some the highest. */
    enum { STEPS = 2000 };
    const struct lx_occupancy *o = s->use;
    size_t each = o->count / STEPS + 1;
    text_format(out, "<path class=\"use\" d=\"M%d %d", (int)LEFT, TOP + USE);
    for (size_t i = 0; i < o->count; i += each) {
        int64_t bytes = 0;
        for (size_t k = i; k < i + each && k < o->count; k++) bytes = max_i64(bytes, o->bytes[k]);
        text_format(out, "H%.1fV%.1f", still_map_x_of(s, o->tick[i]),
                    TOP + USE - (double)bytes / (double)most * USE);
    }
    text_format(out, "H%d\"/>\n", WIDTH - RIGHT);
    still_map_add_line(LEFT, TOP + USE, WIDTH - RIGHT, TOP + USE, "axis", out);
    if (capacity > 0) {
        double y = TOP + USE - (double)capacity / (double)most * USE;
        still_map_add_line(LEFT, y, WIDTH - RIGHT, y, "knee", out);
        still_map_add_label(LEFT - 6, y + 10, "end", in_short_bytes(capacity).at, out);
    }
    add_time_axis(s, TOP + USE, out);
    text_add(out, "</svg>\n");
}

void add_still_maps(const struct still *s, struct text *out)
{
    text_format(out, "<section><h2>%s</h2>\n",
                s->p->graph->list ? "Addresses against time"
                                  : "Scratchpad of each core: addresses against time");
    add_map(s, out);
    text_format(out, "<h2>Bytes in use, at most %s of %s (the dashed line)</h2>\n", in_bytes(s->use->peak).at,
                in_bytes(s->p->problem.capacity).at);
    still_map_add_use(s, out);
    text_add(out, "</section>\n");
}
