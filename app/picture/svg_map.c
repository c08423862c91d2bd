/* The map of a drawing: one rectangle per life of a buffer, what is reserved, and the axes. */
#include "picture/svg_frame.h"
#include "base/checked.h"
#include "base/memory.h"
#include "export/nest_words.h"
#include "text/format.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_APART = 12 }; /* between two names of ops */

/* A rectangle of a pool's band, at least half a unit wide and high; what goes on inside the tag is up to the caller. */
static void open_rect(const struct frame *f, int32_t pool, struct lx_life life, int64_t from, int64_t to,
                      struct text *t)
{
    double x = x_of(f, life.start), y = y_of(f, pool, to);
    text_format(t, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"", x, y,
                fmax(x_of(f, life.end) - x, 0.5), fmax(y_of(f, pool, from) - y, 0.5));
}

/* The part of a life that nobody else's rectangle covers; where that is nothing, the one before its heir comes. */
static struct lx_life svg_map_seen_of(const struct lx_plan *p, int32_t i, int32_t heir, struct lx_life life)
{
    struct lx_life seen = life;
    int32_t parent = p->took_slot_of[i];
    if (heir >= 0) seen.end = min_i64(seen.end, max_i64(p->problem.buffers[heir].start, life.start));
    if (parent >= 0) seen.start = max_i64(seen.start, min_i64(p->problem.buffers[parent].end, life.end));
    if (seen.end <= seen.start) seen.start = life.start;
    return seen.end > seen.start ? seen : life;
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
    struct lx_life seen = svg_map_seen_of(p, i, heir, life);
    add_label(b->name, x_of(f, seen.start), y, x_of(f, seen.end) - x_of(f, seen.start), h, t);
    text_add(t, "</g>\n");
}

void svg_buffers(const struct frame *f, struct text *t)
{
    const struct lx_plan *p = f->index->plan;
    int32_t n = p->problem.count,
            *heir = mem_alloc(((size_t)n + 1) * sizeof *heir); /* who took the slot over, or -1 */
    if (!heir) {
        t->failed = true;
        return;
    }
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

/* Bytes that belong to nobody, hatched. */
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

static void add_limit(const struct frame *f, int32_t pool, struct text *t)
{
    const struct band *b = &f->index->bands.at[pool];
    if (b->capacity <= 0 || b->capacity > b->shown) return;
    double y = y_of(f, pool, b->capacity);
    text_format(t, "<line class=\"limit\" x1=\"%.1f\" y1=\"%.2f\" x2=\"%.1f\" y2=\"%.2f\"/>", f->x, y,
                f->x + f->width, y);
    text_format(t, "<text class=\"limit-text\" x=\"%.1f\" y=\"%.1f\">capacity %s</text>\n", f->x + f->width,
                y - 5, in_bytes(b->capacity).at);
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
        add_limit(f, k, t);
    }
}

bool svg_names_ops(const struct lx_plan *p)
{
    return p->layouts && p->layouts->graph->op_count > 0;
}

/* The ops as they run, as many as can be read. */
static void add_op_names(const struct frame *f, double y, struct text *t)
{
    const struct lx_graph *g = f->index->plan->layouts->graph;
    double free_from = f->x;
    for (int32_t i = 0; i < g->op_count; i++) {
        double x = (x_of(f, i) + x_of(f, (int64_t)i + 1)) / 2;
        if (i < f->first || i >= f->last || x < free_from) continue;
        text_format(t, "<text class=\"op\" transform=\"translate(%.1f %.1f) rotate(40)\">", x - 2, y);
        add_xml(t, g->ops[i].name, 16);
        text_add(t, "</text>\n");
        free_from = x + LEAST_APART;
    }
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
        text_xml(t, words.at ? words.at : "");
        text_add(t, "</title></path>");
        add_label(words.at ? words.at : "", from, y + 4, to - from, NEST_ROW - 6, t);
        text_add(t, "\n");
        t->failed |= words.failed;
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
    if (named) add_op_names(f, bottom + 28, t);
}
