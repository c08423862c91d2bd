/* Adds up the lives in each cell of a grid, cells at edges by the share that is covered. A rectangle is at
 * most sixteen entries of a table of differences. O(lives in the window + cells). */
#include "picture/heat.h"
#include "base/checked.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

#define HEAT_NAME(id, name, help) name,
const char *const heat_names[HEAT_COUNT] = {HEATS(HEAT_NAME)};
#undef HEAT_NAME
#define HEAT_HELP(id, name, help) help,
const char *const heat_helps[HEAT_COUNT] = {HEATS(HEAT_HELP)};
#undef HEAT_HELP

const char heat_ramp[] = " .:-=+*#%@";

char heat_letter(double share)
{
    enum { LEAST = 2 };
    int last = (int)strlen(heat_ramp) - 1, step = (int)(share * last + 0.5);
    return heat_ramp[step < LEAST ? LEAST : step > last ? last : step];
}

/* Of a cell, or a difference: the share that is covered, that share times the weight, the number of
 * pieces. */
struct sums {
    double covered, weighed, pieces;
};

struct heap {
    double covered, weighed;
};

struct grid {
    int rows, columns;
    struct sums *at;    /* one more each way */
    struct heap *small; /* of rectangles of few cells, not as differences */
};

/* The shares of cells between a and b, as four differences. */
struct slope {
    int at[4];
    double by[4];
};

static struct slope heat_slope_of(double a, double b, int cells)
{
    a = fmin(fmax(a, 0), cells);
    b = fmin(fmax(b, a), cells);
    int first = (int)fmin(floor(a), cells - 1), last = (int)fmin(floor(b), cells - 1);
    return (struct slope){{first, first + 1, last, last + 1},
                          {first + 1 - a, a - first, -(last + 1 - b), -(b - last)}};
}

static void heat_add_life(struct grid *g, const struct slope *x, const struct slope *y, double weight)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            double share = y->by[i] * x->by[k];
            struct sums *s = &g->at[y->at[i] * (g->columns + 1) + x->at[k]];
            s->covered += share;
            s->weighed += share * weight;
        }
}

/* A rectangle of few cells, as most are in a dense map: cell by cell. */
static void heat_add_small(struct grid *g, const struct slope *x, const struct slope *y, double weight)
{
    double row = 0;
    for (int i = y->at[0]; i <= y->at[2]; i++) {
        for (int k = 0; k < 4; k++) row += y->at[k] == i ? y->by[k] : 0;
        double share = 0;
        for (int c = x->at[0]; c <= x->at[2]; c++) {
            for (int k = 0; k < 4; k++) share += x->at[k] == c ? x->by[k] : 0;
            struct heap *h = &g->small[i * g->columns + c];
            h->covered += row * share;
            h->weighed += row * share * weight;
        }
    }
}

static void heat_add_rect(struct grid *g, const struct raster *r, const struct raster_rect *l,
                          enum heat_kind kind, int across, int down)
{
    const struct lx_buffer *b = &r->index->plan->problem.buffers[l->buffer];
    double weight = kind == HEAT_COST  ? (double)b->spill_cost / (double)b->size
                    : kind == HEAT_AGE ? (double)(b->start - r->time.from)
                                       : 0;
    struct slope x = heat_slope_of((double)l->from / across, (double)l->to / across, g->columns),
                 y = heat_slope_of((r->address.cells - (double)l->high) / down,
                                   (r->address.cells - (double)l->low) / down, g->rows);
    bool small = (x.at[2] - x.at[0] + 1) * (y.at[2] - y.at[0] + 1) <= 6;
    (small ? heat_add_small : heat_add_life)(g, &x, &y, weight);
    if (kind != HEAT_FRAGMENTATION) return;
    int width = g->columns + 1, left = l->left / across, right = l->right / across + 1,
        top = (r->address.cells - 1 - l->top) / down, end = (r->address.cells - 1 - l->bottom) / down + 1;
    g->at[top * width + left].pieces++;
    g->at[top * width + right].pieces--;
    g->at[end * width + left].pieces--;
    g->at[end * width + right].pieces++;
}

void heat_make(const struct raster *r, enum heat_kind kind, int across, int down, struct heat *out)
{
    struct grid g = {.rows = (r->address.cells + down - 1) / down, .columns = r->time.cells / across};
    int width = g.columns + 1;
    double most = kind == HEAT_OCCUPANCY;
    g.at = mem_zeroed((size_t)(g.rows + 1) * (size_t)(g.columns + 1), sizeof *g.at);
    g.small = mem_zeroed((size_t)g.rows * (size_t)g.columns, sizeof *g.small);
    *out = (struct heat){g.rows, g.columns, mem_alloc((size_t)g.rows * (size_t)g.columns * sizeof *out->at)};
    for (int32_t i = 0; i < r->rect_count; i++) heat_add_rect(&g, r, &r->rects[i], kind, across, down);
    for (int y = 0; y < g.rows; y++)
        for (int x = 0; x < g.columns; x++) {
            struct sums *c = &g.at[y * width + x], none = {0}, left = x ? c[-1] : none,
                        up = y ? c[-width] : none, both = x && y ? c[-width - 1] : none;
            const struct heap *small = &g.small[y * g.columns + x];
            c->covered += left.covered + up.covered - both.covered;
            c->weighed += left.weighed + up.weighed - both.weighed;
            c->pieces += left.pieces + up.pieces - both.pieces;
            double covered = c->covered + small->covered, weighed = c->weighed + small->weighed, v = 0;
            int64_t from, to;
            raster_ticks(r, x, &from, &to); /* ages are measured in the middle of a column */
            if (kind == HEAT_OCCUPANCY)
                v = fmin(fmax(covered, 0), 1);
            else if (kind == HEAT_FRAGMENTATION)
                v = c->pieces;
            else if (covered >= 1e-12)
                v = kind == HEAT_COST
                        ? weighed / covered
                        : (double)(from - r->time.from) + (double)(to - from) / 2 - weighed / covered;
            out->at[y * g.columns + x] = (float)fmax(v, 0);
            most = fmax(most, v);
        }
    for (int i = 0; most > 0 && i < g.rows * g.columns; i++) out->at[i] = (float)(out->at[i] / most);
    mem_free(g.at);
    mem_free(g.small);
}

void heat_free(struct heat *h)
{
    mem_free(h->at);
    *h = (struct heat){0};
}
