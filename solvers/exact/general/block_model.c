/* From buffers to blocks and variables. O(n log n) but for reserved ranges, which every block looks at. */
#include "exact/general/block_model.h"
#include "base/checked.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/union_find.h"

#include <stdlib.h>
#include <string.h>

static void join_groups(int32_t *up, const struct lx_group *groups, int32_t count)
{
    for (int32_t g = 0; g < count; g++)
        for (int32_t k = 1; k < groups[g].count; k++) sets_join(up, groups[g].at[0], groups[g].at[k]);
}

/* Numbers the roots in order; `of[i]` is the number of i's root. */
static int32_t number_roots(int32_t *up, int32_t count, int32_t *of)
{
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++) of[i] = sets_root(up, i) == i ? n++ : of[sets_root(up, i)];
    return n;
}

ORDER(block_model_compare_lives, struct lx_life, ORDER_UP(start) ORDER_UP(end));

/* The lives of all members, in order and joined. */
static void gather_lives(struct blocks *b, int32_t block, int32_t *used)
{
    struct lx_life *out = b->lives + *used;
    int32_t n = 0, kept = 0;
    for (int32_t i = 0; i < b->p->count; i++) {
        const struct lx_buffer *u = &b->p->buffers[i];
        if (b->of[i] != block) continue;
        if (!u->life_count) out[n++] = (struct lx_life){u->start, u->end};
        for (int32_t k = 0; k < u->life_count; k++) out[n++] = u->lives[k];
    }
    qsort(out, (size_t)n, sizeof *out, block_model_compare_lives);
    for (int32_t k = 0; k < n; k++)
        if (kept && out[kept - 1].end >= out[k].start)
            out[kept - 1].end = max_i64(out[kept - 1].end, out[k].end);
        else
            out[kept++] = out[k];
    b->at[block].first_life = *used;
    b->at[block].life_count = kept;
    *used += kept;
}

bool lives_meet(const struct lx_life *a, int32_t an, const struct lx_life *b, int32_t bn)
{
    for (int32_t i = 0, k = 0; i < an && k < bn;) {
        if (a[i].start < b[k].end && b[k].start < a[i].end) return true;
        if (a[i].end < b[k].end)
            i++;
        else
            k++;
    }
    return false;
}

ORDER(block_model_compare_spans, struct span, ORDER_UP(from) ORDER_UP(to));

int32_t blocks_reserved(const struct blocks *b, int32_t block, int32_t pool, struct span *out)
{
    const struct block *k = &b->at[block];
    const struct room *room = &b->rooms[pool];
    int32_t n = 0, kept = 0;
    if (k->size == 0) return 0;
    for (int32_t r = 0; r < room->reserved_count; r++) {
        struct lx_life when = {room->reserved[r].start, room->reserved[r].end};
        if (lives_meet(b->lives + k->first_life, k->life_count, &when, 1))
            out[n++] = (struct span){room->reserved[r].from, room->reserved[r].to};
    }
    qsort(out, (size_t)n, sizeof *out, block_model_compare_spans);
    for (int32_t i = 0; i < n; i++)
        if (kept && out[kept - 1].to >= out[i].from)
            out[kept - 1].to = max_i64(out[kept - 1].to, out[i].to);
        else
            out[kept++] = out[i];
    return kept;
}

/* --- Pools and what they cost. --- */

static void set_rooms(struct blocks *b)
{
    const struct lx_problem *p = b->p;
    b->pool_count = p->pool_count ? p->pool_count : 1;
    b->rooms = mem_zeroed((size_t)b->pool_count, sizeof *b->rooms);
    if (!p->pool_count) b->rooms[0].capacity = p->objective == LX_HEIGHT ? INT64_MAX / 4 : p->capacity;
    for (int32_t k = 0; k < p->pool_count; k++) {
        const struct lx_pool *pool = &p->pools[k];
        struct room *room = &b->rooms[k];
        *room = (struct room){pool->capacity == LX_NO_LIMIT ? INT64_MAX / 4 : pool->capacity, 0,
                              pool->reserved, pool->reserved_count};
        for (int32_t r = 0; r < pool->reserved_count; r++)
            room->reserved_end = max_i64(room->reserved_end, pool->reserved[r].to);
    }
}

/* Does the buffer allow the pool, and at what cost? */
static bool allows(const struct lx_buffer *u, int32_t pool, int64_t *cost)
{
    if ((u->fixed >= 0 && u->fixed_pool != pool) || !lx_allows_pool(u, pool)) return false;
    *cost += lx_on_cost(u, pool);
    return true;
}

static bool block_model_has_room(const struct blocks *b, int32_t block, int32_t pool, struct span *spans)
{
    const struct block *k = &b->at[block];
    int32_t n = blocks_reserved(b, block, pool, spans);
    int64_t from = k->pin >= 0 ? k->pin : 0, at = above_spans(from, k->size, k->align, spans, n);
    return (k->pin < 0 || at == k->pin) && at <= b->rooms[pool].capacity - k->size;
}

/* In the spill order of the first member. */
static void find_options(struct blocks *b, int32_t block, int32_t *used, struct span *spans)
{
    struct block *k = &b->at[block];
    const struct lx_buffer *first = &b->p->buffers[k->buffer];
    int32_t wanted = first->pools ? first->pool_count : b->pool_count;
    k->first_option = *used;
    for (int32_t o = 0; o < wanted; o++) {
        int32_t pool = first->pools ? first->pools[o] : o;
        int64_t cost = 0;
        bool all = block_model_has_room(b, block, pool, spans);
        for (int32_t i = k->buffer; all && i < b->p->count; i++)
            if (b->of[i] == block) all = allows(&b->p->buffers[i], pool, &cost);
        if (all) b->options[(*used)++] = (struct option){pool, b->p->objective == LX_SPILL ? cost : 0};
    }
    k->option_count = *used - k->first_option;
}

