/* The map: scratchpad addresses against time, with a cursor that knows everything, what is in use below it,
 * and what is off chip below that. */
#include "picture/lanes.h"
#include "tui/paint_map.h"
#include "tui/map_panel.h"
#include "tui/map_window.h"
#include "base/checked.h"

#include <stdio.h>
#include <string.h>

enum { GUTTER = 10, PANEL = 38, PANEL_FROM = 110, LEAST_MAP = 3 };

/* Where the parts are, from top to bottom. */
struct parts {
    struct box map, ruler, curve, lanes, details, panel;
};

static struct parts lay_out(const struct scene *on, struct box area)
{
    const struct outcome *o = &on->session->shown;
    struct parts p = {0};
    int spilled = o->off_chip_count;
    bool tall = area.rows >= 16;
    if (area.columns >= PANEL_FROM) {
        p.panel = box_cut_right(&area, PANEL);
        p.panel.column++;
        p.panel.columns--;
    } else
        p.details = box_cut_bottom(&area, area.rows >= 30 ? 5 : tall ? 4 : 2);
    int lanes = spilled == 0 ? 0 : area.rows >= 40 ? 6 : area.rows >= 26 ? 4 : tall ? 2 : area.rows >= 7;
    p.lanes = box_cut_bottom(&area, lanes < spilled ? lanes : spilled);
    p.curve = box_cut_bottom(&area, area.rows >= 30 ? 4 : area.rows >= 12 ? 2 : area.rows >= 5);
    p.ruler = box_cut_bottom(&area, area.rows >= 10 ? 2 : area.rows >= 4);
    p.map = (struct box){area.row, area.column + GUTTER, area.rows, area.columns - GUTTER};
    return p;
}

static void draw_addresses(const struct scene *on, const struct parts *p, const struct raster *r)
{
    int factor = map_rows(on, 1), every = p->map.rows > 24 ? 3 : p->map.rows > 8 ? 2 : 1;
    if (r->address.by_edges) every = 1;
    for (int row = 0; row * factor < r->address.cells; row++) {
        int cell = r->address.cells - (row + 1) * factor;
        int64_t low = scale_value(&r->address, cell < 0 ? 0 : cell);
        int64_t high = scale_value(&r->address, cell + factor);
        bool here = on->session->selection.address >= low && on->session->selection.address < high;
        if (row % every == 0 || here)
            put_right(on->cells, p->map.row + row, p->map.column - GUTTER, GUTTER - 1,
                      here ? INK(TITLE) : INK(DIM), address_words(on, low).at);
        put(on->cells, p->map.row + row, p->map.column - 1, here ? on->glyphs->mark : on->glyphs->vertical,
            here ? INK(KEY) : INK(FRAME));
    }
}

/* The line with a mark at the cursor's tick; below it ticks, or the names of ops where they have room. */
static void draw_ruler(const struct scene *on, const struct parts *p, const struct raster *r)
{
    const struct session *s = on->session;
    const struct lx_graph *g = outcome_graph(&s->shown);
    int row = p->ruler.row, left = p->map.column, free_from = 0;
    if (p->ruler.rows == 0) return;
    put(on->cells, row, left - 1, on->glyphs->corner[2], INK(FRAME));
    double each = (double)r->time.cells / (double)(r->time.to - r->time.from);
    for (int c = 0; c < r->time.cells; c++) put(on->cells, row, left + c, on->glyphs->horizontal, INK(FRAME));
    for (int64_t t = r->time.from; t < r->time.to; t += each >= 1 ? 1 : (int64_t)(1 / each) + 1) {
        int first, last;
        bool thin, here;
        if (!scale_cells(&r->time, t, t + 1, &first, &last, &thin)) continue;
        here = t == s->selection.tick;
        if (each >= 2) put(on->cells, row, left + first, on->glyphs->tee, INK(FRAME));
        if (p->ruler.rows < 2 || first < free_from) continue;
        bool named = g && t >= 0 && t < g->op_count && each >= 6;
        int room = named ? last - first : r->time.cells - first;
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)t);
        int used = put_text(on->cells, row + 1, left + first, room, here ? INK(KEY) : INK(DIM),
                            named ? g->ops[t].name : number);
        free_from = first + used + (named ? 1 : 2);
    }
    int first, last;
    bool thin;
    if (scale_cells(&r->time, s->selection.tick, s->selection.tick + 1, &first, &last, &thin))
        for (int c = first; c <= last; c++) put(on->cells, row, left + c, on->glyphs->peak, INK(KEY));
    put_text(on->cells, row + (p->ruler.rows > 1), left - GUTTER, GUTTER - 1, INK(DIM), "     tick");
}

