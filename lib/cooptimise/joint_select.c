/* Which candidates of an op stay: of those that lead to the same state the cheapest, of the rest the best by
 * rank. What had no room is remembered by its least rank. */
#include "cooptimise/joint_beam.h"
#include "base/sort.h"
#include "base/stop.h"

#include <stdlib.h>
#include <string.h>

void beam_successor(const struct beam *b, int32_t o, const struct candidate *c, int32_t *x)
{
    const struct joint_factor *f = &b->m->factors[o];
    const int32_t *own = &f->state[(int64_t)c->choice * f->touch_count];
    memcpy(x, &b->now.x[(int64_t)c->from * b->m->slot_count], (size_t)b->m->slot_count * sizeof *x);
    for (int32_t t = 0; t < f->touch_count; t++) {
        int32_t slot = b->m->vars[f->touch[t].var].slot;
        if (t >= f->old_count)
            x[slot] = t - f->old_count < JOINT_MASK_TOUCHES && (c->on >> (t - f->old_count) & 1) ? own[t] : 0;
        else if (c->off >> t & 1)
            x[slot] = 0;
    }
    for (int32_t i = b->ending_at[o]; i < b->ending_at[o + 1]; i++) x[b->m->vars[b->ending[i]].slot] = 0;
}

static bool same_successor(const struct beam *b, int32_t o, const struct candidate *p,
                           const struct candidate *q)
{
    int32_t *scratch = b->scratch;
    beam_successor(b, o, p, scratch);
    beam_successor(b, o, q, scratch + b->m->slot_count);
    return memcmp(scratch, scratch + b->m->slot_count, (size_t)b->m->slot_count * sizeof *scratch) == 0;
}

/* By rank, then by order of finding, which is the same in every run. */
static bool joint_select_before(const struct candidate *a, const struct candidate *b)
{
    if (a->then.rank != b->then.rank) return a->then.rank < b->then.rank;
    if (a->then.cost != b->then.cost) return a->then.cost > b->then.cost; /* less of it is hope */
    if (a->from != b->from) return a->from < b->from;
    if (a->choice != b->choice) return a->choice < b->choice;
    return a->on < b->on;
}

static int joint_select_compare(const void *a, const void *b)
{
    return joint_select_before(a, b) ? -1 : joint_select_before(b, a) ? 1 : 0;
}

void beam_condense(struct beam *b, int32_t o)
{
    enum { EACH_FOUND = 50 };
    size_t mask = b->table_room - 1, kept = 0, width = (size_t)b->width;
    memset(b->table, 0, b->table_room * sizeof *b->table);
    stop_look((int64_t)b->table_room);
    for (size_t i = 0; i < b->found_count; i++) {
        size_t h = (size_t)b->found[i].then.hash & mask;
        stop_look(EACH_FOUND + 2 * (int64_t)b->m->slot_count);
        for (; b->table[h]; h = (h + 1) & mask) {
            struct candidate *other = &b->found[b->table[h] - 1];
            if (other->then.hash != b->found[i].then.hash || !same_successor(b, o, other, &b->found[i]))
                continue;
            if (joint_select_before(&b->found[i], other)) *other = b->found[i];
            break;
        }
        if (b->table[h]) continue;
        b->found[kept] = b->found[i];
        b->table[h] = (uint32_t)++kept;
    }
    b->found_count = kept;
    sort_in_full(b->found, kept, sizeof *b->found, joint_select_compare);
    if (kept <= width) return;
    b->dropped = min_i64(b->dropped, b->found[width].then.rank);
    b->limit = min_i64(b->limit, b->found[width].then.rank);
    b->out->exact = false;
    b->found_count = width;
}

void beam_offer(struct beam *b, int32_t o, const struct candidate *c)
{
    b->out->steps++;
    if (c->then.rank >= b->how->cut) return;
    if (c->then.rank >= b->limit) {
        b->dropped = min_i64(b->dropped, c->then.rank);
        b->out->exact = false;
        return;
    }
    if (b->found_count == b->found_room) beam_condense(b, o);
    b->found[b->found_count++] = *c;
}
