/* The map: scratchpad addresses against time, with a cursor; below it the occupancy and the buffers off
 * chip. */
#include "tui/map/ghost.h"
#include "tui/map/paint_map.h"
#include "tui/map/map_window.h"

enum { PANEL = 38, PANEL_FROM = 110, LEAST_MAP = 3 };

/* The boxes of the parts, from top to bottom; those below the map have the gutter. */
struct parts {
    struct box map, ruler, nests, runs, minimap, curve, prices, lanes, details, panel;
};

static bool map_view_is_compulsory(const struct session *s, int32_t buffer)
{
    const struct outcome *o = &s->shown;
    return o->moved && buffer != s->selection.buffer && buffer_is_compulsory(o->plan, buffer, o->moved);
}

/* A lane per buffer that could be on chip and for the selected one; one for all others, which are
 * `*compulsory`. */
static int map_view_lanes_wanted(const struct session *s, int *compulsory)
{
    const struct outcome *o = &s->shown;
    *compulsory = 0;
    for (int32_t k = 0; k < o->off_chip_count; k++) *compulsory += map_view_is_compulsory(s, o->off_chip[k]);
    return o->off_chip_count - *compulsory + (*compulsory > 0);
}

static struct parts map_view_lay_out(const struct scene *on, struct box area, bool zoomed)
{
    const struct outcome *o = &on->session->shown;
    struct parts p = {0};
    int compulsory, spilled = map_view_lanes_wanted(on->session, &compulsory);
    bool tall = area.rows >= 16;
    if (area.columns >= PANEL_FROM) {
        p.panel = box_cut_right(&area, PANEL);
        p.panel.column++;
        p.panel.columns--;
    } else
        p.details = box_cut_bottom(&area, area.rows >= 30 ? 5 : tall ? 4 : 2);
    int lanes = spilled == 0 ? 0 : area.rows >= 40 ? 6 : area.rows >= 26 ? 4 : tall ? 2 : area.rows >= 7;
    p.lanes = box_cut_bottom(&area, lanes < spilled ? lanes : spilled);
    double priced = 0;
    for (int32_t i = 0; i < o->price_count && priced <= 0; i++) priced = o->prices[i].per_byte;
    p.prices = box_cut_bottom(&area, area.rows >= 20 && priced > 0);
    p.curve = box_cut_bottom(&area, area.rows >= 30 ? 4 : area.rows >= 12 ? 2 : area.rows >= 5);
    p.minimap = box_cut_bottom(&area, zoomed && area.rows >= 8);
    p.runs = box_cut_bottom(&area, area.rows >= 10 && o->plan->bundle_count > 1);
    p.nests = box_cut_bottom(&area, area.rows >= 8 && o->plan->nest_count > 0);
    p.ruler = box_cut_bottom(&area, area.rows >= 10 ? 2 : area.rows >= 4);
    p.map = (struct box){area.row, area.column + GUTTER, area.rows, area.columns - GUTTER};
    return p;
}

/* The place of the selected buffer's lane; row -1: none. */
struct spot {
    int row, column;
};

