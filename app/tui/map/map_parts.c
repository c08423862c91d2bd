/* Below the map: ruler, brackets, curve and minimap. Beside it: a column of words, whose lower parts are
 * left out if there is no room. */
#include "tui/map/map_window.h"
#include "export/nest_words.h"
#include "tui/draw/chart.h"
#include "tui/map/paint_map.h"

enum { MOST_ACROSS = 1000 };

/* Names of ops if every tick has room for six characters; else numbers. A bar stands where cores meet at a
 * sync. */
void axis_draw_ruler(const struct scene *on, struct box area, const struct raster *r)
{
    const struct lx_graph *g = outcome_graph(&on->session->shown);
    int left = area.column + GUTTER, width = raster_width(r), free_from = 0, first, last;
    int64_t tick = on->session->selection.tick, from, to;
    bool named = g && width >= 6 * scale_length(&r->time);
    if (area.rows == 0) return;
    put(on->cells, area.row, left - 1, on->glyphs->corner[2], INK(FRAME));
    for (int c = 0; c < width; c++) put(on->cells, area.row, left + c, on->glyphs->horizontal, INK(FRAME));
    for (int c = 0, next; c < width; c = next) {
        raster_ticks(r, c, &from, &to);
        if (!raster_columns(r, from, to, &first, &last)) first = last = c;
        next = last > c ? last + 1 : c + 1;
        if (first >= c && r->time.each / r->across >= 2)
            put(on->cells, area.row, left + first, on->glyphs->tee, INK(FRAME));
        if (area.rows < 2 || c < free_from) continue;
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)from);
        struct style style = tick >= from && tick < to ? INK(KEY) : INK(DIM);
        if (!(named && from >= 0 && from < g->op_count) && (int)strlen(number) > width - c) break;
        bool is_op = named && from >= 0 && from < g->op_count;
        int row = area.row + 1,
            used = is_op ? put_name(on->cells, row, left + c, last - c, style, g->ops[from].name)
                         : put_text(on->cells, row, left + c, width - c, style, number);
        free_from = c + (is_op ? 1 : 2) + used;
    }
    const struct lx_plan *p = on->session->shown.plan;
    for (int32_t i = 0; p && i < p->sync_count; i++)
        if (raster_tick_columns(r, p->syncs[i].before, &first, &last))
            put(on->cells, area.row, left + first, on->glyphs->vertical, INK(FRAME));
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
        bool peak = o->time.peak > 0 && most == o->time.peak;
        put_level(on, (struct box){area.row, left + c, area.rows, 1},
                  whole > 0 ? (double)most / (double)whole : 0, peak ? INK(HIGH) : INK(LOW));
    }
}

void axis_draw_prices(const struct scene *on, struct box area, const struct raster *r)
{
    const struct outcome *o = &on->session->shown;
    double most = 0, at[MOST_ACROSS] = {0};
    int first, last;
    if (area.rows == 0) return;
    for (int32_t i = 0; i < o->price_count; i++) {
        most = fmax(most, o->prices[i].per_byte);
        if (raster_tick_columns(r, o->prices[i].tick, &first, &last))
            for (int c = first; c <= last && c < MOST_ACROSS; c++) at[c] = fmax(at[c], o->prices[i].per_byte);
    }
    put_text(on->cells, area.row, area.column, GUTTER - 1, INK(DIM), "   +1 KiB");
    for (int c = 0; c < raster_width(r) && c < MOST_ACROSS; c++)
        put_level(on, (struct box){area.row, area.column + GUTTER + c, 1, 1}, most > 0 ? at[c] / most : 0,
                  INK(WARN));
}

/* A run of ticks with a name, as a bracket shows it. */
struct tick_run {
    int64_t from, to; /* [from, to) */
    char label[120];
};

/* One row of brackets; runs are in order and do not meet. `what` stands in the gutter. */
static void axis_draw_runs(const struct scene *on, struct box area, const struct raster *r, const char *what,
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
    const struct lx_graph *g = outcome_graph(&on->session->shown);
    int32_t n = 0;
    if (area.rows == 0) return;
    OWNED struct tick_run *runs = mem_alloc(((size_t)p->bundle_count + 1) * sizeof *runs);
    for (int32_t i = 0; g && i < p->bundle_count; i++) {
        int32_t first = p->bundles[i].first,
                end = i + 1 < p->bundle_count ? p->bundles[i + 1].first : g->op_count;
        if (end <= r->time.from || first >= r->time.to) continue;
        runs[n] = (struct tick_run){.from = first, .to = end};
        snprintf(runs[n].label, sizeof runs[n].label, "%d: %s", (int)i, counted(end - first, "op").at);
        n++;
    }
    axis_draw_runs(on, area, r, "kernels", runs, n);
}

