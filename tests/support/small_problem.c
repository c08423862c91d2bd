#include "support/small_problem.h"

void small_dense(struct small *s, struct rng *rng, int32_t count, enum lx_objective objective, int64_t ticks,
                 int64_t max_size, int64_t capacity)
{
    memset(s, 0, sizeof *s);
    int64_t unit = rng_below(rng, 3) == 0 ? rng_between(rng, 2, 3) : 1;
    bool with_fixed = rng_below(rng, 3) == 0, with_barred = rng_below(rng, 3) == 0;
    bool with_alignment = rng_below(rng, 4) == 0;
    for (int32_t i = 0; i < count; i++) {
        struct lx_buffer *b = &s->buffer[i];
        snprintf(s->name[i], sizeof s->name[i], "b%d", (int)i);
        b->name = s->name[i];
        b->size = rng_below(rng, 12) == 0 ? 0 : rng_between(rng, 1, max_size);
        b->start = rng_between(rng, 0, ticks - 1);
        b->end = rng_between(rng, b->start + 1, ticks);
        s->uses[i][0] = b->start;
        s->uses[i][1] = b->end - 1;
        b->uses = s->uses[i];
        b->use_count = b->end - b->start > 1 ? 2 : 1;
        b->first_use_is_read = rng_below(rng, 4) == 0;
        b->alignment = with_alignment && rng_below(rng, 3) == 0 ? 2 * unit : 0;
        int64_t step = b->alignment ? b->alignment : unit;
        b->fixed = with_fixed && rng_below(rng, 4) == 0 ? rng_between(rng, 0, capacity / step) * step : -1;
        b->spill_cost = rng_between(rng, 0, 3) * b->size + rng_between(rng, 0, 2);
        b->reason = with_barred && rng_below(rng, 5) == 0 ? "barred by the test" : NULL;
        b->parents = s->parents[i];
    }
    for (int32_t c = 0; c < count; c++)
        for (int32_t p = 0; p < count; p++) {
            struct lx_buffer *child = &s->buffer[c];
            const struct lx_buffer *parent = &s->buffer[p];
            if (c == p || child->first_use_is_read || parent->end != child->start + 1 ||
                child->size > parent->size || lx_read_count(parent) == 0 || rng_below(rng, 3) == 0)
                continue;
            s->parents[c][child->parent_count++] = p;
        }
    s->problem = (struct lx_problem){.objective = objective,
                                     .capacity = capacity,
                                     .alignment = unit,
                                     .count = count,
                                     .buffers = s->buffer};
}

bool small_chance(struct rng *r, uint64_t percent)
{
    return rng_below(r, 100) < percent;
}

void small_random(struct small *s, struct rng *r, int32_t n, enum lx_objective objective)
{
    static const int64_t alignments[] = {1, 1, 1, 2, 3, 4};
    memset(s, 0, sizeof *s);
    int64_t unit = alignments[rng_below(r, 6)], ticks = rng_between(r, 3, 8);
    uint64_t fixed = small_chance(r, 25) ? 30 : 0, barred = small_chance(r, 25) ? 20 : 0;
    uint64_t mixed = small_chance(r, 25) ? 40 : 0, odd = small_chance(r, 50) ? 50 : 0;
    uint64_t edges = small_chance(r, 60) ? 80 : 0, empty = small_chance(r, 20) ? 15 : 0;
    int64_t high = rng_between(r, 2, 6), costs = small_chance(r, 30) ? 3 : 20;
    s->problem =
        (struct lx_problem){.objective = objective,
                            .capacity = rng_between(r, 3, 9) * unit + (int64_t)rng_below(r, (uint64_t)unit),
                            .alignment = unit,
                            .count = n,
                            .buffers = s->buffer};
    for (int32_t i = 0; i < n; i++) {
        struct lx_buffer *b = &s->buffer[i];
        b->name = "b";
        b->start = rng_between(r, 0, ticks - 1);
        b->end = rng_between(r, b->start + 1, ticks);
        b->size = small_chance(r, empty) ? 0 : rng_between(r, 1, high) * unit;
        if (b->size > 0 && small_chance(r, odd)) b->size -= (int64_t)rng_below(r, (uint64_t)unit);
        b->alignment = small_chance(r, mixed) ? unit * rng_between(r, 1, 3) : 0;
        b->fixed = small_chance(r, fixed) ? rng_between(r, 0, 2) * lx_alignment_of(&s->problem, b) : -1;
        b->spill_cost = small_chance(r, 8) ? 0 : rng_between(r, 1, costs);
        b->reason = small_chance(r, barred) ? "barred" : NULL;
        b->uses = s->uses[i];
        b->parents = s->parents[i];
    }
    /* Move starts so that handovers can happen, then declare them. */
    for (int32_t i = 1; edges && i < n; i++)
        if (small_chance(r, 60)) {
            int32_t k = (int32_t)rng_below(r, (uint64_t)i);
            int64_t life = s->buffer[i].end - s->buffer[i].start;
            s->buffer[i].start = s->buffer[k].end - 1;
            s->buffer[i].end = s->buffer[i].start + life;
        }
    for (int32_t i = 0; i < n; i++) {
        struct lx_buffer *b = &s->buffer[i];
        s->uses[i][0] = b->start;
        s->uses[i][1] = b->end - 1;
        b->use_count = b->end - 1 > b->start ? 2 : 1;
        b->first_use_is_read = b->use_count == 1 && small_chance(r, 50);
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++) {
            struct lx_buffer *b = &s->buffer[i];
            const struct lx_buffer *q = &s->buffer[k];
            if (k == i || b->first_use_is_read || q->end != b->start + 1 || b->size > q->size ||
                lx_read_count(q) == 0 || !small_chance(r, edges))
                continue;
            s->parents[i][b->parent_count++] = k;
        }
}

