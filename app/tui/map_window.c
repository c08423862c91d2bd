/* Moves and scales the part of the map that is seen. A window never leaves the map; zooming keeps the
 * cursor's cell where it is. */
#include "tui/map_window.h"
#include "picture/raster.h"
#include "base/checked.h"

static void show_all(struct map_window *w, const struct outcome *o)
{
    w->from_tick = o->time.first;
    w->to_tick = max_i64(o->time.last, o->time.first + 1);
    w->from_address = 0;
    w->to_address = picture_top(o->plan);
}

/* Shifts [from, to) into [least, most); cuts it where it is longer. */
static void into(int64_t *from, int64_t *to, int64_t least, int64_t most)
{
    int64_t length = min_i64(max_i64(*to - *from, 1), max_i64(most - least, 1));
    *from = min_i64(max_i64(*from, least), max_i64(most - length, least));
    *to = *from + length;
}

/* The window to where the cursor is. */
static void follow(struct map_window *w, const struct selection *at)
{
    int64_t ticks = w->to_tick - w->from_tick, bytes = w->to_address - w->from_address;
    w->followed = at->moves;
    if (at->tick < w->from_tick) w->from_tick = at->tick;
    if (at->tick >= w->from_tick + ticks) w->from_tick = at->tick - ticks + 1;
    if (at->address < w->from_address) w->from_address = at->address;
    if (at->address >= w->from_address + bytes) w->from_address = at->address - bytes + 1;
    w->to_tick = w->from_tick + ticks;
    w->to_address = w->from_address + bytes;
}

/* Another plan. A window that showed everything goes on showing everything. */
static void begin_plan(struct map_window *w, struct session *s)
{
    const struct outcome *o = &s->shown;
    bool same_pattern = w->pattern == s->shown_pattern;
    if (!same_pattern || w->to_tick == 0 || w->shows_all) show_all(w, o);
    w->of = s->got;
    w->pattern = s->shown_pattern;
    w->shows_all = w->from_tick <= o->time.first && w->to_tick >= o->time.last && w->from_address == 0;
    if (!same_pattern) session_show_buffer(s);
}

void map_window_fit(struct map_window *w, struct session *s)
{
    const struct outcome *o = &s->shown;
    if (w->of != s->got || w->to_tick == 0) begin_plan(w, s);
    if (w->followed != s->selection.moves) follow(w, &s->selection);
    into(&w->from_tick, &w->to_tick, o->time.first, max_i64(o->time.last, o->time.first + 1));
    into(&w->from_address, &w->to_address, 0, session_highest(s));
    session_keep_cursor(s);
}

/* What a request does with the window: so much in time, so much in addresses. */
typedef void change(struct explorer *x, struct map_window *w, int ticks, int bytes);

/* Bytes of one row, ticks of one column: what a key moves by. */
static int64_t row_bytes(const struct map_window *w)
{
    return max_i64((w->to_address - w->from_address) / max_i64(w->map.rows, 1), 1);
}

static int64_t column_ticks(const struct map_window *w)
{
    return max_i64((w->to_tick - w->from_tick) / max_i64(w->map.columns, 1), 1);
}

static void move(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    const struct selection *at = &x->session.selection;
    session_point(&x->session, at->tick + ticks * column_ticks(w), at->address + bytes * row_bytes(w));
}

