/* Plans that keep all small items in a strip of their own.
 *
 * In real graphs half of the buffers are a ten-thousandth of the memory or less: together they need little
 * room, but they make every packing hard, since they blur the few sizes that the large ones have. So first
 * fit stacks the small ones at the bottom, and branch and pack places the large ones above. The strip wastes
 * little: its height is at most 1 / STRIP_SHARE of the capacity. At the end spilled items fill the gaps. */
#include "exact/search.h"

enum { STRIP_SHARE = 1000, LEAST_SMALL = 20 };

struct strip {
    struct model *m;
    struct packer packer;
    bool *small, *merged;
    int64_t *address, *trial;
    int64_t height;
};

/* Stacks the items of at most size `most` by first fit; false: too many for a strip. */
static bool stack_small(struct strip *s, int64_t most)
{
    const struct model *m = s->m;
    for (int32_t i = 0; i < m->item_count; i++) s->small[i] = m->items[i].size <= most;
    int64_t height = place_only(&s->packer, s->small, s->merged, s->trial);
    if (height < 0 || height > m->p->capacity / STRIP_SHARE) return false;
    int64_t alignment = 1;
    for (int32_t i = 0; i < m->item_count; i++)
        alignment = max_i64(alignment, lx_alignment_of(m->p, model_buffer(m, i)));
    for (int32_t i = 0; i < m->item_count; i++)
        if (alignment % lx_alignment_of(m->p, model_buffer(m, i)) != 0) return false;
    s->height = round_up_i64(height, alignment);
    return true;
}

/* Runs branch and pack on the large items above the strip. */
static void solve_large(struct strip *s, struct budget *budget, const struct search_tuning *tuning,
                        int64_t steps, int64_t best, struct search_stats *stats)
{
    SCOPED(arena_free) struct arena memory = {0};
    const struct model *m = s->m;
    size_t n = (size_t)m->item_count + 1;
    struct lx_problem above = *m->p;
    above.capacity -= s->height;
    int32_t *members = arena_array(&memory, n, sizeof *members),
            *item = arena_array(&memory, (size_t)m->p->count + 1, sizeof *item), count = 0;
    int64_t *address = arena_array(&memory, n, sizeof *address);
    for (int32_t i = 0; i < m->item_count; i++) {
        item[m->items[i].buffer] = i;
        if (!s->small[i]) members[count++] = m->items[i].buffer;
    }
    struct model *large = model_new(&above, members, count);
    struct search search = {0};
    for (int32_t i = 0; i < large->item_count; i++) address[i] = LX_OFF_CHIP;
    int64_t aim = min_i64(best - m->base, large->total_cost);
    if (aim > large->base) {
        /* Many short questions: some near-optimal choice packs easily. */
        struct search_tuning brief = *tuning;
        brief.fit_nodes = min_i64(tuning->fit_nodes, 8 * (int64_t)count + 1000);
        slack_plans(large, budget, &brief, steps / 2, address, &aim, stats);
        search_open(&search, large, budget, &brief, address, aim);
        search_continue(&search, steps / 2, 8);
        search_close(&search, stats);
    }
    for (int32_t i = 0; i < large->item_count; i++)
        if (address[i] >= 0) s->trial[item[large->items[i].buffer]] = address[i] + s->height;
    model_free(large);
}

void strip_plans(struct model *m, struct budget *budget, const struct search_tuning *tuning, int64_t steps,
                 int64_t *address, int64_t *best, struct search_stats *stats)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)m->item_count + 1;
    struct strip s = {.m = m};
    s.small = arena_array(&memory, n, sizeof *s.small);
    s.merged = arena_array(&memory, (size_t)m->edge_count + 1, sizeof *s.merged);
    s.trial = arena_array(&memory, n, sizeof *s.trial);
    bool fixed = false;
    packer_new(&s.packer, m, budget);
    for (int32_t i = 0; i < m->item_count; i++) fixed |= model_buffer(m, i)->fixed >= 0;
    /* The largest size at which all items up to it still make a strip: sizes below index `low` do. */
    int32_t low;
    int64_t *sizes = arena_array(&memory, n, sizeof *sizes);
    for (int32_t i = 0; i < m->item_count; i++) sizes[i] = m->items[i].size;
    qsort(sizes, n - 1, sizeof *sizes, order_i64);
    BISECT(low, 0, fixed ? 0 : m->item_count, stack_small(&s, sizes[low]));
    int64_t most = low >= LEAST_SMALL && low < m->item_count ? sizes[low - 1] : 0;
    if (most > 0 && stack_small(&s, most)) {
        solve_large(&s, budget, tuning, steps, *best, stats);
        int64_t spill = fill_gaps(&s.packer, s.trial);
        if (spill < *best) {
            *best = spill;
            memcpy(address, s.trial, (n - 1) * sizeof *address);
        }
    }
    arena_free(&s.packer.memory);
}