/* One life off chip; false: there is no lane for it. */
static bool map_view_draw_lane(const struct scene *on, const struct parts *p, const struct raster *r,
                               struct lanes *lanes, int32_t i, bool here, struct spot *spot)
{
    const struct outcome *o = &on->session->shown;
    const struct lx_buffer *b = &o->plan->problem.buffers[i];
    int first, last;
    char words[500];
    if (!raster_columns(r, b->start, b->end, &first, &last)) return true;
    /* "name 1,024 B", or the reason why it must stay in HBM. */
    char *name = printable(b->name, 40), *reason = printable(b->reason ? o->plan->reason[i] : " B", 80);
    snprintf(words, sizeof words, "%.160s %s%.200s", name, b->reason ? "" : grouped(b->spill_cost).at,
             reason);
    mem_free(name);
    mem_free(reason);
    int room = last - first + 1, width = columns_of(words) + 1;
    if (width > room && first + width <= raster_width(r)) room = width; /* words may run over a short life */
    int lane = lanes_place(lanes, i, first, first + room + 1);
    if (lane < 0) return false;
    struct style style = {here        ? TONE_CURSOR
                          : b->reason ? TONE_DIM
                                      : TONE_BAD,
                          here ? TONE_CURSOR : TONE_PLAIN, 0};
    int row = p->lanes.row + lane, left = p->map.column;
    for (int c = first; c <= last; c++) put(on->cells, row, left + c, on->glyphs->light, style);
    for (int32_t k = 0, from, to; k < lx_life_count(b); k++) {
        struct lx_life life = lx_life_at(b, k);
        if (!raster_columns(r, life.start, life.end, &from, &to)) continue;
        for (int c = from; c <= to; c++) put(on->cells, row, left + c, on->glyphs->horizontal, style);
    }
    put(on->cells, row, left + first, on->glyphs->bullet,
        (struct style){tone_of_identity(buffer_identity(o->plan, i)), style.paper, 0});
    if (room > 2) put_text(on->cells, row, left + first + 1, room - 1, style, words);
    if (here) *spot = (struct spot){row, left + first};
    return true;
}

/* What must cross HBM, in one lane: "14 buffers cross HBM once, 12.6 MiB". */
static void map_view_draw_compulsory(const struct scene *on, const struct parts *p, const struct raster *r,
                                     int lane)
{
    const struct outcome *o = &on->session->shown;
    int32_t count = 0;
    int64_t bytes = 0;
    int row = p->lanes.row + lane, first, last;
    for (int32_t k = 0; k < o->off_chip_count; k++) {
        const struct lx_buffer *b = &o->plan->problem.buffers[o->off_chip[k]];
        if (!map_view_is_compulsory(on->session, o->off_chip[k])) continue;
        count++;
        bytes += o->moved[o->off_chip[k]];
        if (raster_columns(r, b->start, b->end, &first, &last))
            for (int c = first; c <= last; c++)
                put(on->cells, row, p->map.column + c, c == first ? on->glyphs->bullet : on->glyphs->light,
                    INK(DIM));
    }
    put_format(on->cells, row, p->map.column, p->map.columns, INK(DIM), "%s compulsory, %s",
               counted(count, "buffer").at, in_short_bytes(bytes).at);
}

/* Lives of buffers off chip: the selected one, then the most expensive first, each in the first lane with
 * room; what must be there below them. */
static struct spot map_view_draw_lanes(const struct scene *on, const struct parts *p, const struct raster *r)
{
    const struct outcome *o = &on->session->shown;
    int32_t selected = on->session->selection.buffer;
    struct spot spot = {-1, -1};
    struct lanes lanes = {.most = p->lanes.rows < MOST_LANES ? p->lanes.rows : MOST_LANES};
    if (lanes.most == 0) return spot;
    int compulsory, wanted = map_view_lanes_wanted(on->session, &compulsory);
    if (compulsory > 1 && lanes.most > (wanted > 1))
        map_view_draw_compulsory(on, p, r, --lanes.most);
    else
        compulsory = 0;
    put_text(on->cells, p->lanes.row, p->lanes.column, GUTTER - 1, INK(BAD), " off chip");
    for (int k = 0; k < lanes.most; k++)
        put(on->cells, p->lanes.row + k, p->map.column - 1, on->glyphs->vertical, INK(FRAME));
    if (selected >= 0 && o->plan->answer.address[selected] < 0)
        map_view_draw_lane(on, p, r, &lanes, selected, !map_window_on_hole(on->session), &spot);
    for (int32_t k = 0; k < o->off_chip_count && k < 200; k++)
        if (o->off_chip[k] != selected &&
            !(compulsory && map_view_is_compulsory(on->session, o->off_chip[k])))
            map_view_draw_lane(on, p, r, &lanes, o->off_chip[k], false, &spot);
    int32_t more = lanes.left_over + (o->off_chip_count > 200 ? o->off_chip_count - 200 : 0);
    if (more && p->lanes.rows > 1)
        put_format(on->cells, p->lanes.row + 1, p->lanes.column, GUTTER - 1, INK(DIM), " +%d%s", (int)more,
                   more < 100 ? " more" : "");
    return spot;
}

