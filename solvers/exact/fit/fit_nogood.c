/* What has been refuted once need not be refuted again.
 *
 * When a placement is refuted, its conflict, with every postponement in it replaced by the reasons of that
 * postponement, is a set of placements "item at base" that no canonical answer contains together. Typical:
 * 10 to 40 placements out of 100 to 300 on the stack, so the same set comes back again and again while
 * unrelated items around it are permuted; and it stays true in later runs, for the facts it follows from
 * do not depend on the order of decisions.
 *
 * Each set is filed under one of its placements that does not hold at present (its watch). When an item is
 * placed, only the sets filed under that placement are looked at: each either finds another placement that
 * does not hold, and moves there, or is complete: a dead end. Undoing placements never disturbs a watch. */
#include "exact/fit/fit_search.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1 << 12, MOST_SETS = 1 << 14, LONGEST_SET = 96 };

static uint32_t fit_nogood_bucket_of(int32_t item, fit_unit base)
{
    uint64_t h = ((uint64_t)base * 0x9e3779b1u + (uint64_t)item) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 52) & (BUCKETS - 1);
}

static bool fit_nogood_holds(const struct fit_search *s, const struct fit_placement *p)
{
    return s->placed[p->item] && s->base[p->item] == p->base;
}

static void file_under(struct fit_search *s, int32_t set, const struct fit_placement *watch)
{
    int32_t *head = &s->bucket[fit_nogood_bucket_of(watch->item, watch->base)];
    s->sets.at[set].next = *head;
    *head = set;
}

/* The conflict below `level` without postponements, into `resolved`. */
static void fit_nogood_resolve(struct fit_search *s, int32_t level)
{
    memcpy(s->resolved, s->conflict, (size_t)s->conflict_words * sizeof *s->resolved);
    for (int32_t word = level >> 6; word >= 0; word--)
        for (uint64_t bits = s->resolved[word]; bits;) {
            int32_t bit = 63 - __builtin_clzll(bits);
            const struct fit_frame *frame = &s->frames[word * 64 + bit - 1];
            if (frame->waiting) {
                s->resolved[word] &= ~(UINT64_C(1) << bit);
                for (int32_t i = 0; i < frame->reasons; i++) {
                    int32_t reason = s->reasons.at[frame->reason + i];
                    s->resolved[reason >> 6] |= UINT64_C(1) << (reason & 63);
                }
            }
            bits = s->resolved[word] & ((UINT64_C(1) << bit) - 1);
        }
}

void fit_nogood_open(struct fit_search *s)
{
    s->bucket = mem_alloc(BUCKETS * sizeof *s->bucket);
    for (int32_t i = 0; i < BUCKETS; i++) s->bucket[i] = -1;
}

void fit_nogood_learn(struct fit_search *s, int32_t item, fit_unit base, int32_t level)
{
    fit_nogood_resolve(s, level);
    if (s->sets.count == MOST_SETS) {
        /* Forgets the older half. Every set has a placement that does not hold, else the search would not
         * be here. */
        int32_t half = (int32_t)s->sets.count / 2, from = s->sets.at[half].first;
        s->placements.count -= (size_t)from;
        memmove(s->placements.at, s->placements.at + from, s->placements.count * sizeof *s->placements.at);
        s->sets.count -= (size_t)half;
        memmove(s->sets.at, s->sets.at + half, s->sets.count * sizeof *s->sets.at);
        for (int32_t i = 0; i < BUCKETS; i++) s->bucket[i] = -1;
        for (int32_t i = 0; i < (int32_t)s->sets.count; i++) {
            s->sets.at[i].first -= from;
            const struct fit_placement *p = s->placements.at + s->sets.at[i].first;
            int32_t watch = 0;
            while (watch + 1 < s->sets.at[i].count && fit_nogood_holds(s, &p[watch])) watch++;
            file_under(s, i, &p[watch]);
        }
    }
    struct fit_placement mine = {item, base};
    struct fit_set set = {.first = (int32_t)s->placements.count};
    VEC_PUSH(&s->placements, mine);
    set.count = 1;
    for (int32_t word = level >> 6; word >= 0; word--)
        for (uint64_t bits = s->resolved[word]; bits; bits &= bits - 1) {
            int32_t other = s->frames[word * 64 + __builtin_ctzll(bits) - 1].item;
            if (s->part->fixed[other]) continue;
            VEC_PUSH(&s->placements, (struct fit_placement){other, s->base[other]});
            set.count++;
        }
    if (set.count > LONGEST_SET) {
        s->placements.count = (size_t)set.first; /* it is only an aid */
        return;
    }
    VEC_PUSH(&s->sets, set);
    file_under(s, (int32_t)s->sets.count - 1, &mine);
}

bool fit_nogood_allows(struct fit_search *s, int32_t item, fit_unit base)
{
    int32_t *link = &s->bucket[fit_nogood_bucket_of(item, base)];
    while (*link >= 0) {
        int32_t set = *link;
        const struct fit_placement *p = s->placements.at + s->sets.at[set].first;
        int32_t count = s->sets.at[set].count, other = -1;
        bool filed_here = false;
        for (int32_t i = 0; i < count && other < 0; i++) {
            if (p[i].item == item && p[i].base == base)
                filed_here = true;
            else if (!fit_nogood_holds(s, &p[i]))
                other = i;
        }
        if (other < 0 && filed_here) {
            fit_conflict_clear(s);
            for (int32_t i = 0; i < count; i++)
                if (p[i].item != item) fit_conflict_add(s, s->level[p[i].item]);
            return false;
        }
        /* A stranger in the same bucket stays if it may be filed under something that does not hold there. */
        if (other < 0 ||
            fit_nogood_bucket_of(p[other].item, p[other].base) == fit_nogood_bucket_of(item, base)) {
            link = &s->sets.at[set].next;
            continue;
        }
        *link = s->sets.at[set].next;
        file_under(s, set, &p[other]);
    }
    return true;
}
