/* Shares rows out among pools. An axis is O(pools + cells) but for its events. */
#include "picture/bands.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

int32_t bands_pool(const struct bands *b, int64_t place, int64_t *address)
{
    for (int32_t k = 0; k < b->count; k++) {
        *address = place - b->at[k].base;
        if (*address >= 0 && *address < b->at[k].height) return k;
    }
    return -1;
}

int32_t bands_heading(const struct bands *b, int64_t place)
{
    for (int32_t k = 0; b->count > 1 && k < b->count; k++) {
        int64_t above = place - b->at[k].base - b->at[k].height;
        if (above >= 0 && above < HEADING) return k;
    }
    return -1;
}

/* The part of an axis from `low` to `high` in so many cells, of about equal length. */
static void cut_in(struct axis *a, int64_t low, int64_t high, int cells)
{
    if (cells > high - low) cells = (int)(high - low);
    for (int i = 0; i < cells; i++) a->edge[a->cells++] = low + (int64_t)((double)(high - low) * i / cells);
}

/* The same, cut at the events that lie in it; false: it cannot be, or memory is out. */
static bool bands_cut_at(struct axis *a, const struct band *band, int64_t low, int64_t high, int cells,
                         int each, int64_t grain, int64_t *events, int count)
{
    struct axis part;
    int n = 0;
    int64_t *inside = mem_alloc(((size_t)count + 1) * sizeof *inside);
    for (int i = 0; inside && i < count; i++)
        if (events[i] > low && events[i] < high)
            inside[n++] = events[i] - band->base; /* grains are the pool's own */
    bool ok = inside && axis_make(&part, low - band->base, high - band->base, cells, grain, inside, n);
    mem_free(inside);
    if (!ok) return false;
    bool fits = part.exact && part.cells % each == 0;
    for (int i = 0; fits && i < part.cells; i++) a->edge[a->cells++] = band->base + part.edge[i];
    axis_free(&part);
    return fits;
}

/* Bytes of pool k that lie in the window. */
static int64_t bands_seen_of(const struct band *b, int64_t from, int64_t to)
{
    return max_i64(min_i64(to, b->base + b->height) - max_i64(from, b->base), 0);
}

/* Rows of a pool: one, and its share of what is left over; the last of them gets what rounding leaves. */
static int bands_rows_of(const struct bands *b, int32_t pool, int64_t from, int64_t to, int rows)
{
    double all = 0, before = 0;
    int seen = 0;
    for (int32_t k = b->count; k-- > 0;) {
        int64_t bytes = bands_seen_of(&b->at[k], from, to);
        if (!bytes) continue;
        if (k == pool) before = all;
        all += (double)bytes;
        seen++;
    }
    double mine = (double)bands_seen_of(&b->at[pool], from, to), spare = rows - seen;
    return 1 + (int)(spare * (before + mine) / all + 1e-9) - (int)(spare * before / all + 1e-9);
}

static int count_headings(const struct bands *b, int64_t from, int64_t to)
{
    int n = 0;
    for (int32_t k = 0; b->count > 1 && k < b->count; k++) {
        int64_t at = b->at[k].base + b->at[k].height;
        n += from < at + HEADING && at < to;
    }
    return n;
}

bool bands_axis(const struct bands *b, int64_t from, int64_t to, int cells, int each, int64_t grain,
                int64_t *events, int count, struct axis *out)
{
    int rows = cells / each - count_headings(b, from, to), seen = 0;
    for (int32_t k = 0; k < b->count; k++) seen += bands_seen_of(&b->at[k], from, to) > 0;
    *out = (struct axis){.edge = mem_alloc(((size_t)cells + 1) * sizeof *out->edge)};
    if (!out->edge || rows < seen || seen == 0) return axis_free(out), false;
    for (int32_t k = b->count; k-- > 0;) {
        const struct band *band = &b->at[k];
        int64_t low = max_i64(from, band->base), high = min_i64(to, band->base + band->height);
        int mine = low < high ? each * bands_rows_of(b, k, from, to, rows) : 0;
        if (mine && !(events && bands_cut_at(out, band, low, high, mine, each, grain, events, count)))
            cut_in(out, low, high, mine);
        low = max_i64(from, band->base + band->height);
        high = min_i64(to, band->base + band->height + HEADING);
        if (b->count > 1 && low < high) cut_in(out, low, high, each);
    }
    out->edge[out->cells] = to;
    return true;
}