/* --- Variables. --- */

static void block_model_fix(struct blocks *b, int32_t block, bool placed)
{
    const struct block *k = &b->at[block];
    signed char value = placed == k->on_if;
    if (b->fixed[k->variable] == !value) b->contradiction = true;
    b->fixed[k->variable] = value;
}

static bool is_staging(const struct lx_bonds *s, int32_t buffer)
{
    for (int32_t k = 0; k < s->staging_count; k++)
        if (s->staging[k].a == buffer) return true;
    return false;
}

/* `up` joins blocks already; `together` joins their variables. */
static void set_variables(struct blocks *b, int32_t *up)
{
    const struct lx_bonds *s = &b->p->bonds;
    int32_t *of = mem_alloc(((size_t)b->p->count + 1) * sizeof *of);
    join_groups(up, s->together, s->together_count);
    /* What one staging buffer stands in for is placed together. */
    for (int32_t k = 0; k < s->staging_count; k++)
        for (int32_t q = 0; q < k; q++)
            if (s->staging[q].a == s->staging[k].a) {
                struct lx_group both = {(int32_t[]){s->staging[q].b, s->staging[k].b}, 2};
                join_groups(up, &both, 1);
            }
    b->variable_count = number_roots(up, b->p->count, of);
    for (int32_t i = 0; i < b->count; i++) {
        b->at[i].variable = of[b->at[i].buffer];
        b->at[i].on_if = true;
    }
    for (int32_t k = 0; k < s->staging_count; k++) {
        struct block *staging = &b->at[b->of[s->staging[k].a]];
        staging->variable = of[s->staging[k].b];
        staging->on_if = false;
    }
    mem_free(of);
    b->off_cost = mem_zeroed((size_t)b->variable_count + 1, sizeof *b->off_cost);
    b->fixed = mem_alloc((size_t)b->variable_count + 1);
    memset(b->fixed, -1, (size_t)b->variable_count);
    const struct lx_problem *p = b->p;
    for (int32_t i = 0; i < b->count; i++)
        if (!b->at[i].option_count) block_model_fix(b, i, false);
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *u = &p->buffers[i];
        bool staging = is_staging(&p->bonds, i);
        if (u->reason) block_model_fix(b, b->of[i], false);
        if (!u->reason && !staging && (u->must || p->objective != LX_SPILL))
            block_model_fix(b, b->of[i], true);
        if (!staging && p->objective == LX_SPILL) b->off_cost[b->at[b->of[i]].variable] += u->spill_cost;
    }
}

/* --- Blocks. --- */

static void fill_blocks(struct blocks *b)
{
    size_t most = 1;
    for (int32_t k = 0; k < b->pool_count; k++) most += (size_t)b->rooms[k].reserved_count;
    struct span *spans = mem_alloc(most * sizeof *spans);
    size_t n = 1;
    for (int32_t i = 0; i < b->p->count; i++)
        n += (size_t)(b->p->buffers[i].life_count ? b->p->buffers[i].life_count : 1);
    b->lives = mem_alloc(n * sizeof *b->lives);
    for (int32_t i = b->p->count - 1; i >= 0; i--) {
        const struct lx_buffer *u = &b->p->buffers[i];
        struct block *k = &b->at[b->of[i]];
        if (k->align == 0) *k = (struct block){.pin = -1, .align = 1};
        k->buffer = i;
        k->size = max_i64(k->size, u->size);
        k->align = min_i64(lcm_i64(k->align, max_i64(lx_alignment_of(b->p, u), 1)), INT64_C(1) << 60);
        if (u->fixed >= 0) k->pin = u->fixed;
        k->alone |= u->alone;
    }
    for (int32_t i = 0; i < b->count; i++) {
        const struct lx_buffer *u = &b->p->buffers[b->at[i].buffer];
        n += (size_t)(u->pools ? u->pool_count : b->pool_count);
    }
    b->options = mem_alloc(n * sizeof *b->options);
    int32_t options = 0, lives = 0;
    for (int32_t i = 0; i < b->count; i++) gather_lives(b, i, &lives);
    for (int32_t i = 0; i < b->count; i++) find_options(b, i, &options, spans);
    mem_free(spans);
}

void blocks_open(struct blocks *b, const struct lx_problem *p)
{
    *b = (struct blocks){.p = p};
    size_t n = (size_t)p->count + 1;
    int32_t *up = mem_alloc(n * sizeof *up);
    b->of = mem_alloc(n * sizeof *b->of);
    set_rooms(b);
    sets_begin(up, p->count);
    join_groups(up, p->bonds.same_place, p->bonds.same_place_count);
    b->count = number_roots(up, p->count, b->of);
    b->too_many = b->count > MOST_BLOCKS;
    if (!b->too_many) {
        b->at = mem_zeroed((size_t)b->count + 1, sizeof *b->at);
        fill_blocks(b);
        set_variables(b, up);
        blocks_relate(b);
    }
    mem_free(up);
}

void blocks_close(struct blocks *b)
{
    mem_free(b->at);
    mem_free(b->of);
    mem_free(b->options);
    mem_free(b->lives);
    mem_free(b->rooms);
    mem_free(b->off_cost);
    mem_free(b->fixed);
    mem_free(b->kind);
    mem_free(b->softs);
}
