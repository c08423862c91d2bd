/* Moves and scales the part of the map that is seen. A window never leaves the map; zooming keeps the
 * cursor's cell where it is. */
#include "tui/map/map_window.h"
#include "tui/map/paint_map.h"
#include "base/checked.h"

static void show_all(struct map_window *w, const struct outcome *o)
{
    w->from_tick = o->time.first;
    w->to_tick = max_i64(o->time.last, o->time.first + 1);
    w->from_address = 0;
    w->to_address = o->index.bands.top;
}

/* Shifts [from, to) into [least, most); cuts it where it is longer. */
static void into(int64_t *from, int64_t *to, int64_t least, int64_t most)
{
    int64_t length = min_i64(max_i64(*to - *from, 1), max_i64(most - least, 1));
    *from = min_i64(max_i64(*from, least), max_i64(most - length, least));
    *to = *from + length;
}

/* [from, to) moved as little as it takes to have `at` in it; or so that it is in the middle. */
static void bring_in(int64_t *from, int64_t *to, int64_t at, bool centre)
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

/* Time as the window counts it: ticks, or numbers of events. */
static int64_t map_window_unit_of(const struct map_window *w, const struct session *s, int64_t tick)
{
    return map_window_by_events(w, s) ? plan_index_event(&s->shown.index, tick) : tick;
}

static int64_t tick_of(const struct map_window *w, const struct session *s, int64_t unit)
{
    const struct plan_index *x = &s->shown.index;
    return map_window_by_events(w, s) ? x->event[min_i64(max_i64(unit, 0), x->event_count - 1)] : unit;
}

static void set_time(struct map_window *w, const struct session *s, int64_t from, int64_t to)
{
    int64_t least = map_window_by_events(w, s) ? 0 : s->shown.time.first;
    into(&from, &to, least,
         map_window_by_events(w, s) ? s->shown.index.event_count - 1
                                    : max_i64(s->shown.time.last, s->shown.time.first + 1));
    w->from_tick = tick_of(w, s, from);
    w->to_tick = max_i64(tick_of(w, s, to), w->from_tick + 1);
}

bool map_window_on_hole(const struct session *s)
{
    const struct selection *at = &s->selection;
    return at->pointed && plan_index_at(&s->shown.index, at->tick, at->address) < 0;
}

/* Is the cursor on the selected buffer, be it one of several there (in a plan that is not legal)? */
static bool is_on_buffer(const struct session *s)
{
    const struct selection *at = &s->selection;
    const struct lx_plan *p = s->shown.plan;
    if (at->buffer < 0 || at->buffer >= p->problem.count || p->answer.address[at->buffer] < 0) return false;
    const struct lx_buffer *b = &p->problem.buffers[at->buffer];
    int64_t place = plan_index_place(&s->shown.index, at->buffer);
    return at->address >= place && at->address < place + b->size && lx_is_alive(b, at->tick);
}

/* Cursor and selection are one: whoever selects a buffer, here or elsewhere, has put the cursor on it. */
static void join_cursor(struct map_window *w, struct session *s)
{
    const struct selection *at = &s->selection;
    bool is_new = w->buffer != at->buffer;
    w->buffer = at->buffer;
    if (is_new && !is_on_buffer(s)) session_show_buffer(s);
}

