/* Prices of on-chip bytes per tick (Lagrange). Each tensor pays for its bytes and chooses its cheapest
 * states; the sum minus the price of the whole scratchpad is a lower bound. Prices move by Polyak steps
 * towards a known cost; the best prices stay. The bound is lowered by more than the rounding error of the
 * sums. */
#include "search/keep.h"

struct pricing {
    struct keep_model *m;
    double *best;  /* best prices so far */
    double *wants; /* bytes per tick */
    double *steps; /* differences of the bytes kept between uses, per tick */
};

double keep_from_then(const struct keep_model *m, int32_t k, enum keep_state after)
{
    const struct keep_use *u = &m->uses[k];
    const struct keep_tensor *t = &m->tensors[u->tensor];
    if (k + 1 == t->first + t->count) return 0;
    double kept = keep_on_chip(after) ? (m->sums[u[1].op] - m->sums[u->op + 1]) * (double)u->between : 0;
    return kept + m->ahead[KEEP_STATES * (k + 1) + (int)after];
}

static double best_outcome(const struct pricing *p, int32_t k, enum keep_state before,
                           struct keep_outcome *best)
{
    const struct keep_use *u = &p->m->uses[k];
    struct keep_outcome all[KEEP_OUTCOMES];
    double least = INFINITY;
    int count = keep_outcomes(p->m, u, before, (struct keep_later){u->may_keep, u->needed, u->goes_on}, all);
    for (int i = 0; i < count; i++) {
        bool takes_room = all[i].on && !(all[i].fresh && u->takes);
        double room = takes_room ? p->m->price[u->op] * (double)all[i].size : 0;
        double cost = (double)all[i].cost + room + keep_from_then(p->m, k, all[i].after);
        if (cost < least) least = cost, *best = all[i];
    }
    return least;
}

/* The bound under these prices; `*size` grows with the possible rounding error. */
static double keep_prices_value(const struct pricing *p, double *size)
{
    struct keep_model *m = p->m;
    struct keep_outcome any;
    for (int32_t o = 0; o < m->op_count; o++) m->sums[o + 1] = m->sums[o] + m->price[o];
    double sum = -p->m->sums[m->op_count] * (double)m->capacity;
    *size = -sum;
    for (int32_t k = m->use_count - 1; k >= 0; k--) {
        for (int s = 0; s < KEEP_STATES; s++)
            m->ahead[KEEP_STATES * k + s] = best_outcome(p, k, (enum keep_state)s, &any);
    }
    for (int32_t t = 0; t < m->tensor_count; t++) {
        if (m->tensors[t].count == 0) continue;
        double least = m->ahead[KEEP_STATES * m->tensors[t].first + KEEP_HBM];
        sum += least;
        *size += least;
    }
    return sum;
}

/* Sets `wants`: the bytes on chip at each tick under these prices. */
static void trace(const struct pricing *p)
{
    const struct keep_model *m = p->m;
    memset(p->wants, 0, ((size_t)m->op_count + 1) * sizeof *p->wants);
    memset(p->steps, 0, ((size_t)m->op_count + 1) * sizeof *p->steps);
    for (int32_t t = 0; t < m->tensor_count; t++) {
        enum keep_state s = KEEP_HBM;
        for (int32_t k = m->tensors[t].first; k < m->tensors[t].first + m->tensors[t].count; k++) {
            const struct keep_use *u = &m->uses[k];
            struct keep_outcome x = {0};
            best_outcome(p, k, s, &x);
            if (x.on && !(x.fresh && u->takes)) p->wants[u->op] += (double)x.size;
            if (keep_on_chip(x.after) && k + 1 < m->tensors[t].first + m->tensors[t].count) {
                p->steps[u->op + 1] += (double)u->between;
                p->steps[u[1].op] -= (double)u->between;
            }
            s = x.after;
        }
    }
    double kept = 0;
    for (int32_t o = 0; o < m->op_count; o++) p->wants[o] += kept += p->steps[o];
}

int64_t keep_price(struct keep_model *m, int64_t best)
{
    enum { ROUNDS = 60 };
    size_t n = (size_t)m->op_count + 1;
    SCOPED(arena_free) struct arena memory = {0};
    struct pricing p = {.m = m,
                        .best = arena_array(&memory, n, sizeof *p.best),
                        .wants = arena_array(&memory, n, sizeof *p.wants),
                        .steps = arena_array(&memory, n, sizeof *p.steps)};
    double most = -INFINITY, length = 1, size;
    int since = 0;
    int64_t bound = 0;
    for (int i = 0; i <= ROUNDS; i++) {
        double now = keep_prices_value(&p, &size), far = (double)best - now, square = 0;
        if (now > most) {
            double safe = now - 1e-9 * size - 1e-6;
            most = now, since = 0;
            memcpy(p.best, m->price, n * sizeof *p.best);
            if (safe > 0) bound = max_i64(bound, (int64_t)ceil(safe / (double)m->grain) * m->grain);
        } else if (++since >= 4)
            length /= 2, since = 0;
        if (bound >= best || cancel_requested()) break;
        trace(&p);
        for (int32_t o = 0; o < m->op_count; o++) {
            double over = p.wants[o] - (double)m->capacity;
            if (m->price[o] > 0 || over > 0) square += over * over;
        }
        if (square <= 0 || far <= 0) break;
        for (int32_t o = 0; o < m->op_count; o++)
            m->price[o] = fmax(0, m->price[o] + length * far / square * (p.wants[o] - (double)m->capacity));
    }
    memcpy(m->price, p.best, n * sizeof *p.best);
    keep_prices_value(&p, &size);
    return bound;
}
