/* Moves and scales the window of the map. A window never leaves the map; zooming keeps the cursor in its
 * cell. */
#include "tui/map/map_window.h"
#include "tui/map/paint_map.h"

static void map_window_show_all(struct map_window *w, const struct outcome *o)
{
    w->from_tick = o->time.first;
    w->to_tick = max_i64(o->time.last, o->time.first + 1);
    w->from_address = 0;
    w->to_address = o->index.bands.top;
}

/* Shifts [from, to) into [least, most); cuts it where it is longer. */
static void map_window_into(int64_t *from, int64_t *to, int64_t least, int64_t most)
{
    int64_t length = min_i64(max_i64(*to - *from, 1), max_i64(most - least, 1));
    *from = min_i64(max_i64(*from, least), max_i64(most - length, least));
    *to = *from + length;
}

/* Moves [from, to) as little as possible so that `at` is in it; or so that it is in the middle. */
static void map_window_bring_in(int64_t *from, int64_t *to, int64_t at, bool centre)
{
    int64_t length = *to - *from;
    if (centre) *from = at - length / 2;
    if (at < *from) *from = at;
    if (at >= *from + length) *from = at - length + 1;
    *to = *from + length;
}

bool map_window_by_events(const struct map_window *w, const struct session *s)
{
    return w->scale == TIME_AS_IT_SUITS ? s->shown.index.sparse : w->scale == TIME_BY_EVENTS;
}

/* Time in the unit of the window: ticks, or numbers of events. */
static int64_t map_window_unit_of(const struct map_window *w, const struct session *s, int64_t tick)
{
    return map_window_by_events(w, s) ? plan_index_event(&s->shown.index, tick) : tick;
}

static int64_t map_window_tick_of(const struct map_window *w, const struct session *s, int64_t unit)
{
    const struct plan_index *x = &s->shown.index;
    return map_window_by_events(w, s) ? x->event[min_i64(max_i64(unit, 0), x->event_count - 1)] : unit;
}

static void map_window_set_time(struct map_window *w, const struct session *s, int64_t from, int64_t to)
{
    int64_t least = map_window_by_events(w, s) ? 0 : s->shown.time.first;
    map_window_into(&from, &to, least,
                    map_window_by_events(w, s) ? s->shown.index.event_count - 1
                                               : max_i64(s->shown.time.last, s->shown.time.first + 1));
    w->from_tick = map_window_tick_of(w, s, from);
    w->to_tick = max_i64(map_window_tick_of(w, s, to), w->from_tick + 1);
}

bool map_window_on_hole(const struct session *s)
{
    const struct selection *at = &s->selection;
    return at->pointed && plan_index_at(&s->shown.index, at->tick, at->address) < 0;
}

void map_window_fit(struct map_window *w, struct session *s)
{
    if (w->of != s->got || w->to_tick == 0) {
        /* Another plan: a window that showed everything continues to. */
        const struct outcome *o = &s->shown;
        bool same_pattern = w->pattern == s->shown_pattern && w->to_tick > 0;
        if (!same_pattern || w->shows_all) map_window_show_all(w, o);
        w->of = s->got;
        w->pattern = s->shown_pattern;
        w->shows_all = w->from_tick <= o->time.first && w->to_tick >= o->time.last && w->from_address == 0;
        if (!same_pattern || !map_window_on_hole(s)) w->buffer = -1;
    }
    if (w->buffer !=
        s->selection.buffer) { /* selected elsewhere: the cursor goes there, unless it is on it */
        const struct selection *at = &s->selection;
        const struct lx_plan *p = s->shown.plan;
        bool placed = at->buffer >= 0 && at->buffer < p->problem.count && p->answer.address[at->buffer] >= 0;
        const struct lx_buffer *b = placed ? &p->problem.buffers[at->buffer] : NULL;
        int64_t place = placed ? plan_index_place(&s->shown.index, at->buffer) : 0;
        w->buffer = at->buffer;
        if (!placed || at->address < place || at->address >= place + b->size || !lx_is_alive(b, at->tick))
            session_show_buffer(s);
    }
    if (w->followed != s->selection.moves) {
        /* The window follows the cursor; a buffer that was selected elsewhere comes into the middle. */
        const struct selection *at = &s->selection;
        int64_t from = map_window_unit_of(w, s, w->from_tick), to = map_window_unit_of(w, s, w->to_tick);
        w->followed = at->moves;
        map_window_bring_in(&from, &to, map_window_unit_of(w, s, at->tick), !at->pointed);
        bool all = w->to_address - w->from_address >= s->shown.index.bands.top;
        map_window_bring_in(&w->from_address, &w->to_address, at->address, !at->pointed && !all);
        map_window_set_time(w, s, from, to);
    }
    map_window_set_time(w, s, map_window_unit_of(w, s, w->from_tick), map_window_unit_of(w, s, w->to_tick));
    map_window_into(&w->from_address, &w->to_address, 0, s->shown.index.bands.limit);
    session_keep_cursor(s);
}

