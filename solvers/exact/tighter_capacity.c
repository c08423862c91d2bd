/* Plans from the relaxation at a slightly smaller capacity.
 *
 * The best choice without addresses fills the fullest sections to the last byte and so is hard to pack.
 * Chosen for a capacity that is a little smaller, and packed into the true one, it has room to spare. So
 * branch and pack is run with a reserve: sections must stay below the capacity by that much, packing may
 * use all of it. The reserve is halved as long as some choice packs and doubled when none of a few does,
 * until the relaxation alone shows that no better plan can come. Plans are filled up with what still
 * finds a place. */
#include "exact/tighter_capacity.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

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
    /* What is too large for the smaller capacity is in the base. */
    int64_t aim = min_i64(*s->best, model_none(m));
    enum outcome outcome = NONE_BETTER;
    if (aim > m->base && !m->hopeless) {
        struct search search;
        s->tuning.reserve = reserve;
        for (int32_t i = 0; i < m->item_count; i++) s->chosen[i] = LX_OFF_CHIP;
        search_open(&search, m, s->budget, &s->tuning, s->chosen, aim, 0);
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
    size_t n = (size_t)m->item_count + 1;
    struct slack s = {.m = m,
                      .budget = budget,
                      .tuning = *tuning,
                      .stats = stats,
                      .address = address,
                      .best = best,
                      .steps = steps / TRIES + 1};
    s.tuning.fit_nodes = min_i64(tuning->fit_nodes, 8 * (int64_t)m->item_count + 1000);
    s.trial = mem_zeroed(n, sizeof *s.trial);
    s.chosen = mem_zeroed(n, sizeof *s.chosen);
    s.members = mem_zeroed(n, sizeof *s.members);
    s.item = mem_zeroed((size_t)m->p->count + 1, sizeof *s.item);
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
    packer_free(&s.packer);
    mem_free(s.trial);
    mem_free(s.chosen);
    mem_free(s.members);
    mem_free(s.item);
}
