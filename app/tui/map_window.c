#include "tui/map_window.h"
#include "tui/paint_map.h"
#include "base/checked.h"

static void whole(struct explorer *x)
{
    const struct outcome *o = &x->session.shown;
    struct map_window *w = &x->map;
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

static int64_t highest(const struct explorer *x)
{
    const struct lx_plan *p = x->session.shown.plan;
    return max_i64(max_i64(p->problem.objective == LX_HEIGHT ? 0 : p->problem.capacity, p->height_bytes), 1);
}

void map_window_fit(struct explorer *x)
{
    const struct outcome *o = &x->session.shown;
    struct session *s = &x->session;
    struct map_window *w = &x->map;
    if (w->of != s->got || w->to_tick == 0) {
        bool same_pattern = w->pattern == s->shown_pattern;
        if (!same_pattern || w->to_tick == 0) whole(x);
        /* A window that showed everything goes on showing everything. */
        if (same_pattern && w->shows_all) whole(x);
        w->of = s->got;
        w->pattern = s->shown_pattern;
        w->shows_all = w->from_tick <= o->time.first && w->to_tick >= o->time.last && w->from_address == 0;
        if (!same_pattern) map_window_to_buffer(x);
    }
    into(&w->from_tick, &w->to_tick, o->time.first, max_i64(o->time.last, o->time.first + 1));
    into(&w->from_address, &w->to_address, 0, highest(x));
    s->tick = min_i64(max_i64(s->tick, o->time.first), max_i64(o->time.last - 1, o->time.first));
    w->cursor_address = min_i64(max_i64(w->cursor_address, 0), highest(x) - 1);
}

/* The window follows the cursor. */
static void follow(struct explorer *x)
{
    struct map_window *w = &x->map;
    int64_t ticks = w->to_tick - w->from_tick, bytes = w->to_address - w->from_address;
    if (x->session.tick < w->from_tick) w->from_tick = x->session.tick;
    if (x->session.tick >= w->from_tick + ticks) w->from_tick = x->session.tick - ticks + 1;
    if (w->cursor_address < w->from_address) w->from_address = w->cursor_address;
    if (w->cursor_address >= w->from_address + bytes) w->from_address = w->cursor_address - bytes + 1;
    w->to_tick = w->from_tick + ticks;
    w->to_address = w->from_address + bytes;
}

void map_window_to_buffer(struct explorer *x)
{
    struct session *s = &x->session;
    const struct lx_plan *p = session_plan(s);
    struct map_window *w = &x->map;
    w->on_map = false;
    if (!p || s->buffer < 0 || s->buffer >= p->problem.count) return;
    const struct lx_buffer *b = &p->problem.buffers[s->buffer];
    if (s->tick < b->start || s->tick >= b->end) s->tick = b->start;
    if (p->answer.address[s->buffer] >= 0)
        w->cursor_address = p->answer.address[s->buffer] + max_i64(b->size / 2, 0);
    follow(x);
}

static void pick_under_cursor(struct explorer *x)
{
    int32_t b = buffer_at(session_plan(&x->session), x->session.tick, x->map.cursor_address);
    x->map.on_map = true;
    if (b >= 0) session_select_buffer(&x->session, b);
}

/* Bytes of one row, ticks of one column: what a key moves by. */
static int64_t row_bytes(const struct explorer *x)
{
    const struct map_window *w = &x->map;
    return max_i64((w->to_address - w->from_address) / max_i64(w->map.rows, 1), 1);
}

static int64_t column_ticks(const struct explorer *x)
{
    const struct map_window *w = &x->map;
    return max_i64((w->to_tick - w->from_tick) / max_i64(w->map.columns, 1), 1);
}

static void move(struct explorer *x, int64_t ticks, int64_t bytes)
{
    const struct outcome *o = &x->session.shown;
    struct session *s = &x->session;
    s->tick = min_i64(max_i64(s->tick + ticks, o->time.first), max_i64(o->time.last - 1, o->time.first));
    x->map.cursor_address = min_i64(max_i64(x->map.cursor_address + bytes, 0), highest(x) - 1);
    follow(x);
    pick_under_cursor(x);
}

static void pan(struct explorer *x, int ticks, int bytes)
{
    struct map_window *w = &x->map;
    int64_t dt = max_i64((w->to_tick - w->from_tick) / 4, 1) * ticks,
            da = max_i64((w->to_address - w->from_address) / 4, 1) * bytes;
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

static void zoom(struct explorer *x, double time, double address)
{
    struct map_window *w = &x->map;
    if (time != 1) scale_around(&w->from_tick, &w->to_tick, x->session.tick, time, 2);
    if (address != 1) scale_around(&w->from_address, &w->to_address, w->cursor_address, address, 256);
}

static void to_selection(struct explorer *x)
{
    const struct lx_plan *p = session_plan(&x->session);
    struct map_window *w = &x->map;
    if (x->session.buffer < 0) return;
    const struct lx_buffer *b = &p->problem.buffers[x->session.buffer];
    int64_t at = p->answer.address[x->session.buffer];
    w->from_tick = b->start - 1;
    w->to_tick = b->end + 1;
    if (at >= 0) {
        w->from_address = at - b->size / 8;
        w->to_address = at + b->size + b->size / 8;
    }
}

/* Buffers in the order of their numbers; a filter leaves the others out. */
static void step_buffer(struct explorer *x, int direction)
{
    const struct lx_plan *p = session_plan(&x->session);
    int32_t n = p->problem.count, i = x->session.buffer;
    for (int32_t k = 0; k < n; k++) {
        i = ((i + direction) % n + n) % n;
        if (has_text(p->problem.buffers[i].name, x->filter[VIEW_MAP])) break;
    }
    session_select_buffer(&x->session, i);
    map_window_to_buffer(x);
}

static void note_extent(struct explorer *x)
{
    const struct outcome *o = &x->session.shown;
    struct map_window *w = &x->map;
    w->shows_all = w->from_tick <= o->time.first && w->to_tick >= o->time.last && w->from_address <= 0 &&
                   w->to_address >= picture_top(o->plan);
}

bool map_window_request(struct explorer *x, enum request r, const char *argument)
{
    struct map_window *w = &x->map;
    const struct outcome *o = &x->session.shown;
    (void)argument;
    map_window_fit(x);
    switch (r) {
    case REQ_LEFT:
        move(x, -column_ticks(x), 0);
        break;
    case REQ_RIGHT:
        if (w->playing && x->session.tick + 1 >= o->time.last) w->playing = false;
        move(x, column_ticks(x), 0);
        break;
    case REQ_UP:
        move(x, 0, row_bytes(x));
        break;
    case REQ_DOWN:
        move(x, 0, -row_bytes(x));
        break;
    case REQ_PAGE_UP:
        move(x, 0, row_bytes(x) * max_i64(w->map.rows / 2, 1));
        break;
    case REQ_PAGE_DOWN:
        move(x, 0, -row_bytes(x) * max_i64(w->map.rows / 2, 1));
        break;
    case REQ_TOP:
        move(x, o->time.first - x->session.tick, 0);
        break;
    case REQ_BOTTOM:
        move(x, o->time.last - 1 - x->session.tick, 0);
        break;
    case REQ_NEXT_ITEM:
        step_buffer(x, 1);
        break;
    case REQ_PREVIOUS_ITEM:
        step_buffer(x, -1);
        break;
    case REQ_PAN_LEFT:
        pan(x, -1, 0);
        break;
    case REQ_PAN_RIGHT:
        pan(x, 1, 0);
        break;
    case REQ_PAN_UP:
        pan(x, 0, 1);
        break;
    case REQ_PAN_DOWN:
        pan(x, 0, -1);
        break;
    case REQ_ZOOM_IN:
        zoom(x, 0.5, 0.5);
        break;
    case REQ_ZOOM_OUT:
        zoom(x, 2, 2);
        break;
    case REQ_ZOOM_TIME_IN:
        zoom(x, 0.5, 1);
        break;
    case REQ_ZOOM_TIME_OUT:
        zoom(x, 2, 1);
        break;
    case REQ_ZOOM_ALL:
        whole(x);
        break;
    case REQ_ZOOM_SELECTION:
        to_selection(x);
        break;
    case REQ_EDGES:
        w->by_edges = !w->by_edges;
        break;
    case REQ_ON_CHIP_BIGGEST:
        move(x, o->time.peak_tick - x->session.tick, 0);
        break;
    case REQ_PLAY:
        w->playing = !w->playing;
        break;
    case REQ_OPEN: /* into the op that makes it */
        if (argument || x->session.op < 0) return false;
        x->view = VIEW_GRAPH;
        break;
    case REQ_OFF_CHIP:
    case REQ_GOTO:
        return false; /* the explorer selects; the window follows when it is drawn */
    default:
        return false;
    }
    map_window_fit(x);
    note_extent(x);
    return true;
}

/* The address in the middle of a row of the map, also where rows are not to scale. */
static int64_t address_of_row(struct explorer *x, int row)
{
    const struct map_window *w = &x->map;
    struct raster r;
    int64_t address = w->cursor_address;
    int factor = map_rows(x, 1);
    if (!raster_make(session_plan(&x->session), w->from_tick, w->to_tick, w->from_address, w->to_address, 1,
                     map_rows(x, w->map.rows), w->by_edges, &r))
        return address;
    int cell = r.address.cells - (row + 1) * factor;
    if (cell + factor > 0)
        address = (scale_value(&r.address, cell < 0 ? 0 : cell) + scale_value(&r.address, cell + factor)) / 2;
    raster_free(&r);
    return address;
}

void map_window_mouse(struct explorer *x, const struct key *k)
{
    struct map_window *w = &x->map;
    if (!box_holds(&w->map, k->row, k->column)) return;
    map_window_fit(x);
    int64_t tick = w->from_tick + (w->to_tick - w->from_tick) * (k->column - w->map.column) / w->map.columns;
    int64_t address = address_of_row(x, k->row - w->map.row);
    move(x, tick - x->session.tick, address - w->cursor_address);
    if (k->code != AT_CLICK) map_window_request(x, k->code == AT_WHEEL_UP ? REQ_ZOOM_IN : REQ_ZOOM_OUT, NULL);
}
