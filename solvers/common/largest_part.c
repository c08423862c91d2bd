/* Parts by union-find: along each pool's stretches of lives without a gap, and along bonds. */
#include "common/placing_all.h"
#include "base/arena.h"
#include "base/order.h"
#include "base/union_find.h"

#include <stdlib.h>

struct life_of {
    struct lx_life life;
    int32_t buffer;
};

ORDER(largest_part_compare_lives, struct life_of, ORDER_UP(life.start) ORDER_UP(buffer));

static void largest_part_join_group(int32_t *up, const struct lx_group *g, int32_t *last)
{
    for (int32_t k = 0; k < g->count; k++) {
        if (*last >= 0) sets_join(up, *last, g->at[k]);
        *last = g->at[k];
    }
}

static void join_bonds(int32_t *up, const struct lx_bonds *b)
{
    int32_t last;
    for (int32_t k = 0; k < b->apart_count; k++) sets_join(up, b->apart[k].a, b->apart[k].b);
    for (int32_t k = 0; k < b->staging_count; k++) sets_join(up, b->staging[k].a, b->staging[k].b);
    for (int32_t k = 0; k < b->reuse_count; k++) sets_join(up, b->reuse[k].a, b->reuse[k].b);
    for (int32_t k = 0; k < b->same_place_count; k++)
        last = -1, largest_part_join_group(up, &b->same_place[k], &last);
    for (int32_t k = 0; k < b->together_count; k++)
        last = -1, largest_part_join_group(up, &b->together[k], &last);
    for (int32_t k = 0; k < b->charge_count; k++) {
        const struct lx_charge *c = &b->charges[k];
        last = -1;
        largest_part_join_group(up, &c->all_on, &last);
        largest_part_join_group(up, &c->all_off, &last);
        largest_part_join_group(up, &c->any_on, &last);
        largest_part_join_group(up, &c->any_off, &last);
    }
}

static int32_t count_largest(int32_t *up, int32_t *size, int32_t n)
{
    int32_t most = 0;
    for (int32_t i = 0; i < n; i++) size[i] = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t now = ++size[sets_root(up, i)];
        if (now > most) most = now;
    }
    return most;
}

static size_t list_lives(const struct lx_problem *p, struct life_of *out)
{
    size_t n = 0;
    for (int32_t i = 0; i < p->count; i++)
        for (int32_t k = 0; k < lx_life_count(&p->buffers[i]); k++, n++)
            if (out) out[n] = (struct life_of){lx_life_at(&p->buffers[i], k), i};
    return n;
}

int32_t largest_part(const struct lx_problem *p)
{
    struct arena memory = {0};
    size_t n = (size_t)p->count + 1;
    int32_t *up = arena_array(&memory, n, sizeof *up), *size = arena_array(&memory, n, sizeof *size),
            most = p->count;
    struct life_of *lives = arena_array(&memory, list_lives(p, NULL) + 1, sizeof *lives);
    size_t count = list_lives(p, lives);
    qsort(lives, count, sizeof *lives, largest_part_compare_lives);
    sets_begin(up, p->count);
    join_bonds(up, &p->bonds);
    for (int32_t pool = 0; pool < lx_pool_count(p); pool++) {
        /* Nobody who may be in the pool lives across the gaps between its stretches. */
        int32_t last = -1;
        int64_t until = INT64_MIN;
        for (size_t k = 0; k < count; k++) {
            const struct lx_buffer *b = &p->buffers[lives[k].buffer];
            if (!lx_may_be_placed(p, b) || !lx_allows_pool(b, pool)) continue;
            if (last >= 0 && lives[k].life.start < until) sets_join(up, last, lives[k].buffer);
            if (lives[k].life.end > until) until = lives[k].life.end;
            last = lives[k].buffer;
        }
    }
    most = count_largest(up, size, p->count);
    arena_free(&memory);
    return most;
}