static void move_page(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    move(x, w, ticks, bytes * (int)max_i64(w->map.rows / 2, 1));
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

static void pan(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    int64_t dt = max_i64((w->to_tick - w->from_tick) / 4, 1) * ticks,
            da = max_i64((w->to_address - w->from_address) / 4, 1) * bytes;
    (void)x;
    w->from_tick += dt;
    w->to_tick += dt;
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

static void zoom(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    const struct selection *at = &x->session.selection;
    if (ticks) scale_around(&w->from_tick, &w->to_tick, at->tick, ticks > 0 ? 0.5 : 2, 2);
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
    w->from_tick = b->start - 1;
    w->to_tick = b->end + 1;
    if (at >= 0) {
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

static void play(struct explorer *x, struct map_window *w, int ticks, int bytes)
{
    (void)x, (void)ticks, (void)bytes;
    w->playing = !w->playing;
}

static const struct {
    change *change;
    int ticks, bytes;
} changes[REQ_COUNT] = {
    [REQ_LEFT] = {move, -1, 0},
    [REQ_RIGHT] = {move, 1, 0},
    [REQ_UP] = {move, 0, 1},
    [REQ_DOWN] = {move, 0, -1},
    [REQ_PAGE_UP] = {move_page, 0, 1},
    [REQ_PAGE_DOWN] = {move_page, 0, -1},
    [REQ_TOP] = {move_to_end, -1, 0},
    [REQ_BOTTOM] = {move_to_end, 1, 0},
    [REQ_ON_CHIP_BIGGEST] = {move_to_peak, 0, 0},
    [REQ_NEXT_ITEM] = {next_buffer, 1, 0},
    [REQ_PREVIOUS_ITEM] = {next_buffer, -1, 0},
    [REQ_PAN_LEFT] = {pan, -1, 0},
    [REQ_PAN_RIGHT] = {pan, 1, 0},
    [REQ_PAN_UP] = {pan, 0, 1},
    [REQ_PAN_DOWN] = {pan, 0, -1},
    [REQ_ZOOM_IN] = {zoom, 1, 1},
    [REQ_ZOOM_OUT] = {zoom, -1, -1},
    [REQ_ZOOM_TIME_IN] = {zoom, 1, 0},
    [REQ_ZOOM_TIME_OUT] = {zoom, -1, 0},
    [REQ_ZOOM_ALL] = {zoom_to_all, 0, 0},
    [REQ_ZOOM_SELECTION] = {zoom_to_buffer, 0, 0},
    [REQ_EDGES] = {swap_scale, 0, 0},
    [REQ_PLAY] = {play, 0, 0},
};

static void note_extent(struct map_window *w, const struct outcome *o)
{
    w->shows_all = w->from_tick <= o->time.first && w->to_tick >= o->time.last && w->from_address <= 0 &&
                   w->to_address >= picture_top(o->plan);
}

bool map_window_request(struct explorer *x, void *state, enum request r, const char *argument)
{
    struct map_window *w = state;
    (void)argument;
    if (!changes[r].change) return false;
    map_window_fit(w, &x->session);
    changes[r].change(x, w, changes[r].ticks, changes[r].bytes);
    map_window_fit(w, &x->session);
    note_extent(w, &x->session.shown);
    return true;
}

void map_window_play(struct explorer *x, void *state)
{
    struct map_window *w = state;
    if (x->session.selection.tick + 1 >= x->session.shown.time.last) w->playing = false;
    map_window_request(x, w, REQ_RIGHT, NULL);
}

/* The address in the middle of a row of the map, also where rows are not to scale. */
static int64_t address_of_row(const struct map_window *w, const struct session *s, int row)
{
    struct raster r;
    int64_t address = s->selection.address;
    struct raster_view view = {w->from_tick,         w->to_tick, w->from_address,
                               w->to_address,        1,          w->factor * w->map.rows,
                               s->selection.by_edges};
    if (!raster_make(session_plan(s), &view, &r)) return address;
    int cell = r.address.cells - (row + 1) * w->factor;
    if (cell + w->factor > 0)
        address =
            (scale_value(&r.address, cell < 0 ? 0 : cell) + scale_value(&r.address, cell + w->factor)) / 2;
    raster_free(&r);
    return address;
}

void map_window_mouse(struct explorer *x, void *state, const struct key *k)
{
    struct map_window *w = state;
    struct session *s = &x->session;
    if (!box_holds(&w->map, k->row, k->column)) return;
    map_window_fit(w, s);
    int64_t tick = w->from_tick + (w->to_tick - w->from_tick) * (k->column - w->map.column) / w->map.columns;
    session_point(s, tick, address_of_row(w, s, k->row - w->map.row));
    map_window_fit(w, s);
    if (k->code != AT_CLICK)
        map_window_request(x, w, k->code == AT_WHEEL_UP ? REQ_ZOOM_IN : REQ_ZOOM_OUT, NULL);
}
