/* Adds up what lives in each cell of a grid, edges by the share that they cover: a rectangle is at most sixteen entries of
 * a table of differences, whatever its size. O(lives in the window + cells). */
#include "picture/heat.h"
#include "base/checked.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
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

/* Of a cell, or a difference: the share that is covered, that share times what is weighed, how many. */
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

/* How much of each cell lies between a and b, as four differences. */
struct slope {
    int at[4];
    double by[4];
};

static struct slope slope_of(double a, double b, int cells)
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

static void heat_add_piece(struct grid *g, int left, int right, int top, int bottom)
{
    int width = g->columns + 1;
    g->at[top * width + left].pieces++;
    g->at[top * width + right + 1].pieces--;
    g->at[(bottom + 1) * width + left].pieces--;
    g->at[(bottom + 1) * width + right + 1].pieces++;
}

/* A rectangle of few cells, as most are where there are many: each by itself. */
static void add_small(struct grid *g, const struct slope *x, const struct slope *y, double weight)
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

static double heat_weight_of(const struct raster *r, int32_t buffer, enum heat_kind kind)
{
    const struct lx_buffer *b = &r->index->plan->problem.buffers[buffer];
    if (kind == HEAT_COST) return (double)b->spill_cost / (double)b->size;
    return kind == HEAT_AGE ? (double)(b->start - r->time.from) : 0;
}

static void heat_add_up(struct grid *g)
{
    int width = g->columns + 1;
    for (int y = 0; y < g->rows; y++)
        for (int x = 0; x < g->columns; x++) {
            struct sums *c = &g->at[y * width + x], none = {0}, left = x ? c[-1] : none,
                        up = y ? c[-width] : none, both = x && y ? c[-width - 1] : none;
            c->covered += left.covered + up.covered - both.covered;
            c->weighed += left.weighed + up.weighed - both.weighed;
            c->pieces += left.pieces + up.pieces - both.pieces;
        }
}

/* Ages are those at the middle of a column. */
static double heat_value_of(const struct raster *r, const struct sums *s, int column, enum heat_kind kind)
{
    if (kind == HEAT_OCCUPANCY) return fmin(fmax(s->covered, 0), 1);
    if (kind == HEAT_FRAGMENTATION) return s->pieces;
    if (s->covered < 1e-12) return 0;
    if (kind == HEAT_COST) return s->weighed / s->covered;
    int64_t from, to;
    raster_ticks(r, column, &from, &to);
    return (double)(from - r->time.from) + (double)(to - from) / 2 - s->weighed / s->covered;
}

static void take_values(const struct raster *r, const struct grid *g, enum heat_kind kind, struct heat *out)
{
    double most = kind == HEAT_OCCUPANCY;
    for (int y = 0; y < g->rows; y++)
        for (int x = 0; x < g->columns; x++) {
            struct sums s = g->at[y * (g->columns + 1) + x];
            s.covered += g->small[y * g->columns + x].covered;
            s.weighed += g->small[y * g->columns + x].weighed;
            double v = fmax(heat_value_of(r, &s, x, kind), 0);
            out->at[y * g->columns + x] = (float)v;
            most = fmax(most, v);
        }
    for (int i = 0; most > 0 && i < g->rows * g->columns; i++) out->at[i] = (float)(out->at[i] / most);
}

bool heat_make(const struct raster *r, enum heat_kind kind, int across, int down, struct heat *out)
{
    struct grid g = {.rows = (r->address.cells + down - 1) / down, .columns = r->time.cells / across};
    g.at = mem_zeroed((size_t)(g.rows + 1) * (size_t)(g.columns + 1), sizeof *g.at);
    g.small = mem_zeroed((size_t)g.rows * (size_t)g.columns, sizeof *g.small);
    *out = (struct heat){g.rows, g.columns, mem_alloc((size_t)g.rows * (size_t)g.columns * sizeof *out->at)};
    bool ok = g.at && g.small && out->at;
    if (ok) {
        for (int32_t i = 0; i < r->rect_count; i++) {
            const struct raster_rect *l = &r->rects[i];
            struct slope x = slope_of((double)l->from / across, (double)l->to / across, g.columns),
                         y = slope_of((r->address.cells - (double)l->high) / down,
                                      (r->address.cells - (double)l->low) / down, g.rows);
            bool small = (x.at[2] - x.at[0] + 1) * (y.at[2] - y.at[0] + 1) <= 6;
            (small ? add_small : heat_add_life)(&g, &x, &y, heat_weight_of(r, l->buffer, kind));
            if (kind == HEAT_FRAGMENTATION)
                heat_add_piece(&g, l->left / across, l->right / across,
                               (r->address.cells - 1 - l->top) / down,
                               (r->address.cells - 1 - l->bottom) / down);
        }
        heat_add_up(&g);
        take_values(r, &g, kind, out);
    } else
        heat_free(out);
    mem_free(g.at);
    mem_free(g.small);
    return ok;
}

void heat_free(struct heat *h)
{
    mem_free(h->at);
    *h = (struct heat){0};
}
