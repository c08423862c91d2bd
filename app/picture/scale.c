/* From numbers to cells and back. By events a number is its place among them: the number of the last event before it,
 * and the share of the way to the next one. */
#include "picture/scale.h"
#include "base/checked.h"

#include <math.h>

static double in_events(const struct scale *s, int64_t v)
{
    int32_t low = 0, high = s->events - 1;
    if (v <= s->event[0]) return 0;
    if (v >= s->event[high]) return high;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (s->event[middle] <= v)
            low = middle;
        else
            high = middle;
    }
    return low + (double)(v - s->event[low]) / (double)(s->event[low + 1] - s->event[low]);
}

static double scale_unit_of(const struct scale *s, int64_t v)
{
    return s->event ? in_events(s, v) : (double)v;
}

static int64_t of_unit(const struct scale *s, double u)
{
    if (!s->event) return (int64_t)floor(u + 0.5);
    if (u <= 0) return s->event[0];
    if (u >= s->events - 1) return s->event[s->events - 1];
    int32_t i = (int32_t)u;
    return s->event[i] + (int64_t)((u - i) * (double)(s->event[i + 1] - s->event[i]) + 0.5);
}

static int scale_step_of(const struct scale *s)
{
    return s->step > 1 ? s->step : 1;
}

void scale_ready(struct scale *s)
{
    s->begin = scale_unit_of(s, s->from);
    s->each = s->cells / fmax(scale_length(s), 1e-9);
}

double scale_length(const struct scale *s)
{
    return scale_unit_of(s, s->to) - scale_unit_of(s, s->from);
}

double scale_place(const struct scale *s, int64_t v)
{
    if (!s->by_edges) return (scale_unit_of(s, v) - s->begin) * s->each;
    if (v >= s->to) return s->cells;
    int cell = axis_cell(&s->axis, v);
    int64_t low = s->axis.edge[cell], high = s->axis.edge[cell + 1];
    return cell + (double)(v - low) / (double)(high - low);
}

/* To the nearest edge of a group. */
void scale_round(const struct scale *s, double a, double b, int *first, int *last, bool *thin)
{
    *thin = false;
    int step = scale_step_of(s), groups = s->cells / step;
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

bool scale_cells(const struct scale *s, int64_t from, int64_t to, int *first, int *last, bool *thin)
{
    *thin = false;
    if (to <= s->from || from >= s->to || to <= from) return false;
    from = max_i64(from, s->from);
    to = min_i64(to, s->to);
    scale_round(s, scale_place(s, from), scale_place(s, to), first, last, thin);
    return true;
}

int64_t scale_value(const struct scale *s, int cell)
{
    if (s->by_edges) return s->axis.edge[cell < s->axis.cells ? cell : s->axis.cells];
    return of_unit(s, s->begin + cell / s->each);
}

/* Where the unit that is so many behind the first begins: rounded as scale_round does. */
static int first_group(const struct scale *s, double unit)
{
    return (int)(unit * s->each / scale_step_of(s) + 0.5);
}

/* Where a number takes a group or more, a group belongs to the last number that begins in it or before; where it takes
 * less, to all between its ends. */
void scale_range(const struct scale *s, int cell, int count, int64_t *from, int64_t *to)
{
    int step = scale_step_of(s);
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
        while (first_group(s, unit + 1) <= cell / step) unit++;
        while (unit > 0 && first_group(s, unit) > cell / step) unit--;
        *from = of_unit(s, begin + unit);
        *to = of_unit(s, begin + unit + 1);
    }
    *from = min_i64(max_i64(*from, s->from), s->to - 1);
    *to = max_i64(min_i64(*to, s->to), *from + 1);
}