struct raster_view map_window_view(const struct map_window *w, const struct scene *on, struct box map)
{
    return (struct raster_view){.from_tick = w->from_tick,
                                .to_tick = w->to_tick,
                                .from_address = w->from_address,
                                .to_address = w->to_address,
                                .columns = map.columns,
                                .rows = map_rows(on, map.rows),
                                .by_edges = on->session->selection.by_edges,
                                .by_events = map_window_by_events(w, on->session),
                                .across = map_across(on),
                                .down = map_rows(on, 1)};
}

void map_window_forget(void *state)
{
    struct map_window *w = state;
    if (w->has_raster) raster_free(&w->raster);
    heat_free(&w->heats);
    w->has_raster = false;
}

const struct raster *map_window_raster(struct map_window *w, const struct session *s)
{
    const struct raster_view *a = &w->view, *b = &w->raster_view;
    bool same = a->from_tick == b->from_tick && a->to_tick == b->to_tick &&
                a->from_address == b->from_address && a->to_address == b->to_address &&
                a->columns == b->columns && a->rows == b->rows && a->by_edges == b->by_edges &&
                a->by_events == b->by_events && a->across == b->across && a->down == b->down;
    if (w->heats_of != w->heat) heat_free(&w->heats);
    w->heats_of = w->heat;
    if (w->has_raster && w->raster_of == s->got && same) return &w->raster;
    map_window_forget(w);
    raster_make(&s->shown.index, &w->view, &w->raster);
    w->has_raster = true;
    w->raster_of = s->got;
    w->raster_view = w->view;
    return &w->raster;
}

/* Steps over headings of pools. */
static int64_t map_window_beside_heading(const struct session *s, int64_t place, int bytes)
{
    const struct bands *all = &s->shown.index.bands;
    for (int32_t k = 0; all->count > 1 && k < all->count; k++) {
        int64_t end = all->at[k].base + all->at[k].height, above = end + HEADING;
        if (place >= end && place < above) return bytes > 0 && above < all->limit ? above : end - 1;
    }
    return place;
}

static void map_window_move(struct explorer *x, struct map_window *w, int columns, int rows)
{
    struct session *s = &x->session;
    const struct selection *at = &s->selection;
    int64_t from = map_window_unit_of(w, s, w->from_tick), to = map_window_unit_of(w, s, w->to_tick),
            unit = max_i64((to - from) / max_i64(w->map.columns, 1), 1),
            bytes = max_i64((w->to_address - w->from_address) / max_i64(w->map.rows, 1), 1),
            tick = columns ? map_window_tick_of(w, s, map_window_unit_of(w, s, at->tick) + columns * unit)
                           : at->tick;
    session_point(s, tick, map_window_beside_heading(s, at->address + rows * bytes, rows));
}

static void map_window_pan(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    const struct session *s = &x->session;
    int64_t from = map_window_unit_of(w, s, w->from_tick), to = map_window_unit_of(w, s, w->to_tick),
            dt = max_i64((to - from) / 4, 1) * ticks,
            da = max_i64((w->to_address - w->from_address) / 4, 1) * bytes;
    map_window_set_time(w, s, from + dt, to + dt);
    w->from_address += da;
    w->to_address += da;
}

/* Zooms; the cursor keeps its cell. */
static void map_window_scale(int64_t *from, int64_t *to, int64_t centre, double factor, int64_t least)
{
    double length = (double)(*to - *from) * factor;
    if (length < (double)least) length = (double)least;
    if (length > (double)LX_INT_MAX) length = (double)LX_INT_MAX;
    double share = (double)(centre - *from) / (double)max_i64(*to - *from, 1);
    *from = centre - (int64_t)(share * length);
    *to = *from + (int64_t)length;
}

static void map_window_zoom(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    const struct session *s = &x->session;
    const struct selection *at = &s->selection;
    int64_t from = map_window_unit_of(w, s, w->from_tick), to = map_window_unit_of(w, s, w->to_tick);
    if (ticks) map_window_scale(&from, &to, map_window_unit_of(w, s, at->tick), ticks > 0 ? 0.5 : 2, 2);
    map_window_set_time(w, s, from, to);
    if (bytes) map_window_scale(&w->from_address, &w->to_address, at->address, bytes > 0 ? 0.5 : 2, 256);
}

/* Requests that move, pan or zoom, by so much in time and in addresses. */
static const struct {
    void (*step)(struct explorer *x, struct map_window *w, int ticks, int bytes);
    int ticks, bytes;
} steps[REQ_COUNT] = {
    [REQ_LEFT] = {map_window_move, -1, 0},        [REQ_RIGHT] = {map_window_move, 1, 0},
    [REQ_UP] = {map_window_move, 0, 1},           [REQ_DOWN] = {map_window_move, 0, -1},
    [REQ_PAN_LEFT] = {map_window_pan, -1, 0},     [REQ_PAN_RIGHT] = {map_window_pan, 1, 0},
    [REQ_PAN_UP] = {map_window_pan, 0, 1},        [REQ_PAN_DOWN] = {map_window_pan, 0, -1},
    [REQ_ZOOM_IN] = {map_window_zoom, 1, 1},      [REQ_ZOOM_OUT] = {map_window_zoom, -1, -1},
    [REQ_ZOOM_TIME_IN] = {map_window_zoom, 1, 0}, [REQ_ZOOM_TIME_OUT] = {map_window_zoom, -1, 0},
};

