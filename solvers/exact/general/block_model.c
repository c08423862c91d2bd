/* From buffers to blocks and variables. O(n log n) but for reserved ranges, which every block looks at. */
#include "exact/general/block_model.h"

/* --- Relations of two blocks. Alive together: two members share a tick and are not exclusive; such blocks
 * share no byte, but in-place relatives may share their address. Apart and alone hold for any lives, also for
 * relatives. Other pairs may share bytes, perhaps at a price (soft pairs). --- */

ORDER(block_pairs_compare_pairs, struct lx_pair, ORDER_UP(a) ORDER_UP(b));

static struct lx_pair block_pairs_in_order(struct lx_pair p)
{
    return p.a < p.b ? p : (struct lx_pair){p.b, p.a};
}

static void relate(struct blocks *b, int32_t i, int32_t k, enum pair_kind kind)
{
    size_t n = (size_t)b->count;
    b->kind[(size_t)i * n + (size_t)k] = b->kind[(size_t)k * n + (size_t)i] = (unsigned char)kind;
}

ORDER(compare_softs, struct soft_pair, ORDER_UP(a) ORDER_UP(b));

/* Gathers the soft pairs that can be paid; pairs of the same two blocks add up. */
static void gather_softs(struct blocks *b)
{
    const struct lx_bonds *s = &b->p->bonds;
    b->softs = arena_array(&b->memory, (size_t)s->reuse_count + 1, sizeof *b->softs);
    int32_t n = 0;
    for (int32_t k = 0; b->p->objective == LX_SPILL && k < s->reuse_count; k++) {
        struct lx_pair pair =
            block_pairs_in_order((struct lx_pair){b->of[s->reuse[k].a], b->of[s->reuse[k].b]});
        if (pair.a == pair.b || s->reuse[k].cost == 0 || pair_of(b, pair.a, pair.b) != PAIR_FREE) continue;
        if (b->at[pair.a].size == 0 || b->at[pair.b].size == 0) continue;
        const struct block *x = &b->at[pair.a];
        bool meet = false;
        for (int32_t o = x->first_option; o < x->first_option + x->option_count && !meet; o++)
            meet = blocks_option(b, pair.b, b->options[o].pool) >= 0;
        if (!meet) continue;
        b->softs[n++] = (struct soft_pair){pair.a, pair.b, s->reuse[k].cost};
    }
    qsort(b->softs, (size_t)n, sizeof *b->softs, compare_softs);
    for (int32_t k = 0; k < n; k++)
        if (b->soft_count && compare_softs(&b->softs[b->soft_count - 1], &b->softs[k]) == 0)
            b->softs[b->soft_count - 1].cost += b->softs[k].cost;
        else
            b->softs[b->soft_count++] = b->softs[k];
}

/* Fills the matrix and the soft pairs. */
static void blocks_relate(struct blocks *b)
{
    const struct lx_problem *p = b->p;
    const struct lx_bonds *s = &p->bonds;
    size_t count = (size_t)s->exclusive_count;
    struct lx_pair *exclusive = mem_alloc((count + 1) * sizeof *exclusive);
    b->kind = arena_array(&b->memory, (size_t)b->count * (size_t)b->count + 1, sizeof *b->kind);
    for (size_t k = 0; k < count; k++) exclusive[k] = block_pairs_in_order(s->exclusive[k]);
    qsort(exclusive, count, sizeof *exclusive, block_pairs_compare_pairs);
    for (int32_t u = 0; u < p->count; u++)
        for (int32_t v = u + 1; v < p->count; v++) {
            struct lx_pair key = {u, v};
            if (b->of[u] == b->of[v] || !lx_lives_meet(&p->buffers[u], &p->buffers[v])) continue;
            if (count && bsearch(&key, exclusive, count, sizeof key, block_pairs_compare_pairs)) continue;
            relate(b, b->of[u], b->of[v], PAIR_HARD);
        }
    mem_free(exclusive);
    for (int32_t u = 0; u < p->count; u++)
        for (int32_t k = 0; k < p->buffers[u].parent_count; k++) {
            int32_t parent = b->of[p->buffers[u].parents[k]];
            if (pair_of(b, b->of[u], parent) == PAIR_HARD) relate(b, b->of[u], parent, PAIR_IN_PLACE);
        }
    for (int32_t k = 0; k < s->apart_count; k++)
        relate(b, b->of[s->apart[k].a], b->of[s->apart[k].b], PAIR_HARD);
    for (int32_t i = 0; i < b->count; i++)
        for (int32_t k = 0; b->at[i].alone && k < b->count; k++)
            if (k != i) relate(b, i, k, PAIR_HARD);
    for (int32_t i = 0; i < b->count; i++)
        for (int32_t k = 0; b->at[i].size == 0 && k < b->count; k++) relate(b, i, k, PAIR_FREE);
    gather_softs(b);
}

static void join_groups(int32_t *up, const struct lx_group *groups, int32_t count)
{
    for (int32_t g = 0; g < count; g++)
        for (int32_t k = 1; k < groups[g].count; k++) sets_join(up, groups[g].at[0], groups[g].at[k]);
}

/* Numbers the roots in order; `of[i]` becomes the number of i's root. */
static int32_t number_roots(int32_t *up, int32_t count, int32_t *of)
{
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++) of[i] = sets_root(up, i) == i ? n++ : of[sets_root(up, i)];
    return n;
}

