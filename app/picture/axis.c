/* Cuts a range into cells: evenly, or at the events where these are few enough. O(events log events + cells *
 * stretches); cells are at most the columns or rows of a terminal. */
#include "picture/axis.h"
#include "base/checked.h"
#include "base/memory.h"

#include <stdlib.h>

static int axis_ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Equal cells, the last one shorter. */
static void cut_evenly(struct axis *a, int64_t from, int64_t to, int most_cells, int64_t grain)
{
    int64_t length = round_up_i64(ceil_div_i64(to - from, most_cells), grain);
    if (length > to - from) length = to - from;
    a->cells = (int)ceil_div_i64(to - from, length);
    for (int i = 0; i < a->cells; i++) a->edge[i] = from + i * length;
    a->edge[a->cells] = to;
    a->even = true;
    a->exact = length == 1;
}

/* Stretches between events: each gets one cell, then the longest piece is cut finer until no cell is left. */
static bool cut_at_events(struct axis *a, const int64_t *edge, int stretches, int most_cells, int64_t grain)
{
    int *parts = mem_alloc((size_t)stretches * sizeof *parts), used = stretches;
    if (!parts) return false;
    for (int i = 0; i < stretches; i++) parts[i] = 1;
    for (; used < most_cells; used++) {
        int longest = -1;
        double most = (double)grain; /* a piece of one grain is not cut */
        for (int i = 0; i < stretches; i++) {
            double piece = (double)(edge[i + 1] - edge[i]) / parts[i];
            if (piece > most && parts[i] < edge[i + 1] - edge[i]) most = piece, longest = i;
        }
        if (longest < 0) break;
        parts[longest]++;
    }
    for (int i = 0; i < stretches; i++)
        for (int k = 0; k < parts[i]; k++) {
            int64_t cut = edge[i] + (int64_t)((double)(edge[i + 1] - edge[i]) * k / parts[i]);
            if (k && cut - cut % grain > a->edge[a->cells - 1]) cut -= cut % grain;
            a->edge[a->cells++] = cut;
        }
    a->edge[a->cells] = edge[stretches];
    a->exact = true;
    mem_free(parts);
    return true;
}

bool axis_make(struct axis *a, int64_t from, int64_t to, int most_cells, int64_t grain, int64_t *events,
               int event_count)
{
    *a = (struct axis){.edge = mem_alloc(((size_t)most_cells + 1) * sizeof *a->edge)};
    int64_t *edge = mem_alloc(((size_t)event_count + 2) * sizeof *edge);
    bool ok = a->edge && edge;
    if (ok && (to - from > most_cells || grain > 1)) {
        int n = 1;
        edge[0] = from;
        if (event_count) qsort(events, (size_t)event_count, sizeof *events, axis_ascending);
        for (int i = 0; i < event_count; i++)
            if (events[i] > edge[n - 1] && events[i] < to) edge[n++] = events[i];
        edge[n] = to;
        if (n <= most_cells)
            ok = cut_at_events(a, edge, n, most_cells, grain);
        else
            cut_evenly(a, from, to, most_cells, grain);
    } else if (ok)
        cut_evenly(a, from, to, most_cells, grain);
    mem_free(edge);
    if (!ok) axis_free(a);
    return ok;
}

int axis_cell(const struct axis *a, int64_t v)
{
    int low = 0, high = a->cells; /* the last edge that is <= v */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (a->edge[middle] <= v)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void axis_free(struct axis *a)
{
    mem_free(a->edge);
    a->edge = NULL;
}