void map_window_fit(struct map_window *w, struct session *s)
{
    if (w->of != s->got || w->to_tick == 0) {
        /* Another plan. A window that showed everything goes on showing everything. */
        const struct outcome *o = &s->shown;
        bool same_pattern = w->pattern == s->shown_pattern && w->to_tick > 0;
        if (!same_pattern || w->shows_all) show_all(w, o);
        w->of = s->got;
        w->pattern = s->shown_pattern;
        w->shows_all = w->from_tick <= o->time.first && w->to_tick >= o->time.last && w->from_address == 0;
        if (!same_pattern || !map_window_on_hole(s)) w->buffer = -1;
    }
    join_cursor(w, s);
    if (w->followed != s->selection.moves) {
        /* The window to where the cursor is: what was found or selected elsewhere comes into the middle. */
        const struct selection *at = &s->selection;
        int64_t from = map_window_unit_of(w, s, w->from_tick), to = map_window_unit_of(w, s, w->to_tick);
        w->followed = at->moves;
        bring_in(&from, &to, map_window_unit_of(w, s, at->tick), !at->pointed);
        bool all = w->to_address - w->from_address >= s->shown.index.bands.top;
        bring_in(&w->from_address, &w->to_address, at->address, !at->pointed && !all);
        set_time(w, s, from, to);
    }
    set_time(w, s, map_window_unit_of(w, s, w->from_tick), map_window_unit_of(w, s, w->to_tick));
    into(&w->from_address, &w->to_address, 0, session_highest(s));
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

static bool map_window_same_view(const struct raster_view *a, const struct raster_view *b)
{
    return a->from_tick == b->from_tick && a->to_tick == b->to_tick && a->from_address == b->from_address &&
           a->to_address == b->to_address && a->columns == b->columns && a->rows == b->rows &&
           a->by_edges == b->by_edges && a->by_events == b->by_events && a->across == b->across &&
           a->down == b->down;
}

void map_window_forget(struct map_window *w)
{
    if (w->has_raster) raster_free(&w->raster);
    heat_free(&w->heats);
    w->has_raster = false;
}

const struct raster *map_window_raster(struct map_window *w, const struct session *s)
{
    if (w->heats_of != w->heat) heat_free(&w->heats);
    w->heats_of = w->heat;
    if (w->has_raster && w->raster_of == s->got && map_window_same_view(&w->view, &w->raster_view))
        return &w->raster;
    map_window_forget(w);
    w->has_raster = raster_make(&s->shown.index, &w->view, &w->raster);
    w->raster_of = s->got;
    w->raster_view = w->view;
    return w->has_raster ? &w->raster : NULL;
}

/* What a request does with the window: so much in time, so much in addresses. */
typedef void change(struct explorer *x, struct map_window *w, int ticks, int bytes);

/* Headings of pools are stepped over. */
static int64_t beside_heading(const struct session *s, int64_t place, int bytes)
{
    int32_t pool = bands_heading(&s->shown.index.bands, place);
    if (pool < 0) return place;
    const struct band *b = &s->shown.index.bands.at[pool];
    int64_t above = b->base + b->height + HEADING;
    return bytes > 0 && above < s->shown.index.bands.limit ? above : b->base + b->height - 1;
}

static void map_window_move(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    struct session *s = &x->session;
    const struct selection *at = &s->selection;
    int64_t tick = at->tick;
    if (ticks)
        tick = tick_of(w, s,
                       map_window_unit_of(w, s, tick) +
                           ticks * max_i64((map_window_unit_of(w, s, w->to_tick) -
                                            map_window_unit_of(w, s, w->from_tick)) /
                                               max_i64(w->map.columns, 1),
                                           1));
    session_point(
        s, tick,
        beside_heading(
            s, at->address + bytes * max_i64((w->to_address - w->from_address) / max_i64(w->map.rows, 1), 1),
            bytes));
}

static void move_page(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    map_window_move(x, w, ticks, bytes * (int)max_i64(w->map.rows / 2, 1));
}

static void move_to_end(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    const struct lx_occupancy *t = &x->session.shown.time;
    (void)w, (void)bytes;
    session_point(&x->session, ticks < 0 ? t->first : t->last - 1, x->session.selection.address);
}

static void move_to_peak(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    (void)w, (void)ticks, (void)bytes;
    session_point(&x->session, x->session.shown.time.peak_tick, x->session.selection.address);
}

static void map_window_pan(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    const struct session *s = &x->session;
    int64_t from = map_window_unit_of(w, s, w->from_tick), to = map_window_unit_of(w, s, w->to_tick),
            dt = max_i64((to - from) / 4, 1) * ticks,
            da = max_i64((w->to_address - w->from_address) / 4, 1) * bytes;
    set_time(w, s, from + dt, to + dt);
    w->from_address += da;
    w->to_address += da;
}

/* Around the cursor, which stays where it is on the screen. */
static void scale_around(int64_t *from, int64_t *to, int64_t centre, double factor, int64_t least)
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
    if (ticks) scale_around(&from, &to, map_window_unit_of(w, s, at->tick), ticks > 0 ? 0.5 : 2, 2);
    set_time(w, s, from, to);
    if (bytes) scale_around(&w->from_address, &w->to_address, at->address, bytes > 0 ? 0.5 : 2, 256);
}

static void zoom_to_all(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    (void)ticks, (void)bytes;
    show_all(w, &x->session.shown);
}

static void zoom_to_buffer(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    const struct lx_plan *p = session_plan(&x->session);
    int32_t buffer = x->session.selection.buffer;
    (void)ticks, (void)bytes;
    if (buffer < 0) return;
    const struct lx_buffer *b = &p->problem.buffers[buffer];
    int64_t at = p->answer.address[buffer];
    const struct session *s = &x->session;
    set_time(w, s, map_window_unit_of(w, s, b->start) - 1, map_window_unit_of(w, s, b->end) + 1);
    if (at >= 0) {
        at = plan_index_place(&s->shown.index, buffer);
        w->from_address = at - b->size / 8;
        w->to_address = at + b->size + b->size / 8;
    }
}

/* Buffers in the order of their numbers; a filter leaves the others out. */
static void next_buffer(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    const struct lx_plan *p = session_plan(&x->session);
    int32_t n = p->problem.count, i = x->session.selection.buffer;
    (void)w, (void)bytes;
    for (int32_t k = 0; k < n; k++) {
        i = ((i + ticks) % n + n) % n;
        if (has_text(p->problem.buffers[i].name, x->filter[VIEW_MAP])) break;
    }
    session_select_buffer(&x->session, i);
    session_show_buffer(&x->session);
}

