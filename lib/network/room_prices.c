/* Raises prices along the overload, with steps towards a known cost (Polyak), halved when they fail. */
#include "network/room_prices.h"

/* Half a million such prices add up within 2^62. */
#define MOST_PRICE 0x1p42

void prices_make(struct prices *p, int32_t steps, int bits, int64_t capacity, struct arena *memory)
{
    size_t n = (size_t)steps + 1;
    *p = (struct prices){steps,
                         bits,
                         capacity,
                         arena_array(memory, n, sizeof *p->price),
                         arena_array(memory, n, sizeof *p->before),
                         arena_array(memory, n, sizeof *p->rest)};
}

void prices_sum(struct prices *p)
{
    for (int32_t o = 0; o < p->steps; o++) p->before[o + 1] = p->before[o] + p->price[o];
}

/* Takes one step along the overload; false: no price changed. */
static bool prices_raise(struct prices *p, const int64_t *load, double distance, double share)
{
    double norm = 0;
    bool any = false;
    for (int32_t o = 0; o < p->steps; o++) {
        double over = (double)(load[o] - p->capacity);
        if (over > 0 || p->price[o] > 0) norm += over * over;
    }
    if (norm <= 0 || distance <= 0) return false;
    double scale = share * distance / norm * (double)((int64_t)1 << p->bits);
    for (int32_t o = 0; o < p->steps; o++) {
        double over = (double)(load[o] - p->capacity);
        if (over <= 0 && p->price[o] == 0) continue;
        double price = (double)p->price[o] + scale * over;
        price = price < 0 ? 0 : price > MOST_PRICE ? MOST_PRICE : price;
        any |= (int64_t)price != p->price[o];
        p->price[o] = (int64_t)price;
    }
    return any;
}

int64_t prices_improve(struct prices *p, const struct priced *of, int64_t target, int rounds,
                       int64_t step_limit, int64_t *steps)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)p->steps + 1;
    int64_t *load = arena_array(&memory, n, sizeof *load), bound = of->bound(of->model, steps);
    int64_t *best = arena_copy_array(&memory, p->price, n, sizeof *best);
    double share = 1;
    int stale = 0;
    for (int r = 0; r < rounds && bound < target && *steps < step_limit && !cancel_requested(); r++) {
        of->loads(of->model, load, steps);
        if (!prices_raise(p, load, (double)(target - bound), share)) break;
        int64_t here = of->bound(of->model, steps);
        if (here > bound) {
            bound = here;
            memcpy(best, p->price, n * sizeof *best);
            stale = 0;
        } else if (++stale % 3 == 0)
            share /= 2;
    }
    if (stale > 0) {
        memcpy(p->price, best, n * sizeof *best);
        bound = of->bound(of->model, steps);
    }
    return bound;
}
