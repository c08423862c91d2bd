/* From numbers to cells and back. By events, the place of a number is the number of the last event before
 * it plus the share of the way to the next one. */
#include "picture/scale.h"

/* A number, or its place among the events. */
static double scale_unit_of(const struct cell_scale *s, int64_t v)
{
    int32_t i, last = s->events - 1;
    if (!s->event) return (double)v;
    if (v <= s->event[0]) return 0;
    if (v >= s->event[last]) return last;
    BISECT(i, 1, last, s->event[i] <= v);
    return i - 1 + (double)(v - s->event[i - 1]) / (double)(s->event[i] - s->event[i - 1]);
}

static int64_t scale_of_unit(const struct cell_scale *s, double u)
{
    if (!s->event) return (int64_t)floor(u + 0.5);
    if (u <= 0) return s->event[0];
    if (u >= s->events - 1) return s->event[s->events - 1];
    int32_t i = (int32_t)u;
    return s->event[i] + (int64_t)((u - i) * (double)(s->event[i + 1] - s->event[i]) + 0.5);
}

void scale_ready(struct cell_scale *s)
{
    s->begin = scale_unit_of(s, s->from);
    s->each = s->cells / fmax(scale_length(s), 1e-9);
}

double scale_length(const struct cell_scale *s)
{
    return scale_unit_of(s, s->to) - scale_unit_of(s, s->from);
}

double scale_place(const struct cell_scale *s, int64_t v)
{
    if (!s->by_edges) return (scale_unit_of(s, v) - s->begin) * s->each;
    if (v >= s->to) return s->cells;
    int i;
    BISECT(i, 1, s->axis.cells, s->axis.edge[i] <= v);
    int64_t low = s->axis.edge[i - 1], high = s->axis.edge[i];
    return i - 1 + (double)(v - low) / (double)(high - low);
}

/* To the nearest edge of a group. */
void scale_round(const struct cell_scale *s, double a, double b, int *first, int *last, bool *thin)
{
    *thin = false;
    int step = s->step > 1 ? s->step : 1, groups = s->cells / step;
    a /= step, b /= step;
    *first = (int)(a + 0.5);
    *last = (int)(b + 0.5) - 1;
    if (*last < *first) {
        *thin = true;
        *first = *last = (int)((a + b) / 2);
    }
    if (*first >= groups) *first = groups - 1;
    if (*last >= groups) *last = groups - 1;
    *first *= step;
    *last = *last * step + step - 1;
}

bool scale_cells(const struct cell_scale *s, int64_t from, int64_t to, int *first, int *last, bool *thin)
{
    *thin = false;
    if (to <= s->from || from >= s->to || to <= from) return false;
    from = max_i64(from, s->from);
    to = min_i64(to, s->to);
    scale_round(s, scale_place(s, from), scale_place(s, to), first, last, thin);
    return true;
}

int64_t scale_value(const struct cell_scale *s, int cell)
{
    if (s->by_edges) return s->axis.edge[cell < s->axis.cells ? cell : s->axis.cells];
    return scale_of_unit(s, s->begin + cell / s->each);
}

/* A number that takes a group or more owns all groups from its own to the next number's. A group of
 * several numbers stands for all of them. */
void scale_range(const struct cell_scale *s, int cell, int count, int64_t *from, int64_t *to)
{
    int step = s->step > 1 ? s->step : 1;
    double each = s->each / step, begin = s->begin;
    if (s->by_edges || each * step / count < 1 - 1e-9) {
        *from = scale_value(s, cell);
        *to = scale_value(s, cell + count);
        if (!s->event && !s->by_edges) {
            *from = (int64_t)floor(begin + cell / (each * step) + 1e-9);
            *to = (int64_t)ceil(begin + (cell + count) / (each * step) - 1e-9);
        }
    } else {
        double unit = floor((cell / step + 0.5) / each);
        while ((int)((unit + 1) * s->each / step + 0.5) <= cell / step) unit++; /* as scale_round does */
        while (unit > 0 && (int)(unit * s->each / step + 0.5) > cell / step) unit--;
        *from = scale_of_unit(s, begin + unit);
        *to = scale_of_unit(s, begin + unit + 1);
    }
    *from = min_i64(max_i64(*from, s->from), s->to - 1);
    *to = max_i64(min_i64(*to, s->to), *from + 1);
}

void axis_make(struct axis *a, int64_t from, int64_t to, int most_cells, int64_t grain, int64_t *events,
               int event_count)
{
    *a = (struct axis){.edge = mem_alloc(((size_t)most_cells + 1) * sizeof *a->edge)};
    OWNED int64_t *edge = mem_alloc(((size_t)event_count + 2) * sizeof *edge);
    int n = 1;
    edge[0] = from;
    if (event_count) qsort(events, (size_t)event_count, sizeof *events, order_i64);
    for (int i = 0; i < event_count; i++)
        if (events[i] > edge[n - 1] && events[i] < to) edge[n++] = events[i];
    edge[n] = to;
    if (n <= most_cells && (to - from > most_cells || grain > 1)) {
        /* Stretches between events: each gets one cell, then the longest piece is cut finer until no cell
         * is left. */
        int *parts = mem_alloc((size_t)n * sizeof *parts), used = n;
        for (int i = 0; i < n; i++) parts[i] = 1;
        for (; used < most_cells; used++) {
            int longest = -1;
            double most = (double)grain; /* a piece of one grain is not cut */
            for (int i = 0; i < n; i++) {
                double piece = (double)(edge[i + 1] - edge[i]) / parts[i];
                if (piece > most && parts[i] < edge[i + 1] - edge[i]) most = piece, longest = i;
            }
            if (longest < 0) break;
            parts[longest]++;
        }
        for (int i = 0; i < n; i++)
            for (int k = 0; k < parts[i]; k++) {
                int64_t cut = edge[i] + (int64_t)((double)(edge[i + 1] - edge[i]) * k / parts[i]);
                if (k && cut - cut % grain > a->edge[a->cells - 1]) cut -= cut % grain;
                a->edge[a->cells++] = cut;
            }
        a->edge[a->cells] = edge[n];
        a->exact = true;
        mem_free(parts);
    } else {
        /* Equal cells, the last one shorter. */
        int64_t length = round_up_i64(ceil_div_i64(to - from, most_cells), grain);
        if (length > to - from) length = to - from;
        a->cells = (int)ceil_div_i64(to - from, length);
        for (int i = 0; i < a->cells; i++) a->edge[i] = from + i * length;
        a->edge[a->cells] = to;
        a->even = true;
        a->exact = length == 1;
    }
}

void spread_add(const struct spread *s, double from, double to, double weight, double *share, int stride)
{
    double first = fmax((from - s->from) / s->cell, 0), last = fmin((to - s->from) / s->cell, s->cells);
    for (int c = (int)first; c < last; c++)
        share[c * stride] += weight * (fmin(last, c + 1) - fmax(first, c));
}