static void swap_scale(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    (void)w, (void)ticks, (void)bytes;
    session_swap_scale(&x->session);
}

static void swap_time(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    (void)ticks, (void)bytes;
    w->scale = map_window_by_events(w, &x->session) ? TIME_LINEAR : TIME_BY_EVENTS;
    explorer_say(x, TONE_PLAIN, "%s",
                 w->scale == TIME_LINEAR ? "time to scale" : "one column per event: time is not to scale");
}

static void next_heat(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    (void)ticks, (void)bytes;
    w->heat = (w->heat + 1) % HEAT_COUNT;
    explorer_say(x, TONE_PLAIN, "cells of several buffers are shaded by %s: %s", heat_names[w->heat],
                 heat_helps[w->heat]);
}

static void play(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    (void)x, (void)ticks, (void)bytes;
    w->playing = !w->playing;
}

static const struct {
    change *change;
    int ticks, bytes;
} changes[REQ_COUNT] = {
    [REQ_LEFT] = {map_window_move, -1, 0},
    [REQ_RIGHT] = {map_window_move, 1, 0},
    [REQ_UP] = {map_window_move, 0, 1},
    [REQ_DOWN] = {map_window_move, 0, -1},
    [REQ_PAGE_UP] = {move_page, 0, 1},
    [REQ_PAGE_DOWN] = {move_page, 0, -1},
    [REQ_TOP] = {move_to_end, -1, 0},
    [REQ_BOTTOM] = {move_to_end, 1, 0},
    [REQ_ON_CHIP_BIGGEST] = {move_to_peak, 0, 0},
    [REQ_NEXT_ITEM] = {next_buffer, 1, 0},
    [REQ_PREVIOUS_ITEM] = {next_buffer, -1, 0},
    [REQ_PAN_LEFT] = {map_window_pan, -1, 0},
    [REQ_PAN_RIGHT] = {map_window_pan, 1, 0},
    [REQ_PAN_UP] = {map_window_pan, 0, 1},
    [REQ_PAN_DOWN] = {map_window_pan, 0, -1},
    [REQ_ZOOM_IN] = {map_window_zoom, 1, 1},
    [REQ_ZOOM_OUT] = {map_window_zoom, -1, -1},
    [REQ_ZOOM_TIME_IN] = {map_window_zoom, 1, 0},
    [REQ_ZOOM_TIME_OUT] = {map_window_zoom, -1, 0},
    [REQ_ZOOM_ALL] = {zoom_to_all, 0, 0},
    [REQ_ZOOM_SELECTION] = {zoom_to_buffer, 0, 0},
    [REQ_EDGES] = {swap_scale, 0, 0},
    [REQ_EVENTS] = {swap_time, 0, 0},
    [REQ_DENSE] = {next_heat, 0, 0},
    [REQ_PLAY] = {play, 0, 0},
};

bool map_window_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct map_window *w = state;
    (void)argument;
    if (!changes[r].change) return false;
    map_window_fit(w, &x->session);
    changes[r].change(x, w, changes[r].ticks, changes[r].bytes);
    map_window_fit(w, &x->session);
    w->shows_all = w->from_tick <= x->session.shown.time.first && w->to_tick >= x->session.shown.time.last &&
                   w->from_address <= 0 && w->to_address >= x->session.shown.index.bands.top;
    return true;
}

void map_window_play(struct explorer *x, void *state)
{
    struct map_window *w = state;
    if (x->session.selection.tick + 1 >= x->session.shown.time.last) w->playing = false;
    map_window_request(x, w, REQ_RIGHT, NULL);
}

void map_window_mouse(struct explorer *x, void *state, const struct key *k)
{
    struct map_window *w = state;
    struct session *s = &x->session;
    if (!box_holds(&w->map, k->row, k->column)) return;
    map_window_fit(w, s);
    /* The tick of a column and the address in the middle of a row of the map, whatever their scales. */
    const struct raster *r = map_window_raster(w, s);
    int64_t from, to, low, high;
    if (r) {
        int down = w->view.down,
            cell = (int)max_i64(r->address.cells - ((k->row - w->map.row) + 1) * down, 0);
        raster_ticks(r, k->column - w->map.column, &from, &to);
        scale_range(&r->address, cell, down, &low, &high);
        session_point(s, from, beside_heading(s, (low + high) / 2, -1));
    }
    map_window_fit(w, s);
    if (k->code != AT_CLICK)
        map_window_request(x, w, k->code == AT_WHEEL_UP ? REQ_ZOOM_IN : REQ_ZOOM_OUT, NULL);
}
