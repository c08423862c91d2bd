/* The data model of placement problems: words, and the rules that solvers rely on. */
#include "placement/judge.h"
#include "base/base.h"
#include "base/words/words.h"
#include "placement/problem.h"

LX_WORDS(lx_verdict_word, enum lx_verdict, LX_VERDICTS)

double lx_gap(int64_t objective, int64_t bound)
{
    if (objective <= bound || objective <= 0) return 0;
    return bound > 0 ? (double)(objective - bound) / (double)bound : INFINITY;
}

bool buffer_error(const struct lx_buffer *b, lx_status *st, enum lx_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status_vset_at(st, code, NULL, b->line, b->column, format, args);
    va_end(args);
    return false;
}

static bool valid_buffer(const struct lx_problem *p, const struct lx_buffer *b, lx_status *st)
{
    if (b->size < 0 || b->size > LX_INT_MAX || b->spill_cost < 0)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: a negative or impossible size or cost", b->name);
    for (int32_t i = 1; i < b->use_count; i++)
        if (b->uses[i] <= b->uses[i - 1])
            return buffer_error(b, st, LX_E_MODEL,
                                "buffer %s: its uses must be strictly increasing, but %lld follows %lld",
                                b->name, (long long)b->uses[i], (long long)b->uses[i - 1]);
    if (b->end > LX_INT_MAX)
        return buffer_error(b, st, LX_E_MODEL,
                            "buffer %s: live: its life ends at %lld, beyond 2^53; number the ticks lower",
                            b->name, (long long)b->end);
    if (b->start < 0 || b->start >= b->end)
        return buffer_error(b, st, LX_E_MODEL, "buffer %s: live: its life [%lld, %lld) %s", b->name,
                            (long long)b->start, (long long)b->end,
                            b->start < 0 ? "begins before tick 0; number the ticks from 0"
                                         : "is empty; the end must be above the start");
    if (b->alignment < 0 || b->alignment > LX_INT_MAX || b->alignment % p->alignment != 0)
        return buffer_error(b, st, LX_E_MODEL,
                            "buffer %s: its alignment %lld is not a multiple of the problem's %lld", b->name,
                            (long long)b->alignment, (long long)p->alignment);
    if (b->fixed < -1 || b->fixed > LX_INT_MAX || (b->fixed >= 0 && b->fixed % lx_alignment_of(p, b) != 0))
        return buffer_error(
            b, st, LX_E_MODEL, "buffer %s: its %s %lld is not a multiple of the alignment %lld", b->name,
            p->pool_count ? "pin" : "fixed address", (long long)b->fixed, (long long)lx_alignment_of(p, b));
    if (!valid_in_pools(p, b, st)) return false;
    if (b->use_count > 0 && b->start != b->uses[0])
        return buffer_error(b, st, LX_E_MODEL,
                            "buffer %s: uses: it starts at %lld but is first used at %lld; they must agree",
                            b->name, (long long)b->start, (long long)b->uses[0]);
    int64_t last = b->use_count > 0 ? b->uses[b->use_count - 1] : b->start;
    if (b->end < last + 1)
        return buffer_error(
            b, st, LX_E_MODEL,
            "buffer %s: uses: it ends at %lld, before its last use at %lld is over; the end must be at least "
            "%lld",
            b->name, (long long)b->end, (long long)last, (long long)last + 1);
    return true;
}

/* A parent ends on the tick on which its child begins, so lives increase along edges: no cycles. */
static bool valid_edge(const struct lx_problem *p, const struct lx_buffer *child, int32_t index,
                       lx_status *st)
{
    if (index < 0 || index >= p->count || &p->buffers[index] == child)
        return buffer_error(child, st, LX_E_MODEL,
                            "buffer %s: an in-place parent must be another buffer; remove the edge",
                            child->name);
    const struct lx_buffer *parent = &p->buffers[index];
    if (child->first_use_is_read)
        return buffer_error(
            child, st, LX_E_MODEL,
            "buffer %s: it is read first, so no op writes it in place of its parent %s; remove the edge",
            child->name, parent->name);
    if (parent->end != child->start + 1)
        return buffer_error(child, st, LX_E_MODEL,
                            "buffer %s cannot take the place of %s: the parent's end (%lld) must equal the "
                            "child's start + 1 (%lld)",
                            child->name, parent->name, (long long)parent->end, (long long)child->start + 1);
    if (child->size > parent->size)
        return buffer_error(
            child, st, LX_E_MODEL,
            "buffer %s cannot take the place of its parent %s: it is larger (%lld > %lld bytes)", child->name,
            parent->name, (long long)child->size, (long long)parent->size);
    if (lx_read_count(parent) == 0)
        return buffer_error(child, st, LX_E_MODEL,
                            "buffer %s cannot take the place of %s: the parent is never read", child->name,
                            parent->name);
    return true;
}

