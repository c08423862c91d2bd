/* The problem of a lax draft. Where a relayout is made after the last use of its source and nothing is
 * decided about it, the source need not wait, but if it does not the copy is loaded. So its bytes after
 * its last use are buffers of their own, one up to each of the times at which copies are made: a copy is
 * loaded unless the source and all buffers up to its time are on chip, and what the source wrote is
 * stored then, too. They cost nothing themselves. Such a buffer may get another address than its source
 * has, which no plan can follow; so the cost is one that nothing goes below, and a plan's where the
 * addresses are the same. */
#include "stays/draft.h"
#include "base/fail.h"
#include "base/order.h"
#include "base/vec.h"

#include <stdlib.h>

struct builder {
    const struct draft *x;
    struct arena *memory;
    VEC(struct wait) waits;
    VEC(struct lx_buffer) buffers;
    VEC(struct lx_charge) charges;
};

ORDER(by_source, struct wait, ORDER_UP(source) ORDER_UP(tick) ORDER_UP(copy));

static void waits_find_waits(struct builder *b)
{
    const struct draft *x = b->x;
    for (int32_t i = 0; x->how.lax && i < x->problem.count; i++) {
        struct wait w = {.copy = i, .source = x->stays[i].ring_source, .tick = x->stays[i].first};
        if (w.source < 0 || x->buffers[w.source].end > w.tick) continue;
        VEC_PUSH(&b->waits, w);
    }
    if (b->waits.count) qsort(b->waits.at, b->waits.count, sizeof *b->waits.at, by_source);
}

/* The bytes of `of` from its end until after `tick`. It takes over their place if it is read at all. */
static void add_keeper(struct builder *b, int32_t of, int64_t tick)
{
    const struct lx_buffer *before = &b->buffers.at[of];
    bool takes_over = lx_read_count(before) > 0;
    struct lx_buffer k = {.name = before->name,
                          .size = before->size,
                          .start = takes_over ? before->end - 1 : before->end,
                          .end = tick + 1,
                          .fixed = -1,
                          .line = before->line,
                          .column = before->column};
    int64_t uses[] = {k.start, tick};
    k.use_count = k.start < tick ? 2 : 1;
    k.uses = arena_copy_array(b->memory, uses, (size_t)k.use_count, sizeof *uses);
    if (takes_over) {
        k.parents = arena_copy_array(b->memory, &of, 1, sizeof of);
        k.parent_count = 1;
    }
    VEC_PUSH(&b->buffers, k);
}

/* The group, and all keepers of a wait. */
static void with_keepers(struct builder *b, struct lx_group *g, const struct wait *w)
{
    int32_t more = w->last - w->first + 1;
    int32_t *all = arena_array(b->memory, (size_t)(g->count + more), sizeof *all);
    for (int32_t i = 0; i < g->count; i++) all[i] = g->at[i];
    for (int32_t i = 0; i < more; i++) all[g->count + i] = w->first + i;
    *g = (struct lx_group){all, g->count + more};
}

static bool waits_is_on(const struct lx_group *g, int32_t member)
{
    return g->count == 1 && g->at[0] == member;
}

/* The load of the copy without its source: without it or its keepers. */
static void widen_load(struct builder *b, const struct wait *w)
{
    for (size_t i = 0; i < b->charges.count; i++) {
        struct lx_charge *c = &b->charges.at[i];
        if (!waits_is_on(&c->all_on, w->copy) || !waits_is_on(&c->all_off, w->source)) continue;
        c->any_off = c->all_off;
        c->all_off = (struct lx_group){0};
        with_keepers(b, &c->any_off, w);
        return;
    }
}

void draft_waits(const struct draft *x, struct arena *memory, struct waiting *out)
{
    struct builder b = {.x = x, .memory = memory};
    waits_find_waits(&b);
    *out = (struct waiting){.problem = x->problem};
    if (b.waits.count) {
        for (int32_t i = 0; i < x->problem.count; i++) VEC_PUSH(&b.buffers, x->buffers[i]);
        for (size_t i = 0; i < b.waits.count; i++) {
            struct wait *w = &b.waits.at[i], *before = i > 0 ? w - 1 : NULL;
            bool same = before && before->source == w->source;
            w->first = same ? before->first : (int32_t)b.buffers.count;
            if (!same || before->tick != w->tick) add_keeper(&b, same ? before->last : w->source, w->tick);
            w->last = (int32_t)b.buffers.count - 1;
        }
        const struct lx_bonds *bonds = &b.x->problem.bonds;
        for (int32_t i = 0; i < bonds->charge_count; i++) VEC_PUSH(&b.charges, bonds->charges[i]);
        for (size_t i = 0; i < b.waits.count; i++) {
            bool is_last = i + 1 == b.waits.count || b.waits.at[i + 1].source != b.waits.at[i].source;
            widen_load(&b, &b.waits.at[i]);
            if (is_last) {
                /* The store of the source unless all copies are made of it: the keepers of the last of
                 * them stand for all. */
                for (size_t k = 0; k < b.charges.count; k++) {
                    struct lx_charge *c = &b.charges.at[k];
                    if (waits_is_on(&c->all_on, b.waits.at[i].source) && c->any_off.count)
                        with_keepers(&b, &c->any_off, &b.waits.at[i]);
                }
            }
        }
        out->count = (int32_t)b.waits.count;
        out->problem.count = (int32_t)b.buffers.count;
        out->problem.bonds.charge_count = (int32_t)b.charges.count;
        out->waits = arena_copy_array(memory, b.waits.at, b.waits.count, sizeof *b.waits.at);
        out->problem.buffers = arena_copy_array(memory, b.buffers.at, b.buffers.count, sizeof *b.buffers.at);
        out->problem.bonds.charges =
            arena_copy_array(memory, b.charges.at, b.charges.count, sizeof *b.charges.at);
    }
    VEC_FREE(&b.waits);
    VEC_FREE(&b.buffers);
    VEC_FREE(&b.charges);
}
