/* Fills the cells of a picture from the lives in its window. Buffers on chip hardly overlap, so that all
 * rectangles together have about as many cells as the picture. */
#include "picture/raster.h"

static double raster_tick_place(const struct cell_scale *s, int64_t tick, int32_t event)
{
    double at = s->event ? scale_place_event(s, event) : scale_place(s, tick);
    return at < 0 ? 0 : at > s->cells ? s->cells : at;
}

static bool raster_find_rect(const struct raster *r, const struct placed *l, struct raster_rect *out)
{
    int left, right, bottom, top;
    bool thin_time, thin_address;
    int64_t low = max_i64(l->place, r->address.from), high = min_i64(l->place + l->size, r->address.to);
    if (l->end <= r->time.from || l->start >= r->time.to || low >= high) return false;
    double from = raster_tick_place(&r->time, l->start, l->from_event),
           to = raster_tick_place(&r->time, l->end, l->to_event), bottom_at = scale_place(&r->address, low),
           top_at = scale_place(&r->address, high);
    scale_round(&r->time, from, to, &left, &right, &thin_time);
    scale_round(&r->address, bottom_at, top_at, &bottom, &top, &thin_address);
    *out = (struct raster_rect){l->buffer,       (int16_t)left, (int16_t)right,
                                (int16_t)bottom, (int16_t)top,  thin_time || thin_address,
                                (float)from,     (float)to,     (float)bottom_at,
                                (float)top_at};
    return true;
}

/* Adds a life to the cells of its rectangle. `lives`: per cell, those so far. */
static void raster_paint(struct raster *r, const struct raster_rect *rect, uint8_t *lives)
{
    const int32_t *took_slot_of = r->index->plan->took_slot_of;
    int32_t b = rect->buffer;
    for (int y = r->address.cells - 1 - rect->top; y < r->address.cells - rect->bottom; y++)
        for (int x = rect->left; x <= rect->right; x++) {
            int at = y * r->time.cells + x;
            struct raster_cell *c = &r->at[at];
            int32_t a = c->owner;
            bool alone = lives[at] == 1;
            if (lives[at] < UINT8_MAX) lives[at]++;
            if (c->state == CELL_FREE)
                *c = (struct raster_cell){b, CELL_ONE};
            else if (c->state == CELL_ONE && a == b)
                continue;
            else if (alone && (took_slot_of[a] == b || took_slot_of[b] == a))
                *c = (struct raster_cell){took_slot_of[a] == b ? a : b, CELL_HANDOVER};
            else if (c->state != CELL_MANY) {
                *c = (struct raster_cell){-1, CELL_MANY};
                r->dense++;
            }
        }
}

/* Edges of lives in the window, in picture addresses. None if more addresses differ than there are rows:
 * then no cuts at edges are made, and sorting is saved. */
static int64_t *raster_find_edges(const struct plan_index *x, const struct raster *r, int rows, int *count)
{
    enum { ROOM = 8192 };
    int64_t set[ROOM]; /* of different addresses; -1: a free place */
    int different = rows < ROOM / 2 ? 0 : INT32_MIN;
    int32_t begin, end;
    plan_index_range(x, r->time.from, r->time.to, &begin, &end);
    int64_t *events = mem_alloc((2 * (size_t)(end - begin) + 1) * sizeof *events);
    for (int32_t i = begin; i < end; i++) {
        const struct placed *l = &x->lives[i];
        if (l->end <= r->time.from) continue;
        if (l->place > r->address.from) events[(*count)++] = l->place;
        if (l->place + l->size > r->address.from) events[(*count)++] = l->place + l->size;
    }
    for (int i = 0; i < ROOM; i++) set[i] = -1;
    for (int i = 0; different >= 0 && different <= rows && i < *count; i++) {
        uint64_t at = (uint64_t)events[i] * UINT64_C(0x9e3779b97f4a7c15) >> 51;
        while (set[at % ROOM] != -1 && set[at % ROOM] != events[i]) at++;
        different += set[at % ROOM] == -1;
        set[at % ROOM] = events[i];
    }
    if (different > rows) *count = 0;
    return events;
}