bool lx_problem_validate(const struct lx_problem *p, lx_status *st)
{
    if (p->alignment < 1 || p->alignment > LX_INT_MAX || p->capacity < 0 || p->capacity > LX_INT_MAX ||
        p->count < 0)
        return status_set(st, LX_E_MODEL,
                          "the capacity (%lld) must be at least 0 and the alignment (%lld) at least 1",
                          (long long)p->capacity, (long long)p->alignment);
    if (!valid_pools(p, st)) return false;
    int64_t bytes = 0, cost = 0;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (!valid_buffer(p, b, st)) return false;
        for (int32_t k = 0; k < b->parent_count; k++)
            if (!valid_edge(p, b, b->parents[k], st)) return false;
        int64_t dearest = 0;
        for (int32_t k = 0; b->on_costs && k < b->pool_count; k++) dearest = max_i64(dearest, b->on_costs[k]);
        /* Plan files carry integers up to 2^53; and adding a few more sizes cannot overflow in a solver. */
        if (!add_i64(bytes, round_up_i64(b->size, lx_alignment_of(p, b)), &bytes) ||
            !add_i64(cost, b->spill_cost, &cost) || !add_i64(cost, dearest, &cost) || bytes > LX_INT_MAX ||
            cost > LX_INT_MAX)
            return buffer_error(b, st, LX_E_RANGE,
                                "buffer %s: the sizes or costs up to here add up beyond 2^53", b->name);
    }
    return valid_bonds(p, cost, st);
}

int32_t *blocks_of(const struct lx_problem *p)
{
    int32_t *block = mem_alloc(((size_t)p->count + 1) * sizeof *block);
    sets_begin(block, p->count);
    for (int32_t g = 0; g < p->bonds.same_place_count; g++) {
        const struct lx_group *group = &p->bonds.same_place[g];
        for (int32_t k = 1; k < group->count; k++) sets_join(block, group->at[0], group->at[k]);
    }
    for (int32_t i = 0; i < p->count; i++) block[i] = sets_root(block, i);
    return block;
}

void block_chains(const int32_t *block, int32_t count, int32_t *next)
{
    for (int32_t i = 0; i < count; i++) next[i] = -1;
    for (int32_t i = count; i-- > 0;)
        if (block[i] != i) {
            next[i] = next[block[i]];
            next[block[i]] = i;
        }
}

bool blocks_alive_together(const struct lx_problem *p, const int32_t *next, const struct exclusive_pairs *e,
                           int32_t a, int32_t b)
{
    for (int32_t x = a; x >= 0; x = next[x])
        for (int32_t y = b; y >= 0; y = next[y])
            if (lx_lives_meet(&p->buffers[x], &p->buffers[y]) && !exclusive_has(e, x, y)) return true;
    return false;
}

unsigned lx_problem_needs(const struct lx_problem *p)
{
    const struct lx_bonds *bonds = &p->bonds;
    unsigned needs = p->pool_count > 1 ? LX_CAN_POOLS : 0;
    for (int32_t i = 0; i < p->pool_count; i++)
        if (p->pools[i].reserved_count) needs |= LX_CAN_RESERVED;
    if (bonds->apart_count || bonds->exclusive_count) needs |= LX_CAN_PAIRS;
    if (bonds->staging_count) needs |= LX_CAN_STAGING;
    if (bonds->same_place_count) needs |= LX_CAN_SAME_PLACE;
    if (bonds->together_count) needs |= LX_CAN_TOGETHER;
    if (bonds->reuse_count) needs |= LX_CAN_REUSE;
    for (int32_t i = 0; i < bonds->linked_cost_count; i++)
        needs |= bonds->linked_costs[i].cost == LX_FORBIDDEN ? LX_CAN_MUST | LX_CAN_LINKED_COSTS
                                                             : LX_CAN_LINKED_COSTS;
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *b = &p->buffers[i];
        if (b->life_count) needs |= LX_CAN_LIVES;
        if (b->alone) needs |= LX_CAN_PAIRS;
        if (b->must) needs |= LX_CAN_MUST;
        for (int32_t k = 0; b->on_costs && k < b->pool_count; k++)
            if (b->on_costs[k]) needs |= LX_CAN_LINKED_COSTS;
    }
    return needs;
}

static const struct {
    unsigned bit;
    const char *words;
} features[] = {
    {LX_CAN_POOLS, "several pools"},
    {LX_CAN_LIVES, "several lives"},
    {LX_CAN_PAIRS, "pairs apart, exclusive or alone"},
    {LX_CAN_RESERVED, "reserved bytes"},
    {LX_CAN_TOGETHER, "groups that go together"},
    {LX_CAN_LINKED_COSTS, "linked costs, as graphs have them"},
    {LX_CAN_MUST, "musts and forbidden linked costs"},
    {LX_CAN_STAGING, "staging buffers"},
    {LX_CAN_REUSE, "reuse penalties"},
    {LX_CAN_SAME_PLACE, "groups of one place"},
};

const char *lx_needs_words(unsigned needs, char *out, size_t size)
{
    size_t n = 0;
    out[0] = 0;
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        if (needs & features[i].bit && n < size) {
            int wrote = snprintf(out + n, size - n, "%s%s", n ? ", " : "", features[i].words);
            n += wrote > 0 ? (size_t)wrote : 0;
        }
    return out;
}
