/* Ruler, brackets, curve and minimap. */
#include "tui/map/map_window.h"
#include "base/checked.h"
#include "base/memory.h"
#include "export/nest_words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Names of ops if every tick has room for six characters; else numbers. */
static void axis_draw_names(const struct scene *on, struct box area, const struct raster *r)
{
    const struct lx_graph *g = outcome_graph(&on->session->shown);
    int left = area.column + GUTTER, width = raster_width(r), free_from = 0;
    bool named = g && width >= 6 * scale_length(&r->time);
    for (int c = 0, next; c < width; c = next) {
        int64_t from, to;
        int first, last;
        raster_ticks(r, c, &from, &to);
        if (!raster_columns(r, from, to, &first, &last)) first = last = c;
        next = last > c ? last + 1 : c + 1;
        if (first >= c && r->time.each / r->across >= 2)
            put(on->cells, area.row, left + first, on->glyphs->tee, INK(FRAME));
        if (area.rows < 2 || c < free_from) continue;
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)from);
        bool here = on->session->selection.tick >= from && on->session->selection.tick < to,
             is_op = named && from >= 0 && from < g->op_count;
        int room = is_op ? last - c : width - c;
        free_from =
            c + (is_op ? 1 : 2) +
            (is_op ? put_name(on->cells, area.row + 1, left + c, room, here ? INK(KEY) : INK(DIM),
                              g->ops[from].name)
                   : put_text(on->cells, area.row + 1, left + c, room, here ? INK(KEY) : INK(DIM), number));
    }
}

void axis_draw_ruler(const struct scene *on, struct box area, const struct raster *r)
{
    int left = area.column + GUTTER, first, last;
    int64_t tick = on->session->selection.tick;
    if (area.rows == 0) return;
    put(on->cells, area.row, left - 1, on->glyphs->corner[2], INK(FRAME));
    for (int c = 0; c < raster_width(r); c++)
        put(on->cells, area.row, left + c, on->glyphs->horizontal, INK(FRAME));
    axis_draw_names(on, area, r);
    if (raster_tick_columns(r, tick, &first, &last))
        for (int c = first; c <= last; c++) put(on->cells, area.row, left + c, on->glyphs->peak, INK(KEY));
    put_text(on->cells, area.row + (area.rows > 1), area.column, GUTTER - 1, INK(DIM),
             r->time.event ? "   events" : "     tick");
}

void axis_draw_curve(const struct scene *on, struct box area, const struct raster *r)
{
    const struct outcome *o = &on->session->shown;
    int64_t whole =
        o->plan->problem.objective == LX_HEIGHT ? o->plan->figures.height_bytes : o->plan->problem.capacity;
    int left = area.column + GUTTER;
    if (area.rows == 0) return;
    put_text(on->cells, area.row, area.column, GUTTER - 1, INK(DIM), "   in use");
    if (area.rows > 1)
        put_format(on->cells, area.row + 1, area.column, GUTTER - 1, INK(DIM), "%8.0f%%",
                   whole > 0 ? 100.0 * (double)o->time.peak / (double)whole : 0.0);
    for (int k = 0; k < area.rows; k++)
        put(on->cells, area.row + k, left - 1, on->glyphs->vertical, INK(FRAME));
    for (int c = 0; c < raster_width(r); c++) {
        int64_t from, to;
        raster_ticks(r, c, &from, &to);
        int64_t most = lx_occupancy_most(&o->time, from, to);
        int steps = 8 * area.rows, level = whole > 0 ? (int)((double)most / (double)whole * steps + 0.5) : 0;
        bool peak = o->time.peak > 0 && most == o->time.peak;
        if (most > 0 && level == 0) level = 1;
        if (level > steps) level = steps;
        for (int k = 0; k < area.rows; k++) {
            int part = level - 8 * (area.rows - 1 - k);
            put(on->cells, area.row + k, left + c,
                on->glyphs->level[part < 0   ? 0
                                  : part > 8 ? 8
                                             : part],
                peak ? INK(HIGH) : INK(LOW));
        }
    }
}

void axis_draw_runs(const struct scene *on, struct box area, const struct raster *r, const char *what,
                    const struct tick_run *runs, int32_t count)
{
    if (area.rows == 0) return;
    put_right(on->cells, area.row, area.column, GUTTER - 1, INK(DIM), what);
    for (int32_t i = 0; i < count; i++) {
        int first, last;
        if (!raster_columns(r, runs[i].from, runs[i].to, &first, &last)) continue;
        /* A bracket with its name in the middle, as far as there is room; a mark in one column. */
        const struct tick_run *run = &runs[i];
        const struct glyphs *s = on->glyphs;
        int left = area.column + GUTTER, room = last - first - 3, width = columns_of(run->label);
        bool here = on->session->selection.tick >= run->from && on->session->selection.tick < run->to;
        struct style style = here ? INK(KEY) : INK(FRAME);
        for (int c = first; c <= last; c++) put(on->cells, area.row, left + c, s->horizontal, style);
        put(on->cells, area.row, left + first, first == last ? s->vertical : s->corner[2], style);
        if (last > first) put(on->cells, area.row, left + last, s->corner[3], style);
        if (width > room) width = room;
        if (width >= 1 && (width >= 3 || width >= columns_of(run->label)))
            put_name(on->cells, area.row, left + first + 2 + (room - width) / 2, width,
                     here ? INK(KEY) : INK(DIM), run->label);
    }
}