/* Plans from the relaxation at a slightly smaller capacity.
 *
 * The best choice without addresses fills the fullest sections to the last byte and so is hard to pack.
 * Chosen for a capacity that is a little smaller, and packed into the true one, it has room to spare. So
 * branch and pack runs with a reserve: sections must stay that far below the capacity, packing may use all
 * bytes. The reserve is halved as long as some choice packs and doubled when none of a few does, until the
 * relaxation alone shows that no better plan can come. Spilled items that fit are added to the plans. */

enum { TRIES = 12, RIDDLES_A_TRY = 5, FIRST_RESERVE = 512 };

struct slack {
    const struct model *m;
    struct budget *budget;
    struct search_tuning tuning;
    struct search_stats *stats;
    struct packer packer;
    int32_t *members, *item; /* buffers of the model; per buffer: its item */
    int64_t *address, *trial, *chosen;
    int64_t *best, steps;
};

enum outcome { BETTER, NONE_PACKS, NONE_BETTER };

static enum outcome try_reserve(struct slack *s, int64_t reserve)
{
    struct lx_problem smaller = *s->m->p;
    smaller.capacity -= reserve;
    struct model *m = model_new(&smaller, s->members, s->m->item_count);
    /* Items too large for the smaller capacity are paid in the base. */
    int64_t aim = min_i64(*s->best, model_none(m));
    enum outcome outcome = NONE_BETTER;
    if (aim > m->base && !m->hopeless) {
        struct search search;
        s->tuning.reserve = reserve;
        for (int32_t i = 0; i < m->item_count; i++) s->chosen[i] = LX_OFF_CHIP;
        search_open(&search, m, s->budget, &s->tuning, s->chosen, aim);
        search_continue(&search, s->steps, RIDDLES_A_TRY);
        outcome = search.best < aim ? BETTER : search.stats.unresolved ? NONE_PACKS : NONE_BETTER;
        search_close(&search, s->stats);
    }
    for (int32_t i = 0; i < s->m->item_count; i++) s->trial[i] = LX_OFF_CHIP;
    for (int32_t i = 0; outcome == BETTER && i < m->item_count; i++)
        s->trial[s->item[m->items[i].buffer]] = s->chosen[i];
    model_free(m);
    if (outcome != BETTER) return outcome;
    int64_t spill = fill_gaps(&s->packer, s->trial);
    if (spill < *s->best) {
        *s->best = spill;
        memcpy(s->address, s->trial, (size_t)s->m->item_count * sizeof *s->trial);
    }
    return BETTER;
}

void slack_plans(const struct model *m, struct budget *budget, const struct search_tuning *tuning,
                 int64_t steps, int64_t *address, int64_t *best, struct search_stats *stats)
{
    SCOPED(arena_free) struct arena memory = {0};
    size_t n = (size_t)m->item_count + 1;
    struct slack s = {.m = m,
                      .budget = budget,
                      .tuning = *tuning,
                      .stats = stats,
                      .address = address,
                      .best = best,
                      .steps = steps / TRIES + 1};
    s.tuning.fit_nodes = min_i64(tuning->fit_nodes, 8 * (int64_t)m->item_count + 1000);
    s.trial = arena_array(&memory, n, sizeof *s.trial);
    s.chosen = arena_array(&memory, n, sizeof *s.chosen);
    s.members = arena_array(&memory, n, sizeof *s.members);
    s.item = arena_array(&memory, (size_t)m->p->count + 1, sizeof *s.item);
    packer_new(&s.packer, m, budget);
    for (int32_t i = 0; i < m->item_count; i++) {
        s.members[i] = m->items[i].buffer;
        s.item[s.members[i]] = i;
    }
    int64_t capacity = m->p->capacity, too_little = 0, enough = capacity,
            reserve = capacity / FIRST_RESERVE + 1;
    for (int tries = 0; tries < TRIES && reserve < capacity && !budget_spent(budget); tries++) {
        enum outcome outcome = try_reserve(&s, reserve);
        if (outcome == NONE_PACKS)
            too_little = reserve;
        else
            enough = reserve;
        int64_t next = enough == capacity ? 2 * reserve : too_little + (enough - too_little) / 2;
        if (next == reserve || enough - too_little < capacity / 16384) break;
        reserve = next;
    }
    arena_free(&s.packer.memory);
}
