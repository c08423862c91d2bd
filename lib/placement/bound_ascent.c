/* Prices of all sections moved at once, against what is left of their needs: the Lagrangian bound of long
 * lists. At given prices the items leave whose bytes cost more than they save; a section whose need they
 * do not cover becomes dearer, one that more leave than must cheaper. The steps shrink and follow the
 * trend of the last rounds. A round is linear in items and sections, however many items a section holds,
 * and some hundred of them end within a few thousandths of the best prices, where moving one price at a
 * time gets stuck. Found in floating point; what they prove is computed in integers by
 * bound_multiplier.c. */
#include "placement/bound.h"
#include "base/cancel.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 300, SHRINK = 10 };

struct ascent {
    const struct bound_sections *s;
    double *price, *sum, *leaving, *trend;
    double step;
};

/* The value of the prices; what leaves at them is added up per section. */
static double bound_ascent_value_of(struct ascent *a)
{
    const struct bound_sections *s = a->s;
    double value = 0;
    memset(a->leaving, 0, ((size_t)s->section_count + 1) * sizeof *a->leaving);
    for (int32_t t = 0; t < s->section_count; t++) {
        a->sum[t + 1] = a->sum[t] + a->price[t];
        value += a->price[t] * (double)s->sections[t].need;
    }
    for (int32_t i = 0; i < s->item_count; i++) {
        const struct bound_item *b = &s->items[i];
        if (b->first > b->last) continue;
        double units = (double)b->units;
        double profit = units * (a->sum[b->last + 1] - a->sum[b->first]) - (double)b->cost;
        if (profit <= 0) continue;
        value -= profit;
        a->leaving[b->first] += units;
        a->leaving[b->last + 1] -= units;
    }
    return value;
}

void bound_ascend(const struct bound_sections *s, double *price)
{
    size_t n = (size_t)s->section_count + 1;
    /* All costs spread over all bytes and sections: the measure of steps. */
    double cost = 0, area = 1;
    for (int32_t i = 0; i < s->item_count; i++) {
        const struct bound_item *b = &s->items[i];
        if (b->first > b->last) continue;
        cost += (double)b->cost;
        area += (double)b->units * (double)(b->last - b->first + 1);
    }
    struct ascent a = {.s = s, .step = 2 * (cost / area)};
    a.price = mem_zeroed(n, sizeof *a.price);
    a.sum = mem_zeroed(n, sizeof *a.sum);
    a.leaving = mem_zeroed(n, sizeof *a.leaving);
    a.trend = mem_zeroed(n, sizeof *a.trend);
    double best = -1;
    for (int round = 0; round < ROUNDS && !cancel_requested(); round++) {
        double value = bound_ascent_value_of(&a);
        if (value > best) memcpy(price, a.price, (n - 1) * sizeof *price);
        best = value > best ? value : best;
        double leaving = 0, capacity = (double)(a.s->capacity > 0 ? a.s->capacity : 1);
        double step = a.step * ROUNDS / (double)(ROUNDS + SHRINK * round);
        for (int32_t t = 0; t < a.s->section_count; t++) {
            leaving += a.leaving[t];
            a.trend[t] += (((double)a.s->sections[t].need - leaving) / capacity - a.trend[t]) / 5;
            a.price[t] += step * a.trend[t];
            if (a.price[t] < 0) a.price[t] = 0;
        }
    }
    mem_free(a.price);
    mem_free(a.sum);
    mem_free(a.leaving);
    mem_free(a.trend);
}
