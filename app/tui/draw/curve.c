/* Points of a curve; see curve.h. */
#include "tui/draw/curve.h"
#include "base/checked.h"

int64_t curve_best(const struct curve *c)
{
    return c->count ? c->at[c->count - 1].best : INT64_MAX;
}

int64_t curve_bound(const struct curve *c)
{
    return c->count ? c->at[c->count - 1].bound : 0;
}

void curve_add(struct curve *c, double seconds, int64_t best, int64_t bound)
{
    struct curve_point next = {seconds, min_i64(best, curve_best(c)), max_i64(bound, curve_bound(c))};
    if (c->count && next.best == curve_best(c) && next.bound == curve_bound(c)) return;
    if (c->count == CURVE_MOST) {
        /* Every second one goes, but not the last. */
        int kept = 0;
        for (int i = 0; i < c->count; i++)
            if (i % 2 == 0 || i == c->count - 1) c->at[kept++] = c->at[i];
        c->count = kept;
    }
    c->at[c->count++] = next;
}

void curve_reach(struct curve *c, double seconds)
{
    struct curve_point last = {seconds, curve_best(c), curve_bound(c)};
    if (!c->count) return;
    if (c->count == CURVE_MOST) c->count--;
    c->at[c->count++] = last;
}