static void draw_curve(const struct scene *on, const struct parts *p, const struct raster *r)
{
    const struct outcome *o = &on->session->shown;
    int64_t whole =
        o->plan->problem.objective == LX_HEIGHT ? o->plan->figures.height_bytes : o->plan->problem.capacity;
    int steps = 8 * p->curve.rows;
    if (p->curve.rows == 0) return;
    put_text(on->cells, p->curve.row, p->curve.column, GUTTER - 1, INK(DIM), "   in use");
    if (p->curve.rows > 1)
        put_format(on->cells, p->curve.row + 1, p->curve.column, GUTTER - 1, INK(DIM), "%8.0f%%",
                   whole > 0 ? 100.0 * (double)o->time.peak / (double)whole : 0.0);
    for (int k = 0; k < p->curve.rows; k++)
        put(on->cells, p->curve.row + k, p->map.column - 1, on->glyphs->vertical, INK(FRAME));
    for (int c = 0; c < r->time.cells; c++) {
        int64_t from = r->time.from + (int64_t)((double)(r->time.to - r->time.from) * c / r->time.cells);
        int64_t to = max_i64(from + 1, scale_value(&r->time, c + 1));
        int64_t most = lx_occupancy_most(&o->time, from, to);
        int level = whole > 0 ? (int)((double)most / (double)whole * steps + 0.5) : 0;
        if (most > 0 && level == 0) level = 1;
        if (level > steps) level = steps;
        bool peak = o->time.peak > 0 && most == o->time.peak;
        for (int k = 0; k < p->curve.rows; k++) {
            int part = level - 8 * (p->curve.rows - 1 - k);
            put(on->cells, p->curve.row + k, p->map.column + c,
                on->glyphs->level[part < 0   ? 0
                                  : part > 8 ? 8
                                             : part],
                peak ? INK(HIGH) : INK(LOW));
        }
    }
}

/* Lives of what is off chip, the dearest first, each in the first lane where it finds room. */
static void draw_lanes(const struct scene *on, const struct parts *p, const struct raster *r)
{
    const struct outcome *o = &on->session->shown;
    struct lanes lanes;
    lanes_begin(&lanes, p->lanes.rows);
    if (lanes.most == 0) return;
    put_text(on->cells, p->lanes.row, p->lanes.column, GUTTER - 1, INK(BAD), " off chip");
    for (int k = 0; k < lanes.most; k++)
        put(on->cells, p->lanes.row + k, p->map.column - 1, on->glyphs->vertical, INK(FRAME));
    for (int32_t k = 0; k < o->off_chip_count && k < 200; k++) {
        int32_t i = o->off_chip[k];
        const struct lx_buffer *b = &o->plan->problem.buffers[i];
        int first, last;
        bool thin;
        char words[300];
        if (!scale_cells(&r->time, b->start, b->end, &first, &last, &thin)) continue;
        snprintf(words, sizeof words, "%.80s %s%.80s", b->name, b->reason ? "" : grouped(b->spill_cost).at,
                 b->reason ? b->reason : " B");
        int room = last - first + 1, width = columns_of(words) + 1;
        if (width > room && first + width <= r->time.cells)
            room = width; /* words may run over a short life */
        int lane = lanes_place(&lanes, i, first, first + room + 1);
        if (lane < 0) continue;
        bool here = i == on->session->selection.buffer;
        struct style style = {here        ? TONE_CURSOR
                              : b->reason ? TONE_DIM
                                          : TONE_BAD,
                              here ? TONE_CURSOR : TONE_PLAIN, 0};
        for (int c = first; c <= last; c++)
            put(on->cells, p->lanes.row + lane, p->map.column + c, on->glyphs->horizontal, style);
        put(on->cells, p->lanes.row + lane, p->map.column + first, on->glyphs->bullet,
            (struct style){tone_of_identity(buffer_identity(o->plan, i)), style.paper, 0});
        if (room > 2)
            put_text(on->cells, p->lanes.row + lane, p->map.column + first + 1, room - 1, style, words);
    }
    if (lanes.left_over && p->lanes.rows > 1)
        put_format(on->cells, p->lanes.row + 1, p->lanes.column, GUTTER - 1, INK(DIM), " +%d more",
                   (int)lanes.left_over);
}

/* The largest free stretch at the cursor's tick, marked in its columns. */
static void draw_largest_hole(const struct scene *on, const struct parts *p, const struct raster *r)
{
    struct lx_holes h;
    int first, last, low, high, factor = map_rows(on, 1);
    bool thin;
    if (!lx_holes_at(session_plan(on->session), on->session->selection.tick, 0, &h) ||
        h.largest_to <= h.largest_from)
        return;
    if (!scale_cells(&r->time, on->session->selection.tick, on->session->selection.tick + 1, &first, &last,
                     &thin) ||
        !scale_cells(&r->address, h.largest_from, h.largest_to, &low, &high, &thin))
        return;
    for (int y = low; y <= high; y++)
        for (int c = first; c <= last; c++) {
            int row = r->address.cells - 1 - y;
            if (raster_at(r, row, c)->state != CELL_FREE || row % factor) continue;
            if (factor == 2 && row + 1 < r->address.cells && raster_at(r, row + 1, c)->state != CELL_FREE)
                continue;
            put(on->cells, p->map.row + row / factor, p->map.column + c, ':', INK_ON(HOLE, HOLE));
        }
}