/* "x16 over s", and ": 5 of 16" of the nest at the cursor; with less room "s/16", or just "x16". */
void axis_draw_nests(const struct scene *on, struct box area, const struct raster *r)
{
    const struct session *s = on->session;
    const struct lx_plan *p = session_plan(s);
    int32_t count = 0;
    if (area.rows == 0) return;
    OWNED struct tick_run *runs = mem_alloc(((size_t)p->nest_count + 1) * sizeof *runs);
    for (int32_t i = 0; i < p->nest_count; i++) {
        const struct lx_nest *n = &p->nests[i];
        struct text words = {0};
        int first, last;
        if (!raster_columns(r, n->first, (int64_t)n->last + 1, &first, &last)) continue;
        int room = last - first - 3;
        add_nest_words(p, n, &words);
        size_t loops = words.length;
        if (i == session_nest(s))
            text_format(&words, ": %s of %s", grouped(session_iteration(s, i) + 1).at,
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
        runs[count] = (struct tick_run){.from = n->first, .to = (int64_t)n->last + 1};
        snprintf(runs[count++].label, sizeof runs->label, "%s", words.at ? words.at : "");
        text_free(&words);
    }
    axis_draw_runs(on, area, r, "nests", runs, count);
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

int map_panel_hole(const struct scene *on, struct box area)
{
    const struct session *s = on->session;
    const struct bands *bands = &s->shown.index.bands;
    struct lx_holes h;
    int64_t address;
    int32_t pool = bands_pool(bands, s->selection.address, &address);
    if (pool < 0 || area.rows < 1) return 0;
    lx_holes_at(session_plan(s), pool, s->selection.tick, address, &h);
    struct text line = {0};
    text_format(&line, "tick %lld: ", (long long)s->selection.tick);
    if (bands->count > 1 && bands->at[pool].name) {
        text_add(&line, "pool ");
        add_printable(&line, bands->at[pool].name, 24);
        text_add(&line, ", ");
    }
    if (h.from >= 0 && map_window_on_hole(s))
        text_format(&line, "the cursor is on a free hole of %s at %s; ", in_bytes(h.to - h.from).at,
                    address_words(on, h.from).at);
    text_format(&line, "%s free in %s, the largest %s", in_bytes(h.free_bytes).at,
                counted(h.count, "hole").at, in_bytes(h.largest_to - h.largest_from).at);
    double padding = plan_padding_at(session_plan(s), s->selection.tick);
    if (padding >= 0.01) text_format(&line, "; %s of what is in use is padding", in_percent(padding).at);
    int used = put_paragraph(on->cells, area, INK(DIM), &line);
    return used;
}

static void map_panel_draw_row(const struct scene *on, struct box row, int32_t i, struct style style,
                               const char *number)
{
    const struct outcome *o = &on->session->shown;
    int name = row.columns - 12;
    put(on->cells, row.row, row.column, on->glyphs->bullet,
        (struct style){.ink = tone_of_identity(buffer_identity(o->plan, i))});
    int used =
        put_name(on->cells, row.row, row.column + 2, name - 3, style, o->plan->problem.buffers[i].name);
    /* The slice of a tile, if the whole text fits. */
    struct box room = {row.row, row.column + 3 + used, 1, name - 3 - used};
    const struct lx_plan *p = session_plan(on->session);
    int32_t nest = is_tile(p, i) ? plan_nest_at(p, p->stays[i].first) : -1;
    struct text words = {0};
    if (nest >= 0) {
        add_slice_words(p, &p->nests[nest], p->stays[i].tensor, p->stays[i].hold,
                        session_iteration(on->session, nest), &words);
        if (words.at && columns_of(words.at) <= room.columns)
            put_text(on->cells, room.row, room.column, room.columns, INK(KEY), words.at);
        text_free(&words);
    }
    put_right(on->cells, row.row, row.column + name, 11, style, number);
    if (i == on->session->selection.buffer) put_paper(on->cells, row, INK_ON(PLAIN, SELECTED));
}

struct sized {
    int64_t size;
    int32_t buffer;
};

ORDER(map_panel_largest_first, struct sized, ORDER_DOWN(size) ORDER_UP(buffer));

/* The buffers on chip at the cursor's tick, largest first. */
static void map_panel_draw_alive(const struct scene *on, struct box area)
{
    const struct lx_plan *p = session_plan(on->session);
    int64_t tick = on->session->selection.tick, sum = 0;
    size_t n = 0;
    if (area.rows < 2) return;
    OWNED struct sized *alive = mem_alloc(((size_t)p->problem.count + 1) * sizeof *alive);
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        if (p->answer.address[i] < 0 || !lx_is_alive(b, tick)) continue;
        alive[n++] = (struct sized){b->size, i};
        sum += b->size;
    }
    if (n) qsort(alive, n, sizeof *alive, map_panel_largest_first);
    /* Without the tick, which the map shows too, where the bytes would be cut off. */
    SCOPED(text_free) struct text words = {0};
    text_format(&words, ": %s, %s B", counted((int64_t)n, "buffer").at, grouped(sum).at);
    char where[60];
    int length =
        snprintf(where, sizeof where, "on chip at tick %lld", (long long)on->session->selection.tick);
    if (length + (int)words.length > area.columns) where[strlen("on chip")] = 0;
    put_format(on->cells, area.row, area.column, area.columns, INK(TITLE), "%s%s", where,
               words.at ? words.at : "");
    for (size_t k = 0; k < n && (int)k + 1 < area.rows; k++)
        map_panel_draw_row(on, (struct box){area.row + 1 + (int)k, area.column, 1, area.columns},
                           alive[k].buffer, INK(PLAIN), grouped(alive[k].size).at);
}

/* The marks of the map; moves and tiles only where the plan has any. */
static void map_panel_draw_legend(const struct scene *on, struct box area)
{
    const struct lx_plan *p = session_plan(on->session);
    bool letters = on->theme->letters || on->glyphs->ascii, moves = false, tiles = false;
    for (int32_t i = 0; i < p->transfer_count; i++) moves |= p->transfers[i].kind == LX_MOVE;
    for (int32_t i = 0; i < p->problem.count; i++) tiles |= is_tile(p, i) && p->answer.address[i] >= 0;
    struct style shaded = {TONE_LABEL, tone_of_identity(0), 0};
    const struct {
        bool shown;
        uint32_t code;
        const char *word;
        struct style style;
    } marks[] = {{moves, on->glyphs->move, "move", INK(KEY)},
                 {tiles, letters ? TILE_LETTER : on->glyphs->shades[1], "tile", letters ? INK(KEY) : shaded},
                 {true, '/', "in place", INK(KEY)},
                 {true, on->glyphs->load, "load", INK(KEY)},
                 {true, on->glyphs->store, "store", INK(KEY)},
                 {true, on->glyphs->ring, "ring", INK(KEY)}};
    int at = area.column;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (!marks[i].shown) continue;
        put(on->cells, area.row, at, marks[i].code, marks[i].style);
        at += 2 + put_text(on->cells, area.row, at + 1, 10, INK(DIM), marks[i].word);
    }
}

