/* Each same_place group as one buffer: as large as its largest member, at a multiple of all alignments,
 * alive whenever one of them is, in the pools that all allow, at the sum of their costs. Lives that touch
 * are joined, also of a buffer by itself. A block that fits nowhere has no place; whether that is allowed
 * is for rewrite_states.c. */
#include "placement/rewrite.h"
#include "placement/valid.h"
#include "base/checked.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

ORDER(rewrite_blocks_compare_lives, struct lx_life, ORDER_UP(start) ORDER_UP(end));

static void unite_lives(struct rewrite *w, struct lx_buffer *whole, int32_t block)
{
    size_t n = 0;
    for (int32_t m = block; m >= 0; m = w->next[m]) n += (size_t)lx_life_count(&w->p->buffers[m]);
    if (n == 1) return;
    struct lx_life *all = arena_array(&w->memory, n, sizeof *all);
    n = 0;
    for (int32_t m = block; m >= 0; m = w->next[m])
        for (int32_t k = 0; k < lx_life_count(&w->p->buffers[m]); k++)
            all[n++] = lx_life_at(&w->p->buffers[m], k);
    qsort(all, n, sizeof *all, rewrite_blocks_compare_lives);
    size_t kept = 0;
    for (size_t i = 1; i < n; i++) {
        if (all[i].start <= all[kept].end)
            all[kept].end = max_i64(all[kept].end, all[i].end);
        else
            all[++kept] = all[i];
    }
    whole->start = all[0].start;
    whole->end = all[kept].end;
    whole->lives = kept ? all : NULL;
    whole->life_count = kept ? (int32_t)kept + 1 : 0;
}

static bool all_allow(const struct rewrite *w, int32_t block, int32_t pool)
{
    for (int32_t m = block; m >= 0; m = w->next[m]) {
        const struct lx_buffer *b = &w->p->buffers[m];
        if (!lx_allows_pool(b, pool) || (b->fixed >= 0 && b->fixed_pool != pool)) return false;
    }
    return true;
}

static void make_block(struct rewrite *w, int32_t block)
{
    struct lx_buffer *whole = &w->whole[block];
    *whole = w->p->buffers[block];
    whole->alignment = 0;
    whole->spill_cost = 0;
    int64_t alignment = 1;
    for (int32_t m = block; m >= 0; m = w->next[m]) {
        const struct lx_buffer *b = &w->p->buffers[m];
        whole->size = max_i64(whole->size, b->size);
        whole->spill_cost += b->spill_cost;
        alignment = lcm_i64(alignment, lx_alignment_of(w->p, b));
        whole->must |= b->must;
        whole->alone |= b->alone;
        if (b->fixed >= 0) whole->fixed = b->fixed, whole->fixed_pool = b->fixed_pool;
        if (b->reason) whole->reason = b->reason;
    }
    if (alignment != w->p->alignment) whole->alignment = alignment;
    unite_lives(w, whole, block);
    /* The pools of a block in the order of its first member, with their costs. */
    const struct lx_buffer *first = &w->p->buffers[block];
    int32_t n = lx_choice_count(w->p, first), kept = 0;
    int32_t *pools = arena_array(&w->memory, (size_t)n, sizeof *pools);
    int64_t *costs = arena_array(&w->memory, (size_t)n, sizeof *costs), any = 0;
    for (int32_t k = 0; k < n; k++) {
        int32_t pool = lx_choice_at(first, k);
        if (!all_allow(w, block, pool)) continue;
        /* Is there room in the pool for a buffer, at its pin if it has one? */
        int64_t capacity = lx_pool_capacity(w->p, pool), at = max_i64(whole->fixed, 0);
        if (capacity != LX_NO_LIMIT && (whole->size > capacity || at > capacity - whole->size)) continue;
        for (int32_t m = block; m >= 0; m = w->next[m]) costs[kept] += lx_on_cost(&w->p->buffers[m], pool);
        any |= costs[kept];
        pools[kept++] = pool;
    }
    whole->pools = pools;
    whole->on_costs = any ? costs : NULL;
    whole->pool_count = kept;
    w->has_place[block] = !whole->reason && whole->pool_count > 0 &&
                          (whole->fixed < 0 || whole->fixed % alignment == 0) && alignment < INT64_MAX;
}

bool make_blocks(struct rewrite *w)
{
    size_t n = (size_t)w->p->count;
    w->block = blocks_of(w->p);
    w->next = arena_array(&w->memory, n, sizeof *w->next);
    w->state = arena_array(&w->memory, n, sizeof *w->state);
    w->whole = arena_array(&w->memory, n, sizeof *w->whole);
    w->has_place = arena_array(&w->memory, n, sizeof *w->has_place);
    for (size_t i = 0; i < n; i++) w->next[i] = -1;
    for (int32_t i = w->p->count; i-- > 0;)
        if (w->block[i] != i) {
            w->next[i] = w->next[w->block[i]];
            w->next[w->block[i]] = i;
        }
    for (int32_t i = 0; i < w->p->count; i++)
        if (w->block[i] == i) make_block(w, i);
    return true;
}

bool blocks_alive_together(const struct rewrite *w, int32_t a, int32_t b)
{
    for (int32_t x = a; x >= 0; x = w->next[x])
        for (int32_t y = b; y >= 0; y = w->next[y])
            if (lx_lives_meet(&w->p->buffers[x], &w->p->buffers[y]) && !exclusive_has(&w->exclusive, x, y))
                return true;
    return false;
}