void raster_fill(const struct plan_index *x, struct raster *out)
{
    size_t rows = (size_t)out->address.cells, columns = (size_t)out->time.cells;
    const struct lx_problem *p = &x->plan->problem;
    int32_t begin, end;
    plan_index_range(x, out->time.from, out->time.to, &begin, &end);
    out->index = x;
    scale_ready(&out->time);
    scale_ready(&out->address);
    out->at = mem_alloc(rows * columns * sizeof *out->at);
    out->rects = mem_alloc(((size_t)(end - begin) + 1) * sizeof *out->rects);
    uint8_t *lives = mem_zeroed(rows * columns + 1, 1);
    for (size_t i = 0; i < rows * columns; i++) out->at[i] = (struct raster_cell){-1, CELL_FREE};
    for (int32_t i = begin; i < end; i++)
        if (raster_find_rect(out, &x->lives[i], &out->rects[out->rect_count]))
            raster_paint(out, &out->rects[out->rect_count++], lives);
    mem_free(lives);
    /* Reserved bytes that no buffer covers. */
    for (int32_t k = 0; k < p->pool_count; k++)
        for (int32_t i = 0; i < p->pools[k].reserved_count; i++) {
            const struct lx_reserved *b = &p->pools[k].reserved[i];
            int64_t base = x->bands.at[k].base;
            int left, right, bottom, top;
            bool thin;
            if (!scale_cells(&out->time, b->start, b->end, &left, &right, &thin) ||
                !scale_cells(&out->address, base + b->from, base + b->to, &bottom, &top, &thin))
                continue;
            for (int y = out->address.cells - 1 - top; y <= out->address.cells - 1 - bottom; y++)
                for (int c = left; c <= right; c++) {
                    struct raster_cell *cell = &out->at[y * out->time.cells + c];
                    if (cell->state == CELL_FREE) cell->state = CELL_RESERVED;
                }
        }
    for (int32_t k = 0; x->bands.count > 1 && k < x->bands.count; k++) {
        int bottom, top;
        bool thin;
        int64_t at = x->bands.at[k].base + x->bands.at[k].height;
        if (!scale_cells(&out->address, at, at + HEADING, &bottom, &top, &thin)) continue;
        for (int y = bottom; y <= top; y++)
            for (int c = 0; c < out->time.cells; c++)
                out->at[(out->address.cells - 1 - y) * out->time.cells + c] =
                    (struct raster_cell){k, CELL_HEADING};
    }
}

void raster_make(const struct plan_index *x, const struct raster_view *view, struct raster *out)
{
    *out = (struct raster){.address = {.from = view->from_address,
                                       .to = max_i64(view->to_address, view->from_address + 1),
                                       .cells = view->rows}};
    /* Columns are groups of cells if every tick (or event) has a column: then nothing begins within a
     * column. */
    out->across = view->across > 1 ? view->across : 1;
    out->time = (struct cell_scale){.from = view->from_tick,
                                    .to = max_i64(view->to_tick, view->from_tick + 1),
                                    .cells = view->columns * out->across};
    if (view->by_events) out->time.event = x->event, out->time.events = x->event_count;
    if (scale_length(&out->time) <= view->columns) out->time.step = out->across;
    if (view->by_edges || x->bands.count > 1) {
        /* Rows that are not in proportion: cut at edges, or shared by several pools. A window too low for
         * all pools is in proportion. */
        struct cell_scale *a = &out->address;
        int n = 0, each = view->down > 1 ? view->down : 1;
        OWNED int64_t *events = view->by_edges ? raster_find_edges(x, out, view->rows, &n) : NULL;
        a->by_edges = true;
        if (x->bands.count > 1)
            a->by_edges =
                bands_axis(&x->bands, a->from, a->to, view->rows, each, 1, n ? events : NULL, n, &a->axis);
        else {
            axis_make(&a->axis, a->from, a->to, view->rows, 1, events, n);
            if (n == 0) a->axis.exact = false;
        }
        if (a->by_edges) a->cells = a->axis.cells;
    }
    raster_fill(x, out);
}

void raster_free(struct raster *r)
{
    mem_free(r->time.axis.edge);
    mem_free(r->address.axis.edge);
    r->time.axis.edge = r->address.axis.edge = NULL;
    mem_free(r->at);
    mem_free(r->rects);
    r->at = NULL;
    r->rects = NULL;
}

bool raster_columns(const struct raster *r, int64_t from, int64_t to, int *first, int *last)
{
    bool thin;
    int across = r->across > 1 ? r->across : 1;
    if (!scale_cells(&r->time, from, to, first, last, &thin)) return false;
    *first /= across;
    *last /= across;
    return true;
}

void raster_ticks(const struct raster *r, int column, int64_t *from, int64_t *to)
{
    int across = r->across > 1 ? r->across : 1;
    scale_range(&r->time, column * across, across, from, to);
}

bool raster_tick_columns(const struct raster *r, int64_t tick, int *first, int *last)
{
    const struct plan_index *x = r->index;
    if (!r->time.event) return raster_columns(r, tick, tick + 1, first, last);
    int32_t i = (int32_t)min_i64(plan_index_event(x, tick), x->event_count - 2);
    return raster_columns(r, x->event[i], x->event[i + 1], first, last);
}