/* Marks the largest free stretch at the cursor's tick, in its pool. */
static void map_view_draw_hole(const struct scene *on, const struct parts *p, const struct raster *r)
{
    const struct selection *at = &on->session->selection;
    struct lx_holes h;
    int first, last, low, high, down = map_rows(on, 1);
    int64_t address;
    int32_t pool = bands_pool(&r->index->bands, at->address, &address);
    bool thin;
    if (pool < 0) return;
    int32_t count, *alive = plan_index_alive(r->index, at->tick, at->tick + 1, false, &count);
    lx_holes_at(r->index->plan, alive, count, pool, at->tick, 0, &h);
    mem_free(alive);
    if (h.largest_to <= h.largest_from) return;
    int64_t base = r->index->bands.at[pool].base;
    if (!raster_tick_columns(r, at->tick, &first, &last) ||
        !scale_cells(&r->address, base + h.largest_from, base + h.largest_to, &low, &high, &thin))
        return;
    for (int row = (r->address.cells - 1 - high) / down; row <= (r->address.cells - 1 - low) / down; row++)
        for (int c = first; c <= last; c++) {
            bool is_free = true;
            for (int k = 0; k < down * r->across; k++) {
                int y = row * down + k / r->across;
                if (y < r->address.cells)
                    is_free &= raster_at(r, y, c * r->across + k % r->across)->state == CELL_FREE;
            }
            if (is_free) put(on->cells, p->map.row + row, p->map.column + c, ':', INK_ON(HOLE, HOLE));
        }
}

static void map_view_draw_parts(const struct scene *on, const struct parts *p, struct map_window *w,
                                const struct raster *r)
{
    const struct session *s = on->session;
    int32_t picked = map_window_on_hole(s) ? -1 : s->selection.buffer;
    struct map_paint paint = {&s->shown, r, picked, s->moved, on->filter, w->heat, s->selection.iteration,
                              &w->heats};
    map_paint(on, p->map, &paint);
    struct ghost ghost;
    if (picked >= 0 && ghost_find(&s->shown.index, picked, &ghost))
        ghost_draw(on, p->map, r, picked, &ghost);
    else if (!heat_is_lens[w->heat])
        map_view_draw_hole(on, p, r);
    int down = map_rows(on, 1), every = p->map.rows > 24 ? 3 : p->map.rows > 8 ? 2 : 1;
    if (r->address.by_edges) every = 1;
    for (int row = 0; row * down < r->address.cells; row++) {
        int cell = r->address.cells - (row + 1) * down;
        int64_t low = scale_value(&r->address, cell < 0 ? 0 : cell);
        int64_t high = scale_value(&r->address, cell + down);
        bool here = on->session->selection.address >= low && on->session->selection.address < high;
        int64_t address = low; /* in its pool; a heading has none */
        if ((row % every == 0 || here) && bands_pool(&r->index->bands, low, &address) >= 0)
            put_right(on->cells, p->map.row + row, p->map.column - GUTTER, GUTTER - 1,
                      here ? INK(TITLE) : INK(DIM), address_words(on, address).at);
        put(on->cells, p->map.row + row, p->map.column - 1, here ? on->glyphs->mark : on->glyphs->vertical,
            here ? INK(KEY) : INK(FRAME));
    }
    axis_draw_ruler(on, p->ruler, r);
    axis_draw_nests(on, p->nests, r);
    axis_draw_bundles(on, p->runs, r);
    axis_draw_minimap(on, p->minimap, w);
    axis_draw_curve(on, p->curve, r);
    axis_draw_prices(on, p->prices, r);
    /* The cursor of a buffer that is off chip is on its lane. */
    struct spot lane = map_view_draw_lanes(on, p, r);
    const struct selection *at = &on->session->selection;
    int first, last, low, high;
    bool thin;
    if (lane.row >= 0) {
        on->cells->cursor_row = lane.row;
        on->cells->cursor_column = lane.column;
        return;
    }
    if (!raster_tick_columns(r, at->tick, &first, &last) ||
        !scale_cells(&r->address, at->address, at->address + 1, &low, &high, &thin))
        return;
    int row = (r->address.cells - 1 - low) / map_rows(on, 1), column = (first + last) / 2;
    put_paper(on->cells, (struct box){p->map.row + row, p->map.column + column, 1, 1},
              (struct style){TONE_CURSOR, TONE_CURSOR, 0});
    on->cells->cursor_row = p->map.row + row;
    on->cells->cursor_column = p->map.column + column;
}

