/* Sorts lives and events once, so that a picture of a stretch of time visits only its lives. */
#include "picture/plan_index.h"

/* Time is sparse where a linear axis would show nearly nothing but pauses. */
enum { SPARSE_SHARE = 4, SPARSE_SPAN = 200 };

ORDER(plan_index_by_start, struct placed, ORDER_UP(start) ORDER_UP(buffer));

int64_t plan_index_place(const struct plan_index *x, int32_t buffer)
{
    return x->bands.at[lx_pool_of(x->plan, buffer)].base + x->plan->answer.address[buffer];
}

/* Shows the ticks of all buffers that may be placed. */
void plan_index_make(const struct lx_plan *p, struct plan_index *out)
{
    size_t n = 0;
    *out = (struct plan_index){.plan = p, .first = INT64_MAX, .last = INT64_MIN};
    bands_make(p, &out->bands);
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        n += (size_t)lx_life_count(b);
        if (b->reason && p->answer.address[i] < 0) continue;
        out->first = min_i64(out->first, b->start);
        out->last = max_i64(out->last, b->end);
    }
    if (out->first > out->last) out->first = out->last = 0;
    out->lives = mem_alloc((n + 1) * sizeof *out->lives);
    out->event = mem_alloc((2 * n + 2) * sizeof *out->event);
    for (int32_t i = 0; i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        for (int32_t k = 0; p->answer.address[i] >= 0 && b->size > 0 && k < lx_life_count(b); k++)
            out->lives[out->count++] = (struct placed){.start = lx_life_at(b, k).start,
                                                       .end = lx_life_at(b, k).end,
                                                       .place = plan_index_place(out, i),
                                                       .size = b->size,
                                                       .buffer = i};
    }
    int64_t latest = INT64_MIN;
    if (out->count) qsort(out->lives, (size_t)out->count, sizeof *out->lives, plan_index_by_start);
    for (int32_t i = 0; i < out->count; i++)
        out->lives[i].latest = latest = max_i64(latest, out->lives[i].end);
    int32_t ends = 0, kept = 1;
    out->event[ends++] = out->first;
    for (int32_t i = 0; i < out->count; i++) {
        out->event[ends++] = out->lives[i].start;
        out->event[ends++] = out->lives[i].end;
    }
    out->event[ends++] = max_i64(out->last, out->first + 1);
    qsort(out->event, (size_t)ends, sizeof *out->event, order_i64);
    for (int32_t i = 1; i < ends; i++)
        if (out->event[i] > out->event[kept - 1]) out->event[kept++] = out->event[i];
    out->event_count = kept;
    for (int32_t i = 0; i < out->count; i++) {
        out->lives[i].from_event = plan_index_event(out, out->lives[i].start);
        out->lives[i].to_event = plan_index_event(out, out->lives[i].end);
    }
    int64_t span = out->event[kept - 1] - out->event[0];
    out->sparse = span > SPARSE_SPAN && span / SPARSE_SHARE >= kept - 1;
}

void plan_index_free(struct plan_index *x)
{
    mem_free(x->lives);
    mem_free(x->event);
    bands_free(&x->bands);
    *x = (struct plan_index){0};
}

void plan_index_range(const struct plan_index *x, int64_t from, int64_t to, int32_t *begin, int32_t *end)
{
    int32_t i;
    BISECT(i, 0, x->count, x->lives[i].start < to);
    *end = i;
    BISECT(i, 0, *end, x->lives[i].latest <= from);
    *begin = i;
}

int32_t plan_index_event(const struct plan_index *x, int64_t tick)
{
    int32_t i;
    BISECT(i, 1, x->event_count, x->event[i] <= tick);
    return i - 1;
}

int32_t plan_index_at(const struct plan_index *x, int64_t tick, int64_t place)
{
    int32_t begin, end, found = -1;
    plan_index_range(x, tick, tick + 1, &begin, &end);
    for (int32_t i = begin; i < end; i++) {
        const struct placed *l = &x->lives[i];
        if (tick >= l->end || place < l->place || place >= l->place + l->size) continue;
        if (found < 0 || x->plan->took_slot_of[l->buffer] == found) found = l->buffer;
    }
    return found;
}