static bool brute_is_edge(const struct lx_problem *p, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < p->buffers[a].parent_count; k++)
        if (p->buffers[a].parents[k] == b) return true;
    for (int32_t k = 0; k < p->buffers[b].parent_count; k++)
        if (p->buffers[b].parents[k] == a) return true;
    return false;
}

bool brute_clash(const struct brute *t, int32_t a, int32_t b)
{
    const struct lx_buffer *x = &t->p->buffers[a], *y = &t->p->buffers[b];
    int64_t at = t->address[a], other = t->address[b];
    if (at < 0 || other < 0 || x->start >= y->end || y->start >= x->end) return false;
    if (at >= other + y->size || other >= at + x->size || x->size == 0 || y->size == 0) return false;
    return at != other || !brute_is_edge(t->p, a, b);
}

static void brute_place(struct brute *t, int32_t i, int64_t worth)
{
    if (worth >= t->best) return;
    if (i == t->p->count) {
        t->best = worth;
        return;
    }
    const struct lx_buffer *b = &t->p->buffers[i];
    int64_t step = lx_alignment_of(t->p, b);
    for (int64_t at = 0; !b->reason && at + b->size <= t->limit; at += step) {
        if (b->fixed >= 0 && at != b->fixed) continue;
        t->address[i] = at;
        bool clash = false;
        for (int32_t k = 0; k < i && !clash; k++) clash = brute_clash(t, i, k);
        int64_t then = worth;
        if (t->p->objective == LX_HEIGHT) then = at + b->size > worth ? at + b->size : worth;
        if (!clash) brute_place(t, i + 1, then);
    }
    t->address[i] = LX_OFF_CHIP;
    if (t->p->objective == LX_SPILL || b->reason)
        brute_place(t, i + 1, worth + (t->p->objective == LX_SPILL ? b->spill_cost : 0));
}

int64_t brute_force(const struct lx_problem *p, int64_t limit)
{
    struct brute t = {.p = p, .best = INT64_MAX, .limit = limit};
    brute_place(&t, 0, 0);
    return t.best;
}

int64_t small_optimum(const struct lx_problem *p)
{
    struct lx_buffer counted[SMALL_MAX];
    struct lx_problem q = *p;
    int64_t limit = p->capacity;
    if (p->objective == LX_HEIGHT)
        for (int32_t i = 0; i < p->count; i++) {
            const struct lx_buffer *b = &p->buffers[i];
            if (!b->reason) limit += (b->fixed > 0 ? b->fixed : 0) + b->size + lx_alignment_of(p, b);
        }
    if (p->objective == LX_FIT) {
        for (int32_t i = 0; i < p->count; i++) {
            counted[i] = p->buffers[i];
            counted[i].spill_cost = !counted[i].reason;
        }
        q.buffers = counted;
        q.objective = LX_SPILL;
    }
    return brute_force(&q, limit);
}
