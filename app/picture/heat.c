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

void heat_make(const struct raster *r, enum heat_kind kind, int across, int down, struct heat *out)
{
    *out = (struct heat){.rows = (r->address.cells + down - 1) / down, .columns = r->time.cells / across};
    size_t cells = (size_t)out->rows * (size_t)out->columns;
    double most = kind == HEAT_OCCUPANCY || kind == HEAT_PADDING;
    OWNED struct sums *at = mem_zeroed(cells + 1, sizeof *at);
    out->at = mem_alloc((cells + 1) * sizeof *out->at);
    for (int32_t i = 0; i < r->rect_count; i++) {
        /* Cell by cell: buffers on chip hardly overlap, so that all together have about as many cells as the
         * grid. */
        const struct raster_rect *l = &r->rects[i];
        const struct lx_buffer *b = &r->index->plan->problem.buffers[l->buffer];
        double weight = kind == HEAT_COST      ? (double)b->spill_cost / (double)b->size
                        : kind == HEAT_AGE     ? (double)(b->start - r->time.from)
                        : kind == HEAT_PADDING ? plan_padding(r->index->plan, l->buffer)
                                               : 0,
               from = (double)l->from / across, to = (double)l->to / across,
               top = (r->address.cells - (double)l->high) / down,
               bottom = (r->address.cells - (double)l->low) / down;
        int left = l->left / across, right = l->right / across,
            first = (r->address.cells - 1 - l->top) / down, last = (r->address.cells - 1 - l->bottom) / down;
        for (int y = (int)fmin(first, top); y <= (int)fmax(last, fmin(bottom, out->rows - 1)); y++)
            for (int x = (int)fmin(left, from); x <= (int)fmax(right, fmin(to, out->columns - 1)); x++) {
                struct sums *s = &at[y * out->columns + x];
                double share =
                    fmax(fmin(bottom, y + 1) - fmax(top, y), 0) * fmax(fmin(to, x + 1) - fmax(from, x), 0);
                s->covered += share;
                s->weighed += share * weight;
                s->pieces += y >= first && y <= last && x >= left && x <= right;
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
