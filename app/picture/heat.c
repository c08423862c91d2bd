/* Adds up the lives in each cell of a grid, cells at edges by the share that is covered. */
#include "picture/heat.h"

#define HEAT_NAME(id, name, lens, help) name,
const char *const heat_names[HEAT_COUNT] = {HEATS(HEAT_NAME)};
#undef HEAT_NAME
#define HEAT_LENS(id, name, lens, help) lens,
const bool heat_is_lens[HEAT_COUNT] = {HEATS(HEAT_LENS)};
#undef HEAT_LENS
#define HEAT_HELP(id, name, lens, help) help,
const char *const heat_helps[HEAT_COUNT] = {HEATS(HEAT_HELP)};
#undef HEAT_HELP

const char heat_ramp[] = " .:-=+*#%@";

char heat_letter(double share)
{
    enum { LEAST = 2 };
    int last = (int)strlen(heat_ramp) - 1, step = (int)(share * last + 0.5);
    return heat_ramp[step < LEAST ? LEAST : step > last ? last : step];
}

/* Sums of a cell. */
struct sums {
    double covered, weighed, pieces; /* weighed: by the kind of heat */
};

/* The part of [from, to) in a cell. */
static inline double heat_part(double from, double to, int cell)
{
    double low = from > cell ? from : cell, high = to < cell + 1 ? to : cell + 1;
    return high > low ? high - low : 0;
}

void heat_make(const struct raster *r, enum heat_kind kind, int across, int down, struct heat *out)
{
    *out = (struct heat){.rows = (r->address.cells + down - 1) / down, .columns = r->time.cells / across};
    size_t cells = (size_t)out->rows * (size_t)out->columns;
    double wide = 1.0 / across, high = 1.0 / down, most = kind == HEAT_OCCUPANCY || kind == HEAT_PADDING;
    OWNED struct sums *at = mem_zeroed(cells + 1, sizeof *at);
    out->at = mem_alloc((cells + 1) * sizeof *out->at);
    for (int32_t i = 0; i < r->rect_count; i++) {
        /* Cell by cell: buffers on chip hardly overlap, so that all together have about as many cells as the
         * grid. */
        const struct raster_rect *l = &r->rects[i];
        const struct placed *life = &r->index->lives[l->life];
        double weight = kind == HEAT_COST      ? life->cost
                        : kind == HEAT_AGE     ? (double)(life->start - r->time.from)
                        : kind == HEAT_PADDING ? plan_padding(r->index->plan, l->buffer)
                                               : 0,
               from = l->from * wide, to = l->to * wide, top = (r->address.cells - (double)l->high) * high,
               bottom = (r->address.cells - (double)l->low) * high;
        int left = l->left / across, right = l->right / across,
            first = (r->address.cells - 1 - l->top) / down, last = (r->address.cells - 1 - l->bottom) / down,
            end_row = bottom < out->rows - 1 ? (int)bottom : out->rows - 1,
            end_column = to < out->columns - 1 ? (int)to : out->columns - 1;
        if (end_row < last) end_row = last;
        if (end_column < right) end_column = right;
        for (int y = top < first ? (int)top : first; y <= end_row; y++) {
            double above = heat_part(top, bottom, y);
            for (int x = from < left ? (int)from : left; x <= end_column; x++) {
                struct sums *s = &at[y * out->columns + x];
                double share = above * heat_part(from, to, x);
                s->covered += share;
                s->weighed += share * weight;
                s->pieces += y >= first && y <= last && x >= left && x <= right;
            }
        }
    }
    for (size_t i = 0; i < cells; i++) {
        const struct sums *c = &at[i];
        double v = kind == HEAT_FRAGMENTATION ? c->pieces : kind == HEAT_OCCUPANCY ? fmin(c->covered, 1) : 0;
        if ((kind == HEAT_COST || kind == HEAT_PADDING) && c->covered >= 1e-12) v = c->weighed / c->covered;
        if (kind == HEAT_AGE && c->covered >= 1e-12) { /* ages are measured in the middle of a column */
            int64_t from, to;
            raster_ticks(r, (int)(i % (size_t)out->columns), &from, &to);
            v = (double)(from - r->time.from) + (double)(to - from) / 2 - c->weighed / c->covered;
        }
        out->at[i] = (float)fmax(v, 0);
        most = fmax(most, v);
    }
    for (size_t i = 0; most > 0 && i < cells; i++) out->at[i] = (float)(out->at[i] / most);
}

void heat_free(struct heat *h)
{
    mem_free(h->at);
    *h = (struct heat){0};
}
