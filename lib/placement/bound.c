/* Lower bounds that every legal answer respects, whatever solver found it.
 *
 * Sizes are counted in units: the greatest common divisor of all alignments, times that of the sizes.
 * Buffers that can never be placed are paid in full. For the rest addresses are forgotten: on each tick
 * the live buffers that are kept must fit. Three bounds on that, each in a file of its own:
 *   bound_section.c    one tick alone: the cheapest bytes that must leave, parts or whole buffers; ticks
 *                      that share no buffer add up
 *   bound_multiplier.c all ticks at once, with a price per byte and tick
 * Height: on each tick everything live stands on top of each other.
 *
 * A child may sit on its dying parent on its first tick; it is left out of that tick, which can only
 * weaken the bound. O(n log n) and a little more on small problems: tens of microseconds for a captured
 * graph, 0.1 s for 100,000 buffers. Cancelled, it is the weaker bound that is proved by then. */
#include "placement/problem.h"
#include "placement/bound.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/memory.h"

#include <stdlib.h>

/* Placeable at all: a fixed address must leave room below the capacity. */
static bool has_a_place(const struct lx_problem *p, const struct lx_buffer *b)
{
    return lx_may_be_placed(p, b) &&
           (p->objective == LX_HEIGHT || b->fixed < 0 || b->fixed <= p->capacity - b->size);
}

static bool may_take_over(const struct lx_problem *p, const struct lx_buffer *child)
{
    for (int32_t k = 0; k < child->parent_count; k++) {
        const struct lx_buffer *parent = &p->buffers[child->parents[k]];
        if (has_a_place(p, parent) &&
            (parent->fixed < 0 || child->fixed < 0 || parent->fixed == child->fixed))
            return true;
    }
    return false;
}

/* The greatest unit of which every address is a multiple. */
static int64_t common_alignment(const struct lx_problem *p)
{
    int64_t unit = 0;
    for (int32_t i = 0; i < p->count; i++)
        if (p->buffers[i].size > 0 && has_a_place(p, &p->buffers[i]))
            unit = gcd_i64(lx_alignment_of(p, &p->buffers[i]), unit);
    return unit ? unit : 1;
}

/* Fills the items and returns the cost of what can never be placed. The bytes between the last multiple
 * of the unit and the capacity count only if some buffer's odd end fits into them. */
static int64_t bound_collect(const struct lx_problem *p, int64_t unit, struct bound_sections *s)
{
    int64_t paid = 0, tail = p->capacity % unit, sizes = 0;
    bool tail_usable = false;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!has_a_place(p, b)) {
            paid += b->spill_cost;
            continue;
        }
        int64_t odd = b->size % unit;
        tail_usable |= odd > 0 && odd <= tail;
        struct bound_item item = {
            b->start + may_take_over(p, b), b->end, ceil_div_i64(b->size, unit), b->spill_cost, 0, -1};
        if (item.start >= item.end || item.units == 0) continue;
        sizes = gcd_i64(sizes, item.units);
        s->cost_step = gcd_i64(s->cost_step, item.cost);
        s->items[s->item_count++] = item;
    }
    s->capacity = p->capacity / unit + tail_usable;
    if (sizes > 1) {
        for (int32_t i = 0; i < s->item_count; i++) s->items[i].units /= sizes;
        s->capacity /= sizes;
    }
    if (s->cost_step == 0) s->cost_step = 1;
    return paid;
}

static int64_t spill_bound(const struct lx_problem *p, struct bound_sections *s)
{
    int64_t paid = bound_collect(p, common_alignment(p), s), chain = 0, priced = 0;
    bound_find_sections(s);
    if (s->section_count > 0) {
        bound_whole_buffers(s);
        chain = bound_chain(s);
        priced = bound_multipliers(s);
    }
    int64_t bound = paid + max_i64(chain, priced);
    LOG(bound,
        "%" PRId64 ": %" PRId64 " for what has no place, and of %d sections alone %" PRId64
        ", all with prices %" PRId64,
        bound, paid, (int)s->section_count, chain, priced);
    return bound;
}

/* Everything live on a tick stands on top of each other; only the topmost may end between units. */
static int64_t height_bound(const struct lx_problem *p, struct bound_sections *s)
{
    int64_t unit = common_alignment(p), padding = 0, alone = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (b->reason) continue;
        alone = max_i64(alone, max_i64(b->fixed, 0) + b->size);
        struct bound_item item = {
            b->start + may_take_over(p, b), b->end, ceil_div_i64(b->size, unit), 0, 0, -1};
        padding = max_i64(padding, item.units * unit - b->size);
        if (item.start < item.end && item.units > 0) s->items[s->item_count++] = item;
    }
    s->cost_step = 1;
    bound_find_sections(s);
    for (int32_t t = 0; t < s->section_count; t++)
        alone = max_i64(alone, s->sections[t].need * unit - padding);
    return alone;
}

int64_t bound_plain(const struct lx_problem *p)
{
    struct bound_sections s = {0};
    s.items = mem_zeroed((size_t)p->count + 1, sizeof *s.items);
    s.sections = mem_zeroed((size_t)p->count + 1, sizeof *s.sections);
    int64_t bound = p->objective == LX_HEIGHT ? height_bound(p, &s) : spill_bound(p, &s);
    mem_free(s.items);
    mem_free(s.sections);
    return bound;
}

int64_t lx_bound(const struct lx_problem *p)
{
    return p->pool_count || lx_problem_needs(p) ? bound_parts(p) : bound_plain(p);
}
