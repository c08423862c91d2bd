/* Small random problems with every feature of the data model, and their optimum by brute force. Shared by
 * the tests of the bounds and of the exact solver. */
#ifndef LX_TESTS_SMALL_PROBLEMS_H
#define LX_TESTS_SMALL_PROBLEMS_H

#include "scratchpad/problem.h"
#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_MAX = 10 };

struct small {
    struct lx_problem p;
    struct lx_buffer buffers[SMALL_MAX];
    int64_t uses[SMALL_MAX][2];
    int32_t parents[SMALL_MAX][SMALL_MAX];
};

static inline bool small_chance(struct rng *r, uint64_t percent)
{
    return rng_below(r, 100) < percent;
}

/* `n` buffers; the shape of the problem (alignment, fixed, barred, edges) varies with the random numbers. */
static inline void small_random(struct small *s, struct rng *r, int32_t n, enum lx_objective objective)
{
    static const int64_t alignments[] = {1, 1, 1, 2, 3, 4};
    memset(s, 0, sizeof *s);
    int64_t unit = alignments[rng_below(r, 6)], ticks = rng_between(r, 3, 8);
    uint64_t fixed = small_chance(r, 25) ? 30 : 0, barred = small_chance(r, 25) ? 20 : 0;
    uint64_t mixed = small_chance(r, 25) ? 40 : 0, odd = small_chance(r, 50) ? 50 : 0;
    uint64_t edges = small_chance(r, 60) ? 80 : 0, empty = small_chance(r, 20) ? 15 : 0;
    int64_t high = rng_between(r, 2, 6), costs = small_chance(r, 30) ? 3 : 20;
    s->p = (struct lx_problem){objective, rng_between(r, 3, 9) * unit + (int64_t)rng_below(r, (uint64_t)unit),
                               unit, n, s->buffers};
    for (int32_t i = 0; i < n; i++) {
        struct lx_buffer *b = &s->buffers[i];
        b->name = "b";
        b->start = rng_between(r, 0, ticks - 1);
        b->end = rng_between(r, b->start + 1, ticks);
        b->size = small_chance(r, empty) ? 0 : rng_between(r, 1, high) * unit;
        if (b->size > 0 && small_chance(r, odd)) b->size -= (int64_t)rng_below(r, (uint64_t)unit);
        b->alignment = small_chance(r, mixed) ? unit * rng_between(r, 1, 3) : 0;
        b->fixed = small_chance(r, fixed) ? rng_between(r, 0, 2) * lx_alignment_of(&s->p, b) : -1;
        b->spill_cost = small_chance(r, 8) ? 0 : rng_between(r, 1, costs);
        b->reason = small_chance(r, barred) ? "barred" : NULL;
        b->uses = s->uses[i];
        b->parents = s->parents[i];
    }
    /* Move starts so that handovers can happen, then declare them. */
    for (int32_t i = 1; edges && i < n; i++)
        if (small_chance(r, 60)) {
            int32_t k = (int32_t)rng_below(r, (uint64_t)i);
            int64_t life = s->buffers[i].end - s->buffers[i].start;
            s->buffers[i].start = s->buffers[k].end - 1;
            s->buffers[i].end = s->buffers[i].start + life;
        }
    for (int32_t i = 0; i < n; i++) {
        struct lx_buffer *b = &s->buffers[i];
        s->uses[i][0] = b->start;
        s->uses[i][1] = b->end - 1;
        b->use_count = b->end - 1 > b->start ? 2 : 1;
        b->first_use_is_read = b->use_count == 1 && small_chance(r, 50);
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++) {
            struct lx_buffer *b = &s->buffers[i];
            const struct lx_buffer *q = &s->buffers[k];
            if (k == i || b->first_use_is_read || q->end != b->start + 1 || b->size > q->size ||
                lx_read_count(q) == 0 || !small_chance(r, edges))
                continue;
            s->parents[i][b->parent_count++] = k;
        }
}

static inline bool small_is_parent(const struct lx_buffer *child, int32_t index)
{
    for (int32_t k = 0; k < child->parent_count; k++)
        if (child->parents[k] == index) return true;
    return false;
}

struct small_brute {
    const struct lx_problem *p;
    int64_t address[SMALL_MAX], top, best;
};

static inline bool small_legal(const struct small_brute *s, int32_t i, int64_t at)
{
    const struct lx_buffer *b = &s->p->buffers[i];
    for (int32_t k = 0; k < i; k++) {
        const struct lx_buffer *o = &s->p->buffers[k];
        int64_t other = s->address[k];
        if (other < 0 || o->size == 0 || b->size == 0 || o->start >= b->end || b->start >= o->end) continue;
        if (at >= other + o->size || other >= at + b->size) continue;
        if (other == at && (small_is_parent(b, k) || small_is_parent(o, i))) continue;
        return false;
    }
    return true;
}

static inline void small_search(struct small_brute *s, int32_t i, int64_t value)
{
    if (value >= s->best) return;
    if (i == s->p->count) {
        s->best = value;
        return;
    }
    const struct lx_buffer *b = &s->p->buffers[i];
    bool height = s->p->objective == LX_HEIGHT;
    if (!b->reason)
        for (int64_t at = 0; at + b->size <= s->top; at += lx_alignment_of(s->p, b)) {
            if ((b->fixed >= 0 && b->fixed != at) || !small_legal(s, i, at)) continue;
            s->address[i] = at;
            int64_t end = at + b->size;
            small_search(s, i + 1, height && end > value ? end : value);
        }
    s->address[i] = LX_OFF_CHIP;
    if (!height || b->reason) small_search(s, i + 1, height ? value : value + b->spill_cost);
}

/* The optimum: least spill, or least height (INT64_MAX when fixed addresses collide). For LX_FIT the
 * least number of buffers off chip among those that may be placed. */
static inline int64_t small_optimum(const struct lx_problem *p)
{
    struct lx_buffer counted[SMALL_MAX];
    struct lx_problem q = *p;
    struct small_brute s = {.p = &q, .top = p->capacity, .best = INT64_MAX};
    if (p->objective == LX_HEIGHT)
        for (int32_t i = 0; i < p->count; i++) {
            const struct lx_buffer *b = &p->buffers[i];
            if (!b->reason) s.top += (b->fixed > 0 ? b->fixed : 0) + b->size + lx_alignment_of(p, b);
        }
    if (p->objective == LX_FIT) {
        for (int32_t i = 0; i < p->count; i++) {
            counted[i] = p->buffers[i];
            counted[i].spill_cost = !counted[i].reason;
        }
        q.buffers = counted;
    }
    small_search(&s, 0, 0);
    return s.best;
}

#endif