void axis_draw_bundles(const struct scene *on, struct box area, const struct raster *r)
{
    const struct lx_plan *p = session_plan(on->session);
    const struct lx_graph *g = plan_graph(p);
    int32_t n = 0;
    if (area.rows == 0) return;
    struct tick_run *runs = mem_alloc(((size_t)p->bundle_count + 1) * sizeof *runs);
    for (int32_t i = 0; g && i < p->bundle_count; i++) {
        int32_t first = p->bundles[i].first,
                end = i + 1 < p->bundle_count ? p->bundles[i + 1].first : g->op_count;
        if (end <= r->time.from || first >= r->time.to) continue;
        runs[n] = (struct tick_run){.from = first, .to = end};
        snprintf(runs[n].label, sizeof runs[n].label, "%d: %s", (int)i, counted(end - first, "op").at);
        n++;
    }
    axis_draw_runs(on, area, r, "kernels", runs, n);
    mem_free(runs);
}

/* "x16 over s", and ": 5 of 16" of the nest at the cursor; with less room "s/16", or just "x16". */
static void axis_name_nest(const struct session *s, int32_t nest, int room, struct tick_run *run)
{
    const struct lx_plan *p = session_plan(s);
    const struct lx_nest *n = &p->nests[nest];
    struct text words = {0};
    add_nest_words(p, n, &words);
    size_t loops = words.length;
    if (nest == session_nest(s))
        text_format(&words, ": %s of %s", grouped(session_iteration(s, nest) + 1).at,
                    grouped(nest_iterations(n)).at);
    if ((int)words.length > room && words.at) words.at[loops] = 0;
    if ((int)loops > room) {
        text_free(&words);
        add_nest_brief(p, n, &words);
    }
    if ((int)words.length > room && (int)loops > room) {
        text_free(&words);
        text_format(&words, "x%lld", (long long)nest_iterations(n));
    }
    snprintf(run->label, sizeof run->label, "%s", words.at ? words.at : "");
    text_free(&words);
}

void axis_draw_nests(const struct scene *on, struct box area, const struct raster *r)
{
    const struct lx_plan *p = session_plan(on->session);
    int32_t n = 0;
    if (area.rows == 0) return;
    struct tick_run *runs = mem_alloc(((size_t)p->nest_count + 1) * sizeof *runs);
    for (int32_t i = 0; i < p->nest_count; i++) {
        int first, last;
        runs[n] = (struct tick_run){.from = p->nests[i].first, .to = (int64_t)p->nests[i].last + 1};
        if (!raster_columns(r, runs[n].from, runs[n].to, &first, &last)) continue;
        axis_name_nest(on->session, i, last - first - 3, &runs[n++]);
    }
    axis_draw_runs(on, area, r, "nests", runs, n);
    mem_free(runs);
}

void axis_draw_minimap(const struct scene *on, struct box area, const struct map_window *w)
{
    const struct outcome *o = &on->session->shown;
    int left = area.column + GUTTER, columns = area.columns - GUTTER;
    struct cell_scale all = {
        .from = o->time.first, .to = max_i64(o->time.last, o->time.first + 1), .cells = columns};
    bool thin;
    int first, last;
    if (area.rows == 0 || columns < 4) return;
    if (map_window_by_events(w, on->session)) all.event = o->index.event, all.events = o->index.event_count;
    scale_ready(&all);
    if (!scale_cells(&all, w->from_tick, w->to_tick, &first, &last, &thin)) return;
    /* "12-18%" of time; never 0-0%. */
    char words[24];
    int low = (int)floor(100 * (scale_place(&all, w->from_tick) / columns)),
        high = (int)ceil(100 * (scale_place(&all, w->to_tick) / columns));
    snprintf(words, sizeof words, "%d-%d%%", low, high > 100 ? 100 : high);
    put_right(on->cells, area.row, area.column, GUTTER - 1, INK(KEY), words);
    put(on->cells, area.row, left - 1, on->glyphs->vertical, INK(FRAME));
    for (int c = 0; c < columns; c++) {
        bool seen = c >= first && c <= last;
        put(on->cells, area.row, left + c, seen ? on->glyphs->thick : on->glyphs->light,
            seen ? INK(KEY) : INK(FRAME));
    }
    if (first > 0) put(on->cells, area.row, left + first, '[', INK(KEY));
    if (last < columns - 1 && last > first) put(on->cells, area.row, left + last, ']', INK(KEY));
    int at, end;
    int64_t tick = on->session->selection.tick;
    if (scale_cells(&all, tick, tick + 1, &at, &end, &thin))
        put(on->cells, area.row, left + (at + end) / 2, on->glyphs->peak, INK(KEY));
}