int32_t bands_pool(const struct bands *b, int64_t place, int64_t *address)
{
    for (int32_t k = 0; k < b->count; k++) {
        *address = place - b->at[k].base;
        if (*address >= 0 && *address < b->at[k].height) return k;
    }
    return -1;
}

/* The part of an axis from `low` to `high` in at most `cells` cells: cut at the events in it where they
 * are few enough (band NULL: never), else of about equal length. */
static void bands_cut(struct axis *a, const struct band *band, int64_t low, int64_t high, int cells, int each,
                      int64_t grain, const int64_t *events, int count)
{
    struct axis part = {0};
    int n = 0;
    OWNED int64_t *inside = mem_alloc(((size_t)count + 1) * sizeof *inside);
    for (int i = 0; i < count; i++)
        if (events[i] > low && events[i] < high)
            inside[n++] = events[i] - band->base; /* grains are relative to the pool */
    if (events) axis_make(&part, low - band->base, high - band->base, cells, grain, inside, n);
    bool fits = part.exact && part.cells % each == 0;
    for (int i = 0; fits && i < part.cells; i++) a->edge[a->cells++] = band->base + part.edge[i];
    mem_free(part.edge);
    cells = (int)min_i64(cells, high - low);
    for (int i = 0; !fits && i < cells; i++)
        a->edge[a->cells++] = low + (int64_t)((double)(high - low) * i / cells);
}

/* A pool has one row, and its share of the rest; the last pool gets the remainder of rounding. */
bool bands_axis(const struct bands *b, int64_t from, int64_t to, int cells, int each, int64_t grain,
                int64_t *events, int count, struct axis *out)
{
    int rows = cells / each, seen = 0;
    double all = 0, before = 0;
    for (int32_t k = 0; k < b->count; k++) {
        int64_t at = b->at[k].base + b->at[k].height,
                bytes = max_i64(min_i64(to, at) - max_i64(from, b->at[k].base), 0); /* in the window */
        seen += bytes > 0;
        all += (double)bytes;
        rows -= b->count > 1 && from < at + HEADING && at < to;
    }
    if (rows < seen || seen == 0) {
        *out = (struct axis){0};
        return false;
    }
    *out = (struct axis){.edge = mem_alloc(((size_t)cells + 1) * sizeof *out->edge)};
    for (int32_t k = b->count; k-- > 0;) {
        const struct band *band = &b->at[k];
        int64_t low = max_i64(from, band->base), high = min_i64(to, band->base + band->height);
        double mine = (double)max_i64(high - low, 0), spare = rows - seen;
        int share = mine > 0 ? each * (1 + (int)(spare * (before + mine) / all + 1e-9) -
                                       (int)(spare * before / all + 1e-9))
                             : 0;
        before += mine;
        if (share) bands_cut(out, band, low, high, share, each, grain, events, count);
        low = max_i64(from, band->base + band->height);
        high = min_i64(to, band->base + band->height + HEADING);
        if (b->count > 1 && low < high) bands_cut(out, band, low, high, each, each, grain, NULL, 0);
    }
    out->edge[out->cells] = to;
    return true;
}

double plan_padding(const struct lx_plan *p, int32_t buffer)
{
    return p->layouts ? lx_layout_padding(&p->layouts->layouts[p->stays[buffer].tensor]) : 0;
}

double plan_padding_at(const struct lx_plan *p, int64_t tick)
{
    double padding = 0, bytes = 0;
    for (int32_t i = 0; p->layouts && i < p->problem.count; i++) {
        const struct lx_buffer *b = &p->problem.buffers[i];
        int32_t slot = p->took_slot_of[i]; /* which both have on the tick of the handover */
        if (p->answer.address[i] < 0 || !lx_is_alive(b, tick)) continue;
        if (slot >= 0 && lx_is_alive(&p->problem.buffers[slot], tick)) continue;
        bytes += (double)b->size;
        padding += plan_padding(p, i) * (double)b->size;
    }
    return bytes > 0 ? padding / bytes : 0;
}