static void map_view_draw(const struct scene *on, void *state, struct box area)
{
    struct map_window *w = state;
    struct session *s = on->session;
    map_window_fit(w, s);
    struct parts p =
        map_view_lay_out(on, area, w->from_tick > s->shown.time.first || w->to_tick < s->shown.time.last);
    w->map = p.map;
    w->view = map_window_view(w, on, p.map);
    if (p.map.rows < LEAST_MAP || p.map.columns < 8)
        put_wrapped(on->cells, area, INK(PLAIN), "The window is too small for the map.");
    else if (s->shown.time.last <= s->shown.time.first)
        put_wrapped_format(
            on->cells, area, INK(PLAIN),
            "No buffer of this plan may be on chip. %s shows the graph and where its traffic goes.",
            KEY_OF(GRAPH));
    else {
        map_view_draw_parts(on, &p, w, map_window_raster(w, s));
        if (p.panel.columns > 0) {
            map_panel_draw(on, p.panel, w);
            return;
        }
        if (map_window_on_hole(s)) box_cut_top(&p.details, map_panel_hole(on, p.details));
        details_draw(on, p.details, s->selection.buffer);
    }
}

/* <Enter>: remedies for a buffer that is off chip; else the op that makes it. */
static bool map_view_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct map_window *w = state;
    struct ghost ghost;
    int32_t buffer = x->session.selection.buffer;
    if (r == REQ_ESCAPE && ghost_forced(&x->session, buffer)) return ghost_forget(&x->session), true;
    if (r == REQ_ESCAPE) x->playing = false;
    if (r == REQ_FORCE) {
        if (session_is_stale(&x->session))
            explorer_say(x, TONE_DIM, "the plan is not ready yet");
        else if (ghost_find(&x->session.shown.index, buffer, &ghost))
            ghost_force(x, buffer);
        else
            explorer_say(x, TONE_DIM, "only a buffer that could be on chip and is not can be forced");
        return true;
    }
    if (r != REQ_OPEN) return map_window_request(x, w, r, argument);
    if (argument) return false;
    if (ghost_take(x, buffer) || why_open(x)) return true;
    if (x->session.selection.op < 0) return false;
    explorer_show(x, VIEW_GRAPH);
    return true;
}

static const char *map_view_hint_word(struct explorer *x, void *state, const struct hint *h)
{
    (void)state;
    return h->request == REQ_PLAY && x->playing ? "pause" : h->word;
}

const struct view view_map = {
    .name = "Map",
    .purpose = "addresses against time: what is on chip where, and when",
    .needs_plan = true,
    .state_size = sizeof(struct map_window),
    .hints = {{REQ_NEXT_ITEM, "next buffer"},
              {REQ_NEXT_ITERATION, "iteration"},
              {REQ_OFF_CHIP, "off chip"},
              {REQ_ZOOM_IN, "zoom"},
              {REQ_EDGES, "rows"},
              {REQ_EVENTS, "time"},
              {REQ_DENSE, "shade"},
              {REQ_PLAY, "play"},
              {REQ_NEXT_SOLVER, "solver"},
              {REQ_WHAT_IF, "what if"},
              {REQ_BACK, "back"}},
    .end = map_window_forget,
    .draw = map_view_draw,
    .request = map_view_request,
    .mouse = map_window_mouse,
    .shows_map = true,
    .hint_word = map_view_hint_word,
    .tick = map_window_play,
    .items = ITEMS_BUFFERS,
};