/* False: the request is not the map's. */
static bool map_window_do(struct explorer *x, struct map_window *w, enum request r)
{
    struct session *s = &x->session;
    const struct lx_plan *p = session_plan(s);
    const struct lx_buffer *b;
    int32_t buffer = s->selection.buffer;
    int half = (int)max_i64(w->map.rows / 2, 1);
    switch (r) {
    case REQ_PAGE_UP:
    case REQ_PAGE_DOWN: map_window_move(x, w, 0, r == REQ_PAGE_UP ? half : -half); break;
    case REQ_TOP:
    case REQ_BOTTOM:
        session_point(s, r == REQ_TOP ? s->shown.time.first : s->shown.time.last - 1, s->selection.address);
        break;
    case REQ_ON_CHIP_BIGGEST: session_point(s, s->shown.time.peak_tick, s->selection.address); break;
    case REQ_NEXT_ITEM:
    case REQ_PREVIOUS_ITEM:
        for (int32_t k = 0, n = p->problem.count; k < n; k++) { /* the filter hides some */
            buffer = (buffer + (r == REQ_NEXT_ITEM ? 1 : n - 1) + n) % n;
            if (has_text(p->problem.buffers[buffer].name, x->filter[VIEW_MAP])) break;
        }
        view_select(x, VIEW_MAP, buffer);
        break;
    case REQ_ZOOM_ALL: map_window_show_all(w, &s->shown); break;
    case REQ_ZOOM_SELECTION:
        if (buffer < 0) break;
        b = &p->problem.buffers[buffer];
        map_window_set_time(w, s, map_window_unit_of(w, s, b->start) - 1,
                            map_window_unit_of(w, s, b->end) + 1);
        if (p->answer.address[buffer] < 0) break;
        w->from_address = plan_index_place(&s->shown.index, buffer) - b->size / 8;
        w->to_address = w->from_address + b->size / 8 + b->size + b->size / 8;
        break;
    case REQ_EDGES: s->selection.by_edges = !s->selection.by_edges; break;
    case REQ_EVENTS:
        w->scale = map_window_by_events(w, s) ? TIME_LINEAR : TIME_BY_EVENTS;
        explorer_say(x, TONE_PLAIN, "%s",
                     w->scale == TIME_LINEAR ? "time to scale"
                                             : "one column per event: time is not to scale");
        break;
    case REQ_DENSE:
        w->heat = (w->heat + 1) % HEAT_COUNT;
        explorer_say(x, TONE_PLAIN, "%s by %s: %s",
                     heat_is_lens[w->heat] ? "all cells" : "cells of several buffers", heat_names[w->heat],
                     heat_helps[w->heat]);
        break;
    case REQ_PLAY: x->playing = !x->playing; break;
    default:
        if (steps[r].step) steps[r].step(x, w, steps[r].ticks, steps[r].bytes);
        return steps[r].step;
    }
    return true;
}

bool map_window_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct map_window *w = state;
    const struct outcome *o = &x->session.shown;
    (void)argument;
    map_window_fit(w, &x->session);
    if (!map_window_do(x, w, r)) return false;
    map_window_fit(w, &x->session);
    w->shows_all = w->from_tick <= o->time.first && w->to_tick >= o->time.last && w->from_address <= 0 &&
                   w->to_address >= o->index.bands.top;
    return true;
}

void map_window_play(struct explorer *x, void *state)
{
    struct map_window *w = state;
    if (x->session.selection.tick + 1 >= x->session.shown.time.last) x->playing = false;
    map_window_request(x, w, REQ_RIGHT, NULL);
}

void map_window_mouse(struct explorer *x, void *state, const struct key *k)
{
    struct map_window *w = state;
    struct session *s = &x->session;
    if (!box_holds(&w->map, k->row, k->column)) return;
    map_window_fit(w, s);
    /* The tick of the column, and the address in the middle of the row. */
    const struct raster *r = map_window_raster(w, s);
    int64_t from, to, low, high;
    int down = w->view.down, cell = (int)max_i64(r->address.cells - ((k->row - w->map.row) + 1) * down, 0);
    raster_ticks(r, k->column - w->map.column, &from, &to);
    scale_range(&r->address, cell, down, &low, &high);
    session_point(s, from, map_window_beside_heading(s, (low + high) / 2, -1));
    map_window_fit(w, s);
    if (k->code != AT_CLICK)
        map_window_request(x, w, k->code == AT_WHEEL_UP ? REQ_ZOOM_IN : REQ_ZOOM_OUT, NULL);
}