static void draw_cursor(const struct scene *on, const struct parts *p, const struct raster *r)
{
    int first, last, low, high;
    bool thin;
    if (!scale_cells(&r->time, on->session->selection.tick, on->session->selection.tick + 1, &first, &last,
                     &thin) ||
        !scale_cells(&r->address, on->session->selection.address, on->session->selection.address + 1, &low,
                     &high, &thin))
        return;
    int row = (r->address.cells - 1 - low) / map_rows(on, 1), column = (first + last) / 2;
    put_paper(on->cells, (struct box){p->map.row + row, p->map.column + column, 1, 1},
              (struct style){TONE_CURSOR, TONE_CURSOR, 0});
    on->cells->cursor_row = p->map.row + row;
    on->cells->cursor_column = p->map.column + column;
}

static void draw(const struct scene *on, void *state, struct box area)
{
    struct map_window *w = state;
    struct session *s = on->session;
    const struct lx_plan *plan = session_plan(s);
    struct raster r;
    map_window_fit(w, s);
    struct parts p = lay_out(on, area);
    w->map = p.map;
    w->factor = map_rows(on, 1);
    if (p.map.rows < LEAST_MAP || p.map.columns < 8 || s->shown.time.last <= s->shown.time.first) {
        if (p.map.rows < LEAST_MAP || p.map.columns < 8)
            put_wrapped(on->cells, area, INK(PLAIN), "The window is too small for the map.");
        else
            put_wrapped_format(
                on->cells, area, INK(PLAIN),
                "No buffer of this plan may be on chip. %s shows the graph and where its traffic goes.",
                KEY_OF(GRAPH));
        return;
    }
    struct raster_view view = {w->from_tick,         w->to_tick,    w->from_address,
                               w->to_address,        p.map.columns, map_rows(on, p.map.rows),
                               s->selection.by_edges};
    if (!raster_make(plan, &view, &r)) return;
    struct map_paint paint = {&s->shown, &r, s->selection.buffer, NULL, on->filter};
    map_paint(on, p.map, &paint);
    draw_largest_hole(on, &p, &r);
    draw_addresses(on, &p, &r);
    draw_ruler(on, &p, &r);
    draw_curve(on, &p, &r);
    draw_lanes(on, &p, &r);
    draw_cursor(on, &p, &r);
    raster_free(&r);
    if (p.panel.columns > 0)
        map_panel_draw(on, p.panel);
    else {
        bool on_hole =
            lx_buffer_at(plan, s->selection.tick, s->selection.address) < 0 && s->selection.pointed;
        int used = on_hole ? map_panel_hole(on, p.details) : 0;
        struct box rest = {p.details.row + used, p.details.column, p.details.rows - used, p.details.columns};
        details_draw(on, rest, s->selection.buffer);
    }
}

/* What helps a buffer that is off chip; else into the op that makes it. */
static bool request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct map_window *w = state;
    if (r == REQ_ESCAPE) w->playing = false;
    if (r != REQ_OPEN) return map_window_request(x, w, r, argument);
    if (argument) return false;
    if (why_open(x)) return true;
    if (x->session.selection.op < 0) return false;
    explorer_show(x, VIEW_GRAPH);
    return true;
}

static bool is_lively(const void *state)
{
    const struct map_window *w = state;
    return w->playing;
}

static void to_svg(const struct session *s, struct text *out)
{
    show_svg(session_plan(s), &(struct picture){0}, out);
}

static int count(struct explorer *x, void *state)
{
    (void)state;
    return session_plan(&x->session)->problem.count;
}

static const char *item(struct explorer *x, void *state, int i)
{
    (void)state;
    return session_plan(&x->session)->problem.buffers[i].name;
}

static int selected(struct explorer *x, void *state)
{
    (void)state;
    return x->session.selection.buffer;
}

static void select_item(struct explorer *x, void *state, int i)
{
    (void)state;
    session_select_buffer(&x->session, i);
    session_show_buffer(&x->session);
}

const struct view view_map = {
    .name = "Map",
    .purpose = "addresses against time: what is on chip where, and when",
    .needs_plan = true,
    .state_size = sizeof(struct map_window),
    .hints = {{REQ_NEXT_ITEM, "next buffer"},
              {REQ_OFF_CHIP, "off chip"},
              {REQ_ZOOM_IN, "zoom"},
              {REQ_EDGES, "scale"},
              {REQ_PLAY, "play"},
              {REQ_NEXT_SOLVER, "solver"},
              {REQ_WHAT_IF, "what if"},
              {REQ_SAVE, "save"},
              {REQ_BACK, "back"}},
    .draw = draw,
    .request = request,
    .mouse = map_window_mouse,
    .to_svg = to_svg,
    .is_lively = is_lively,
    .tick = map_window_play,
    .count = count,
    .item = item,
    .selected = selected,
    .select = select_item,
};