ORDER(block_model_compare_lives, struct lx_life, ORDER_UP(start) ORDER_UP(end));

/* Gathers the lives of all members, sorted and joined. */
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

int32_t blocks_reserved(const struct blocks *b, int32_t block, int32_t pool, struct byte_range *out)
{
    const struct block *k = &b->at[block];
    const struct room *room = &b->rooms[pool];
    size_t n = 0;
    if (k->size == 0) return 0;
    for (int32_t r = 0; r < room->reserved_count; r++) {
        struct lx_life when = {room->reserved[r].start, room->reserved[r].end};
        if (lives_meet(b->lives + k->first_life, k->life_count, &when, 1))
            out[n++] = (struct byte_range){room->reserved[r].from, room->reserved[r].to};
    }
    return (int32_t)range_join(out, n, true);
}

/* --- Pools and what they cost. --- */

/* Finds the block's pools, in the spill order of its first member. */
static void find_options(struct blocks *b, int32_t block, int32_t *used, struct byte_range *spans)
{
    struct block *k = &b->at[block];
    const struct lx_buffer *first = &b->p->buffers[k->buffer];
    int32_t wanted = first->pools ? first->pool_count : b->pool_count;
    k->first_option = *used;
    for (int32_t o = 0; o < wanted; o++) {
        int32_t pool = first->pools ? first->pools[o] : o, n = blocks_reserved(b, block, pool, spans);
        int64_t from = max_i64(k->pin, 0), at = above_spans(from, k->size, k->align, spans, n), cost = 0;
        bool all = (k->pin < 0 || at == k->pin) && at <= b->rooms[pool].capacity - k->size;
        for (int32_t i = k->buffer; all && i < b->p->count; i++) {
            const struct lx_buffer *u = &b->p->buffers[i];
            if (b->of[i] != block) continue;
            all = (u->fixed < 0 || u->fixed_pool == pool) && lx_allows_pool(u, pool);
            if (all) cost += lx_on_cost(u, pool);
        }
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

/* `up` joins blocks already; `together` joins their variables. */
static void set_variables(struct blocks *b, int32_t *up)
{
    const struct lx_bonds *s = &b->p->bonds;
    int32_t *of = mem_alloc(((size_t)b->p->count + 1) * sizeof *of);
    join_groups(up, s->together, s->together_count);
    /* Blocks staged by the same buffer are placed together. */
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
    b->off_cost = arena_array(&b->memory, (size_t)b->variable_count + 1, sizeof *b->off_cost);
    b->fixed = arena_array(&b->memory, (size_t)b->variable_count + 1, sizeof *b->fixed);
    memset(b->fixed, -1, (size_t)b->variable_count);
    const struct lx_problem *p = b->p;
    for (int32_t i = 0; i < b->count; i++)
        if (!b->at[i].option_count) block_model_fix(b, i, false);
    for (int32_t i = 0; i < p->count; i++) {
        const struct lx_buffer *u = &p->buffers[i];
        bool staging = false;
        for (int32_t k = 0; k < s->staging_count && !staging; k++) staging = s->staging[k].a == i;
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
    OWNED struct byte_range *spans = mem_alloc(most * sizeof *spans);
    size_t n = 1;
    for (int32_t i = 0; i < b->p->count; i++)
        n += (size_t)(b->p->buffers[i].life_count ? b->p->buffers[i].life_count : 1);
    b->lives = arena_array(&b->memory, n, sizeof *b->lives);
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
    b->options = arena_array(&b->memory, n, sizeof *b->options);
    int32_t options = 0, lives = 0;
    for (int32_t i = 0; i < b->count; i++) gather_lives(b, i, &lives);
    for (int32_t i = 0; i < b->count; i++) find_options(b, i, &options, spans);
}

void blocks_open(struct blocks *b, const struct lx_problem *p)
{
    *b = (struct blocks){.p = p};
    size_t n = (size_t)p->count + 1;
    OWNED int32_t *up = mem_alloc(n * sizeof *up);
    b->of = arena_array(&b->memory, n, sizeof *b->of);
    b->pool_count = p->pool_count ? p->pool_count : 1;
    b->rooms = arena_array(&b->memory, (size_t)b->pool_count, sizeof *b->rooms);
    if (!p->pool_count) b->rooms[0].capacity = p->objective == LX_HEIGHT ? INT64_MAX / 4 : p->capacity;
    for (int32_t k = 0; k < p->pool_count; k++) {
        const struct lx_pool *pool = &p->pools[k];
        int64_t capacity = pool->capacity == LX_NO_LIMIT ? INT64_MAX / 4 : pool->capacity;
        b->rooms[k] = (struct room){capacity, 0, pool->reserved, pool->reserved_count};
        for (int32_t r = 0; r < pool->reserved_count; r++)
            b->rooms[k].reserved_end = max_i64(b->rooms[k].reserved_end, pool->reserved[r].to);
    }
    sets_begin(up, p->count);
    join_groups(up, p->bonds.same_place, p->bonds.same_place_count);
    b->count = number_roots(up, p->count, b->of);
    b->too_many = b->count > MOST_BLOCKS;
    if (!b->too_many) {
        b->at = arena_array(&b->memory, (size_t)b->count + 1, sizeof *b->at);
        fill_blocks(b);
        set_variables(b, up);
        blocks_relate(b);
    }
}
