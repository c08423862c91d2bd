/* Items that always find a place are left out of the search. A neighbour of height h forbids an item of
 * height s at most h + s - 1 bases, wherever it stands. If all neighbours together forbid fewer bases
 * than the item has, it can wait until the others are placed. Without it others may have the same luck,
 * so it is asked again and again, small ones first. Where sections are overfull nothing is peeled; a list
 * that is tight at few ticks, as those of training steps are, loses a third of its items and more.
 * O(pairs) to find them, O(n) to place each. */
#include "exact/fit/fit_core.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

ORDER(by_height, struct fit_loose, ORDER_UP(height) ORDER_UP(origin));

static bool fit_peel_meet(const struct fit_loose *a, const struct fit_loose *b)
{
    return a->from < b->to && b->from < a->to;
}

int32_t fit_peel(struct fit_loose *at, int32_t count)
{
    struct fit_loose *sorted = mem_alloc(((size_t)count + 1) * sizeof *sorted);
    int32_t *order = mem_alloc(((size_t)count + 1) * sizeof *order), left = 0, end = count;
    qsort(at, (size_t)count, sizeof *at, by_height);
    for (int32_t i = 0; i < count; i++) {
        at[i].near = 0;
        at[i].load = 0;
        for (int32_t k = 0; k < count; k++)
            if (k != i && fit_peel_meet(&at[i], &at[k])) {
                at[i].near++;
                at[i].load += at[k].height;
            }
    }
    for (bool again = true; again;) {
        again = false;
        for (int32_t i = 0; i < count; i++) {
            /* Do the others, as far as they are not peeled, leave it a base whatever theirs are? */
            int128 forbidden = (int128)at[i].near * (at[i].height - 1) + at[i].load;
            if (!(!at[i].kept_out && !at[i].peeled && forbidden <= at[i].high)) continue;
            at[i].peeled = true;
            for (int32_t k = 0; k < count; k++)
                if (k != i && fit_peel_meet(&at[i], &at[k])) {
                    at[k].near--;
                    at[k].load -= at[i].height;
                }
            order[--end] = i;
            again = true;
        }
    }
    for (int32_t i = 0; i < count; i++)
        if (!at[i].peeled) sorted[left++] = at[i];
    for (int32_t k = end; k < count; k++) sorted[k] = at[order[k]];
    memcpy(at, sorted, (size_t)count * sizeof *at);
    mem_free(sorted);
    mem_free(order);
    return left;
}

struct span {
    fit_unit low, high;
};

ORDER(by_low, struct span, ORDER_UP(low));

void fit_place_peeled(const struct fit_scaled *s, int64_t *base)
{
    if (s->loose_kept == s->loose_count) return;
    struct span *spans = mem_alloc((size_t)s->loose_count * sizeof *spans);
    for (int32_t k = s->loose_kept; k < s->loose_count; k++) {
        /* The lowest base that the first `placed` items leave to the next one. */
        int64_t unit = s->unit;
        int32_t n = 0;
        const struct fit_loose *own = &s->loose[k];
        for (int32_t i = 0; i < k; i++)
            if (fit_peel_meet(own, &s->loose[i])) {
                fit_unit low = base[s->loose[i].origin] / unit;
                spans[n++] = (struct span){low, low + s->loose[i].height};
            }
        qsort(spans, (size_t)n, sizeof *spans, by_low);
        fit_unit cursor = 0;
        for (int32_t i = 0; i < n && spans[i].low < cursor + own->height; i++)
            cursor = max_i64(cursor, spans[i].high);
        base[s->loose[k].origin] = cursor * s->unit;
    }
    mem_free(spans);
}