void map_panel_draw(const struct scene *on, struct box area, const struct map_window *w)
{
    struct box rest = area;
    details_draw(on, box_cut_top(&rest, area.rows >= 36 ? 9 : area.rows / 3), on->session->selection.buffer);
    struct box legend = box_cut_bottom(&rest, area.rows > 16);
    bool lens = heat_is_lens[w->heat];
    struct box shades = box_cut_bottom(&rest, area.rows > 16 && (w->raster.dense > 0 || lens));
    if (legend.rows) map_panel_draw_legend(on, legend);
    if (shades.rows) {
        /* The shades of dense cells, and their meaning. */
        enum { SAMPLES = 8 };
        for (int i = 0; i < SAMPLES; i++)
            put_heat(on->cells, on->theme, on->glyphs, shades.row, shades.column + i, map_ramp(&w->raster),
                     (double)i / (SAMPLES - 1));
        put_format(on->cells, shades.row, shades.column + SAMPLES + 1, shades.columns - SAMPLES - 1, INK(DIM),
                   "%s: %s (%s)", lens ? "all" : "several", heat_names[w->heat], KEY_OF(DENSE));
    }
    const struct lx_plan *p = session_plan(on->session);
    int32_t nest = rest.rows > 12 ? plan_nest_at(p, on->session->selection.tick) : -1;
    if (nest >= 0) {
        struct text line = {0};
        text_format(&line, "nest %d of %d: ", (int)nest + 1, (int)p->nest_count);
        add_nest_words(p, &p->nests[nest], &line);
        text_add(&line, "\n");
        add_iteration_words(p, &p->nests[nest], session_iteration(on->session, nest), &line);
        struct box rows = {rest.row, rest.column, 4, rest.columns};
        box_cut_top(&rest, put_paragraph(on->cells, rows, INK(KEY), &line));
    }
    struct box hole = box_cut_top(&rest, rest.rows > 8 ? 4 : 0);
    if (hole.rows) map_panel_hole(on, hole);
    if (rest.rows >= 12) {
        struct box alive = box_cut_top(&rest, rest.rows / 2);
        alive.rows--;
        map_panel_draw_alive(on, alive);
    }
    const struct outcome *o = &on->session->shown;
    if (rest.rows < 2) return;
    put_format(on->cells, rest.row, rest.column, rest.columns, INK(TITLE), "off chip: %s, HBM bytes",
               counted(o->off_chip_count, "buffer").at);
    int at = 0; /* scrolled to the selected one */
    for (int32_t k = 0; k < o->off_chip_count; k++)
        if (o->off_chip[k] == on->session->selection.buffer && k >= rest.rows - 1) at = k - rest.rows + 2;
    for (int k = 0; at + k < o->off_chip_count && k + 1 < rest.rows; k++) {
        const struct lx_buffer *b = &o->plan->problem.buffers[o->off_chip[at + k]];
        map_panel_draw_row(on, (struct box){rest.row + 1 + k, rest.column, 1, rest.columns},
                           o->off_chip[at + k], b->reason ? INK(DIM) : INK(BAD),
                           grouped(o->moved ? o->moved[o->off_chip[at + k]] : b->spill_cost).at);
    }
}
