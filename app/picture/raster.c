/* Fills the cells of a picture from the placed buffers, rectangle by rectangle, and answers what lies at a
 * point. Nothing is sorted by time: a cell that several buffers claim is marked as such, whatever their
 * order. */
#include "picture/raster.h"
#include "base/checked.h"

#include <stdlib.h>

bool scale_cells(const struct scale *s, int64_t from, int64_t to, int *first, int *last, bool *thin)
{
    *thin = false;
    if (to <= s->from || from >= s->to || to <= from) return false;
    from = max_i64(from, s->from);
    to = min_i64(to, s->to);
    if (s->by_edges) {
        *first = axis_cell(&s->axis, from);
        *last = axis_cell(&s->axis, to - 1);
        *thin = !s->axis.exact && *first == *last;
        return true;
    }
    double each = (double)s->cells / (double)(s->to - s->from), a = (double)(from - s->from) * each,
           b = (double)(to - s->from) * each;
    *first = (int)(a + 0.5);
    *last = (int)(b + 0.5) - 1;
    if (*last < *first) {
        *thin = true;
        *first = *last = (int)((a + b) / 2);
    }
    if (*first >= s->cells) *first = s->cells - 1;
    if (*last >= s->cells) *last = s->cells - 1;
    return true;
}

int64_t scale_value(const struct scale *s, int cell)
{
    if (s->by_edges) return s->axis.edge[cell < s->axis.cells ? cell : s->axis.cells];
    return s->from + (int64_t)((double)(s->to - s->from) * cell / s->cells + 0.5);
}

static bool find_rect(const struct raster *r, const struct lx_plan *p, int32_t i, struct raster_rect *out)
{
    const struct lx_buffer *b = &p->problem.buffers[i];
    int64_t at = p->answer.address[i];
    int left, right, bottom, top;
    bool thin_time, thin_address;
    if (at < 0 || b->size == 0) return false;
    if (!scale_cells(&r->time, b->start, b->end, &left, &right, &thin_time) ||
        !scale_cells(&r->address, at, at + b->size, &bottom, &top, &thin_address))
        return false;
    *out = (struct raster_rect){
        i, (int16_t)left, (int16_t)right, (int16_t)bottom, (int16_t)top, thin_time || thin_address};
    return true;
}

static void mark(struct raster *r, const struct lx_plan *p, const struct raster_rect *rect)
{
    int32_t i = rect->buffer;
    for (int y = rect->bottom; y <= rect->top; y++) {
        struct raster_cell *row = &r->at[(r->address.cells - 1 - y) * r->time.cells];
        for (int x = rect->left; x <= rect->right; x++) {
            struct raster_cell *c = &row[x];
            if (c->state == CELL_FREE)
                *c = (struct raster_cell){i, CELL_ONE};
            else if (c->state == CELL_ONE && p->took_slot_of[i] == c->owner)
                *c = (struct raster_cell){i, CELL_HANDOVER};
            else if (c->state == CELL_ONE && p->took_slot_of[c->owner] == i)
                c->state = CELL_HANDOVER;
            else if (c->owner != i)
                c->state = CELL_MANY;
        }
    }
}

/* Are there more different addresses than rows? Then cuts at edges are none, and sorting them all is for
 * nothing. */
static bool too_many(const int64_t *events, int count, int rows)
{
    enum { ROOM = 8192 };
    static const int64_t nothing = -1;
    int64_t set[ROOM];
    int different = 0;
    if (rows >= ROOM / 2) return false;
    for (int i = 0; i < ROOM; i++) set[i] = nothing;
    for (int i = 0; i < count; i++) {
        uint64_t at = (uint64_t)events[i] * UINT64_C(0x9e3779b97f4a7c15) >> 51;
        while (set[at % ROOM] != nothing && set[at % ROOM] != events[i]) at++;
        if (set[at % ROOM] == events[i]) continue;
        set[at % ROOM] = events[i];
        if (++different > rows) return true;
    }
    return false;
}

static bool cut_at_edges(const struct lx_plan *p, struct raster *r, int rows)
{
    struct scale *a = &r->address;
    int64_t *events = calloc(2 * (size_t)p->problem.count + 1, sizeof *events);
    int n = 0;
    if (!events) return false;
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        int64_t at = p->answer.address[i];
        if (at < 0 || b->end <= r->time.from || b->start >= r->time.to) continue;
        if (at > a->from) events[n++] = at;
        if (at + b->size > a->from) events[n++] = at + b->size;
    }
    if (too_many(events, n, rows)) n = 0;
    bool ok = axis_make(&a->axis, a->from, a->to, rows, 1, events, n);
    if (n == 0) a->axis.exact = false;
    free(events);
    a->by_edges = ok;
    if (ok) a->cells = a->axis.cells;
    return ok;
}

bool raster_fill(const struct lx_plan *p, struct raster *out)
{
    out->at = calloc((size_t)out->address.cells * (size_t)out->time.cells, sizeof *out->at);
    out->rects = malloc(((size_t)p->problem.count + 1) * sizeof *out->rects);
    if (!out->at || !out->rects) {
        raster_free(out);
        return false;
    }
    for (int32_t i = 0; i < p->problem.count; i++)
        out->rect_count += find_rect(out, p, i, &out->rects[out->rect_count]);
    for (int thin = 0; thin < 2; thin++) /* thin ones on top, where they are noticed */
        for (int32_t i = 0; i < out->rect_count; i++)
            if (out->rects[i].thin == thin) mark(out, p, &out->rects[i]);
    return true;
}

bool raster_make(const struct lx_plan *p, const struct raster_view *view, struct raster *out)
{
    *out = (struct raster){.time = {.from = view->from_tick,
                                    .to = max_i64(view->to_tick, view->from_tick + 1),
                                    .cells = view->columns},
                           .address = {.from = view->from_address,
                                       .to = max_i64(view->to_address, view->from_address + 1),
                                       .cells = view->rows}};
    return (!view->by_edges || cut_at_edges(p, out, view->rows)) && raster_fill(p, out);
}

void raster_free(struct raster *r)
{
    axis_free(&r->time.axis);
    axis_free(&r->address.axis);
    free(r->at);
    free(r->rects);
    r->at = NULL;
    r->rects = NULL;
}
