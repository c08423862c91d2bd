/* Lanes by one sweep over the rails in the order of their beginnings. */
#include "tui/draw/rails.h"
#include "base/memory.h"

#include <stdlib.h>

static int by_beginning(const void *a, const void *b)
{
    const struct rail *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->last != y->last) return x->last > y->last ? -1 : 1;
    return x->thing < y->thing ? -1 : x->thing > y->thing;
}

void rails_make(struct rail *all, int32_t count, int32_t rows, struct rails *out)
{
    int32_t *lane_of = mem_alloc(((size_t)count + 1) * sizeof *lane_of), end[MOST_RAILS], next[MOST_RAILS];
    *out = (struct rails){.rows = rows};
    out->at = mem_alloc(((size_t)count + 1) * sizeof *out->at);
    out->live = mem_zeroed((size_t)rows + 2, sizeof *out->live);
    qsort(all, (size_t)count, sizeof *all, by_beginning);
    for (int k = 0; k < MOST_RAILS; k++) end[k] = -1;
    for (int32_t i = 0; i < count; i++) { /* the leftmost free lane; lane_at counts, one further on */
        int k = 0;
        while (k < MOST_RAILS && end[k] >= all[i].first) k++;
        lane_of[i] = k < MOST_RAILS ? k : -1;
        out->live[all[i].first]++;
        out->live[all[i].last + 1]--;
        if (k == MOST_RAILS) continue;
        end[k] = all[i].last;
        out->lane_at[k + 1]++;
        if (k + 1 > out->lanes) out->lanes = k + 1;
    }
    for (int k = 0; k < MOST_RAILS; k++) {
        out->lane_at[k + 1] += out->lane_at[k];
        next[k] = out->lane_at[k];
    }
    for (int32_t i = 0; i < count; i++)
        if (lane_of[i] >= 0) out->at[next[lane_of[i]]++] = all[i];
    for (int32_t row = 1; row <= out->rows; row++) out->live[row] += out->live[row - 1];
    mem_free(lane_of);
}

void rails_free(struct rails *r)
{
    mem_free(r->at);
    mem_free(r->live);
    *r = (struct rails){0};
}

const struct rail *rails_at(const struct rails *r, int lane, int32_t row)
{
    if (lane < 0 || lane >= r->lanes) return NULL;
    int32_t low = r->lane_at[lane], high = r->lane_at[lane + 1];
    while (low < high) { /* the first that ends at the row or later */
        int32_t middle = low + (high - low) / 2;
        if (r->at[middle].last < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->lane_at[lane + 1] && r->at[low].first <= row ? &r->at[low] : NULL;
}

int32_t rails_folded(const struct rails *r, int lanes, int32_t row)
{
    if (row < 0 || row >= r->rows) return 0;
    int32_t folded = r->live[row];
    for (int k = 0; k < lanes && k < r->lanes; k++) folded -= rails_at(r, k, row) != NULL;
    return folded;
}
